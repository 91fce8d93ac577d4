"""Helpers of environments."""
