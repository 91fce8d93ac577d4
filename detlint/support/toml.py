"""TOML parsing by the standard library's parser, or by its backport before Python 3.11."""

from __future__ import annotations

import sys
from typing import Any


def loads(text: str) -> dict[str, Any]:
    """Return the table in a text. Raises ValueError if it is not TOML."""
    if not text.strip():  # an empty file that only marks a folder
        return {}
    if sys.version_info >= (3, 11):  # imported on use: few runs have TOML to read
        import tomllib
    else:
        import tomli as tomllib

    return tomllib.loads(text)
