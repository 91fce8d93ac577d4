"""Two values that differ, in words: where they differ, and what each run has there. Pure, without torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from detlint.bisect.locating.steps import Value

_WIDEST = 60
_FEW = 5  # items of a container that are shown
_PAIRS = ("dict", "record")


def difference(name: str, a: Value, b: Value) -> str:
    """Describe the first part that differs, with its value in A and in B, as `name[0]: 1 / 2`."""
    return _difference(name, a.shape, b.shape)


def _difference(name: str, a: Any, b: Any) -> str:
    plain = f"{name}: {_short(a)} / {_short(b)}"
    if not isinstance(a, list) or not isinstance(b, list) or a[0] != b[0]:
        return plain
    kind, length, items, other = a[0], a[1], a[2], b[2]
    if kind in ("object", "generator") or not isinstance(items, list):
        return f"{name}: in another state in each run" if kind == "generator" else plain
    if kind in _PAIRS:
        return _pairs(name, kind, items, other, plain)
    if kind == "set":
        mine, theirs = ([one for one in each if one not in rest] for each, rest in ((items, other), (other, items)))
        return f"{name}: {_row(mine)} in A alone, {_row(theirs)} in B alone"
    if length != b[1]:
        return f"len({name}): {length} / {b[1]}"
    order = sorted(map(str, items)) == sorted(map(str, other))
    told = f"{name}: {_row(items)} / {_row(other)}"
    if order and length > 1:
        return f"{told}, the same in another order" if length <= len(items) else told
    place = next((i for i, (one, two) in enumerate(zip(items, other, strict=False)) if one != two), None)
    if place is None:
        return f"{name}: it differs beyond the first {len(items)} of {length:,} items"
    index = f"{name}[{place}]" if kind != "array" else f"{name}.flat[{place}]"
    return _difference(index, items[place], other[place])


def _pairs(name: str, kind: str, items: Sequence[Any], other: Sequence[Any], plain: str) -> str:
    mine, theirs = ({str(key): (key, value) for key, value in each} for each in (items, other))
    for text, (key, value) in mine.items():
        if text in theirs and theirs[text][1] != value:
            inner = f"{name}.{key}" if kind == "record" else f"{name}[{_short(key)}]"
            return _difference(inner, value, theirs[text][1])
    if set(mine) != set(theirs):
        return f"{name}: {_row([one for one in mine if one not in theirs])} in A alone, " + (
            f"{_row([one for one in theirs if one not in mine])} in B alone"
        )
    if list(mine) != list(theirs):
        return f"{name}: its keys are {_row(list(mine))} / {_row(list(theirs))}, the same in another order"
    return plain


def _row(items: Sequence[Any]) -> str:
    shown = ", ".join(_short(one) for one in items[:_FEW])
    return f"[{shown}{', ...' if len(items) > _FEW else ''}]"


def _short(value: Any) -> str:
    if isinstance(value, list):
        kind, length = value[0], value[1]
        if kind == "object":
            return f"a {value[2]}"
        if kind == "array":
            return f"{value[3]} {_row(value[2])}"
        items = value[2] if isinstance(value[2], list) else []
        if kind in _PAIRS:
            return f"a {kind} of {length}"
        return _row(items) if length else f"an empty {kind}"
    text = str(value)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."
