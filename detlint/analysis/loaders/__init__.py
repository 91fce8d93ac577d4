"""Loaders, their samplers and workers, and the number of the epoch."""
