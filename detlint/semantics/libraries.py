"""The libraries that the tables describe in full, by the first component of their qualified names."""

from __future__ import annotations

import sys

STANDARD = frozenset(sys.stdlib_module_names)
"""The modules of the standard library."""
PYTHON = STANDARD | {"builtins"}
"""What comes with Python."""
KNOWN = PYTHON | {"numpy", "torch"}
"""Their functions draw, seed and call what they are given just where a table says so; others may do so anywhere."""
READING = PYTHON | {"torch"}
"""Their functions put nothing into a dict that they are given."""
