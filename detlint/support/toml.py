"""TOML, read by the standard library's parser, or by the same one for a Python before 3.11."""

from __future__ import annotations

import sys
from typing import Any


def loads(text: str) -> dict[str, Any]:
    """The table that a text says. Raises ValueError where it is not TOML."""
    if not text.strip():  # a file that only marks a folder
        return {}
    if sys.version_info >= (3, 11):  # imported when it is used: few runs have TOML to read
        import tomllib
    else:
        import tomli as tomllib

    return tomllib.loads(text)
