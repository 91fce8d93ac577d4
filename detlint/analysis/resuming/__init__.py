"""Checkpoints: what is saved, what is restored, and what of a run they leave out."""
