"""Configuration files that programs read: their contents as trees, and what Hydra composes from them."""
