"""Functions of libraries replaced by ones that do the same, and say so to the session."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def replace(owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Put `make(original)` in the place of an attribute, unless there is none or it has been replaced."""
    original = getattr(owner, name, None)
    if original is None or getattr(original, "detlint_replaces", None) is not None:
        return
    made = functools.wraps(original)(make(original))
    made.__dict__["detlint_replaces"] = original
    if not isinstance(owner, type):  # pickled by its name, as the original was
        made.__module__, made.__qualname__ = owner.__name__, name
    setattr(owner, name, made)
