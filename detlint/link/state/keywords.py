"""The dict that `**kwargs` gathers: what is read from it, and what is set in it."""

from __future__ import annotations

from detlint.link.state.run import Frame
from detlint.link.state.values import (
    UNKNOWN,
    Constant,
    Keywords,
    Library,
    Option,
    Partial,
    Value,
    constant,
    exact,
    join,
    only,
    settled,
)

_KNOWN = ("get", "pop", "setdefault", "items", "values", "keys")
_CHANGES = ("update", "clear", "popitem")
REST = "**"  # stands for unknown keys


def keyword(held: Keywords, key: Value, default: Value) -> Value:
    """Return `held.get(key, default)`."""
    known = only(key)
    name = settled(known) if isinstance(known, (Constant, Option)) else None
    items = dict(held.items)
    return items.get(name, UNKNOWN if REST in items else default) if isinstance(name, str) else UNKNOWN


def method_of_keywords(frame: Frame, held: Keywords, name: str) -> Value | None:
    """Return a method of the dict; after one that changes it, the dict may have unknown keys."""
    if name in _CHANGES:
        _replace(frame, held, {REST: UNKNOWN})
    method = frozenset((Library(f"builtins.dict.{name}"),))
    return frozenset((Partial(method, (frozenset((held,)),), ()),)) if name in _KNOWN else None


def names_of(held: Keywords) -> Value:
    """Return the keys, `held.keys()`."""
    return join(UNKNOWN if name == REST else constant(name) for name, _ in held.items)


def values_of(held: Keywords) -> Value:
    """Return the values, `held.values()`."""
    return join(value for _, value in held.items)


def pop_keyword(frame: Frame, held: Keywords, key: Value, default: Value) -> Value:
    """Run `held.pop(key, default)`; return the result."""
    found, name = keyword(held, key, default), exact(key)
    if isinstance(name, str):
        _become(frame, held, {known: value for known, value in held.items if known != name})
    return found


def default_keyword(frame: Frame, held: Keywords, key: Value, default: Value) -> Value:
    """Run `held.setdefault(key, default)`; return the result."""
    found = keyword(held, key, default)
    if exact(key) not in dict(held.items):
        set_keyword(frame, held, key, found | default)
    return found


def set_keyword(frame: Frame, held: Keywords, key: Value, value: Value) -> None:
    """Run `held[key] = value`."""
    name = exact(key)
    _replace(frame, held, {name: value} if isinstance(name, str) else {REST: UNKNOWN})


def _replace(frame: Frame, held: Keywords, changed: dict[str, Value]) -> None:
    """Change entries of the dict in all variables that hold it."""
    _become(frame, held, dict(held.items) | changed)


def _become(frame: Frame, held: Keywords, items: dict[str, Value]) -> None:
    new = Keywords(tuple(sorted(items.items())))
    for name, value in frame.variables.items():
        if held in value:
            frame.variables[name] = value - {held} | {new}
