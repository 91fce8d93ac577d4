"""What `**kwargs` gathers, as the dict that it is: what is read from it, and what is set in it."""

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
REST = "**"  # stands for keys that are not known


def keyword(held: Keywords, key: Value, default: Value) -> Value:
    """`held.get(key, default)`."""
    known = only(key)
    name = settled(known) if isinstance(known, (Constant, Option)) else None
    items = dict(held.items)
    return items.get(name, UNKNOWN if REST in items else default) if isinstance(name, str) else UNKNOWN


def method_of_keywords(frame: Frame, held: Keywords, name: str) -> Value | None:
    """A method of the dict; after one that changes it, it may have keys that are not known."""
    if name in _CHANGES:
        _replace(frame, held, {REST: UNKNOWN})
    method = frozenset((Library(f"builtins.dict.{name}"),))
    return frozenset((Partial(method, (frozenset((held,)),), ()),)) if name in _KNOWN else None


def names_of(held: Keywords) -> Value:
    """The keys, `held.keys()`."""
    return join(UNKNOWN if name == REST else constant(name) for name, _ in held.items)


def values_of(held: Keywords) -> Value:
    """The values, `held.values()`."""
    return join(value for _, value in held.items)


def pop_keyword(frame: Frame, held: Keywords, key: Value, default: Value) -> Value:
    """`held.pop(key, default)`."""
    found, name = keyword(held, key, default), exact(key)
    if isinstance(name, str):
        _become(frame, held, {known: value for known, value in held.items if known != name})
    return found


def default_keyword(frame: Frame, held: Keywords, key: Value, default: Value) -> Value:
    """`held.setdefault(key, default)`."""
    found = keyword(held, key, default)
    if exact(key) not in dict(held.items):
        set_keyword(frame, held, key, found | default)
    return found


def set_keyword(frame: Frame, held: Keywords, key: Value, value: Value) -> None:
    """`held[key] = value`."""
    name = exact(key)
    _replace(frame, held, {name: value} if isinstance(name, str) else {REST: UNKNOWN})


def _replace(frame: Frame, held: Keywords, changed: dict[str, Value]) -> None:
    """Give all variables that hold the dict what it is from now on."""
    _become(frame, held, dict(held.items) | changed)


def _become(frame: Frame, held: Keywords, items: dict[str, Value]) -> None:
    new = Keywords(tuple(sorted(items.items())))
    for name, value in frame.variables.items():
        if held in value:
            frame.variables[name] = value - {held} | {new}
