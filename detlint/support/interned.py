"""Interned objects: equal ones are the same object, so that sets and keys of them are cheap."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class Interned(type):
    """A metaclass for frozen dataclasses (without `eq`) that makes equal objects one object.

    The objects live as long as the process. A class with a true `typed` attribute distinguishes 1, 1.0 and True.
    """

    _made: dict[object, Any]
    _names: tuple[str, ...]
    _defaults: tuple[object, ...]
    _typed: bool

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        cls._made, cls._names, cls._defaults = {}, (), ()
        cls._typed = bool(namespace.get("typed"))

    def __call__(cls, *values: Any, **keywords: Any) -> Any:
        """Return the one object with these values."""
        if keywords:
            values, keywords = cls._all(values, keywords), {}
        key = (values, *map(type, values)) if cls._typed else values
        try:
            return cls._made[key]
        except KeyError:
            every = values if len(values) == len(cls._names) else cls._all(values, keywords)
            made = cls(*every) if len(every) > len(values) else super().__call__(*values)
            return cls._made.setdefault(key, made)

    def _all(cls, values: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...]:
        """Return the values of all fields."""
        if not cls._names:
            known: tuple[Any, ...] = fields(cls)  # type: ignore[arg-type]
            cls._names, cls._defaults = tuple(f.name for f in known), tuple(f.default for f in known)
        rest = zip(cls._names[len(values) :], cls._defaults[len(values) :], strict=True)
        return (*values, *(keywords.get(name, default) for name, default in rest))
