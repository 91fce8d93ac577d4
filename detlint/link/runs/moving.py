"""The outcome of a program, moved to the current lines of its files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from typing import Any

from detlint.finding import Place
from detlint.link.state.spans import Walked
from detlint.programs.entries import Entry
from detlint.programs.events import Sampler
from detlint.support.interned import Interned

_NUMBERED = re.compile(r"(.*):(\d+)")


class NotMovedError(Exception):
    """The error for something whose current place is unknown."""


class Moves:
    """The current places and orders of some files."""

    def __init__(self, places: Mapping[Place, Place], orders: Mapping[str, Mapping[int, int]]) -> None:
        """Map old places to current ones, and old orders, by the path of their file, to current ones."""
        self._places, self._orders = places, orders
        self._moved: dict[int, tuple[Any, Any]] = {}  # moved objects, by the identity of the old ones

    def entry(self, entry: Entry) -> Entry:
        """Return an entry point with its current places. Raises NotMovedError if one is unknown."""
        if any(_NUMBERED.fullmatch(name) for name in (entry.function, entry.target)):
            raise NotMovedError
        place, starter = self._placed(entry.place), self._placed(entry.starter)
        return replace(entry, place=place, starter=starter, trace=self._part(entry.trace))

    def walked(self, walked: Walked) -> Walked:
        """Return a walk of a function with its current orders. Raises NotMovedError if one is unknown."""
        (path, qualified), walk = walked
        orders = self._orders.get(path)
        if orders is None:
            return walked
        if match := _NUMBERED.fullmatch(qualified):
            qualified = f"{match[1]}:{_ordered(orders, int(match[2]))}"
        moved = walk and tuple((_ordered(orders, order), state) for order, state in walk)
        return (path, qualified), moved

    def _placed(self, place: Place | None) -> Place | None:
        if place is None or place.path not in self._orders or place.line == place.end_line == 1 == place.end_column:
            return place  # the start of its file stands for no place
        if place not in self._places:
            raise NotMovedError
        return self._places[place]

    def _part(self, part: Any) -> Any:
        """Return a part of a trace, moved; the same object for the same part."""
        kind = type(part)
        if kind is Place:
            return self._placed(part)
        if not (kind is tuple or isinstance(kind, Interned)):
            return part
        known = self._moved.get(id(part))
        if known is None:
            if kind is tuple:
                moved: Any = tuple(map(self._part, part))
                moved = part if all(a is b for a, b in zip(moved, part, strict=True)) else moved
            elif kind is Sampler and part.path in self._orders:
                moved = replace(part, order=_ordered(self._orders[part.path], part.order))
            else:
                moved = self._fields(kind, part)
            known = self._moved[id(part)] = part, moved  # kept alive, so that nothing else gets its identity
        return known[1]

    def _fields(self, kind: Any, part: Any) -> Any:
        values = [getattr(part, name) for name in _names(kind)]
        moved = list(map(self._part, values))
        return part if all(a is b for a, b in zip(moved, values, strict=True)) else kind(*moved)


def _ordered(orders: Mapping[int, int], order: int) -> int:
    if order not in orders:
        if order == 0:  # the start of a function
            return 0
        raise NotMovedError
    return orders[order]


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))
