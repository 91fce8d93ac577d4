"""Fixes chosen and applied to texts, to a fixed point, and written or shown as a patch."""
