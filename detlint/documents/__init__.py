"""Configuration files that programs read: their contents, as trees, and what Hydra composes of them."""
