"""Functions of libraries replaced by wrappers that do the same, and report to the session."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def replace(owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replace an attribute by `make(original)`, unless it is missing or already replaced."""
    original = getattr(owner, name, None)
    if original is None or getattr(original, "detlint_replaces", None) is not None:
        return
    made = functools.wraps(original)(make(original))
    made.__dict__["detlint_replaces"] = original
    if not isinstance(owner, type):  # pickled by name, as the original is
        made.__module__, made.__qualname__ = owner.__name__, name
    setattr(owner, name, made)
