"""Loaders, their samplers and workers, and the epoch number."""
