"""The global generators that programs draw from, by their libraries."""

from __future__ import annotations

GENERATORS = ("torch", "numpy", "python")
SEEDABLE = (*GENERATORS, "dgl")
"""Also those of other libraries, which nothing but a function of theirs seeds."""
