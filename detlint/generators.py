"""The global generators that programs draw from, by their libraries."""

from __future__ import annotations

GENERATORS = ("torch", "numpy", "python")
COMPILED = {"numpy": "numba-numpy", "python": "numba-python"}
"""The generators that compiled code uses instead of these; seeds in such code reach them."""
ELSEWHERE = "elsewhere"  # the state of generators that compiled code does not draw from
SEEDABLE = (*GENERATORS, "dgl", "monai", *COMPILED.values())
"""These and those of other libraries, which only functions of these libraries seed."""
