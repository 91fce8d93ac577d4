"""The libraries that the tables describe in full, by the first component of their qualified names."""

from __future__ import annotations

import sys

STANDARD = frozenset(sys.stdlib_module_names)
"""The modules of the standard library."""
PYTHON = STANDARD | {"builtins"}
"""Modules that come with Python."""
KNOWN = PYTHON | {"numpy", "torch"}
"""Libraries whose functions draw, seed or call what they are given only where a table says so."""
READING = PYTHON | {"torch"}
"""Libraries whose functions put nothing into a dict that they are given."""
