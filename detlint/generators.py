"""The global generators that programs draw from, by their libraries."""

from __future__ import annotations

GENERATORS = ("torch", "numpy", "python")
COMPILED = {"numpy": "numba-numpy", "python": "numba-python"}
"""The generators that compiled code has in the place of these, which seeds in such code reach."""
ELSEWHERE = "elsewhere"  # the state of generators that compiled code does not draw from
SEEDABLE = (*GENERATORS, "dgl", "monai", *COMPILED.values())
"""Also those of other libraries, which nothing but a function of theirs seeds."""
