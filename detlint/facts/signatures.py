"""What in a file matters to the rest of its project, whatever lines it is on.

The programs of a project, and the answers to its open questions, depend on the facts of its files and on what the
findings ask. They depend on places and orders only by which comes first and which are equal. Two texts of a file with
one signature thus leave all that was linked as it was: `sites` says where each place of one is in the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from detlint.facts.facts import Facts
from detlint.finding import Finding, Place
from detlint.questions import Question
from detlint.support import digests

_NUMBERED = re.compile(r"(.*):(\d+)")  # the name of a function that has its order in it
_NUMBERS = frozenset(("order", "function", "qualified"))  # fields that may hold an order


def signature(facts: Facts | None, findings: Iterable[Finding], broken: bool = False) -> str:
    """Return a digest of what the rest of a project may learn about a file, the same in all processes.

    `findings` are those of the file, of which only the open questions count. `broken` says whether some of it could not
    be read.
    """
    form = _Form()
    form.add((facts, broken, tuple(questions(finding) for finding in findings if is_open(finding))))
    return form.digest()


def sites(facts: Facts | None) -> tuple[Place, ...]:
    """Return the places in the facts of a file, equally many and in the same order for all texts of one signature."""
    form = _Form()
    form.add(facts)
    return tuple(form.places)


def moves(old: Facts, new: Facts) -> tuple[dict[Place, Place], dict[int, int]]:
    """Return where the places and the orders of one text are in another one of the same signature."""
    forms = _Form(), _Form()
    for form, facts in zip(forms, (old, new), strict=True):
        form.add(facts)
    before, after = forms
    orders = dict(zip(map(int, before.orders), map(int, after.orders), strict=True))
    return dict(zip(before.places, after.places, strict=True)), orders


def is_open(finding: Finding) -> bool:
    """Return whether a finding asks its project anything."""
    return any(question is not None for question in questions(finding))


def questions(finding: Finding) -> tuple[Question | None, ...]:
    """Return what a finding asks its project."""
    return finding.only_if, finding.full_if, *finding.unless, finding.passed


class _Form:
    """The parts of what is signed, in order; numbers are in it by rank, not by value."""

    def __init__(self) -> None:
        self._parts: list[object] = []
        self.places: list[Place] = []
        self.orders: list[_Order] = []

    def add(self, part: Any) -> None:
        """Add a part, and all within it."""
        of: type = type(part)
        kind = _kind(of)
        if kind == "record":
            self._parts.append(of.__name__)
            for name in _names(of):
                if name in _NUMBERS:
                    self._add_field(name, getattr(part, name))
                else:
                    self.add(getattr(part, name))
        elif kind == "plain":
            self._parts.append(repr(part))
        elif kind == "place":
            self.places.append(part)
            self._parts.append(part)
        else:
            self._parts.append(f"({len(part)}" if kind == "sequence" else f"{{{len(part)}")
            for each in part if kind == "sequence" else part.values():  # the keys are names that the values have too
                self.add(each)

    def _add_field(self, name: str, value: Any) -> None:
        if name == "order":
            self._add_order(value)
        elif name in ("function", "qualified") and isinstance(value, str) and (match := _NUMBERED.fullmatch(value)):
            self._parts.append(repr(match[1]))
            self._add_order(int(match[2]))
        else:
            self.add(value)

    def _add_order(self, order: int) -> None:
        self.orders.append(_Order(order))
        self._parts.append(self.orders[-1])

    def digest(self) -> str:
        """Return the digest of all parts."""
        places = sorted(set(self.places))
        known: dict[object, str] = {place: f"@{rank}" for rank, place in enumerate(places)}
        known |= {order: str(rank) for rank, order in enumerate(sorted(set(self.orders)))}
        parts = [part if isinstance(part, str) else known[part] for part in self._parts]
        text = "\n".join([*parts, *_layout(places)])
        return digests.digest(text.encode("utf-8", "backslashreplace")).hex()


class _Order(int):
    """The order of a node, kept apart from texts."""


def _layout(places: Iterable[Place]) -> Iterator[str]:
    """Yield whether each place shares the previous one's line, or is on line 1, where what has no place goes."""
    before: tuple[int | None, int] | None = None
    for place in places:
        line = place.cell, place.line
        yield ("=" if line == before else "1" if place.line == 1 else "<") + ("" if place.cell is None else "c")
        before = line


@cache
def _kind(kind: type) -> str:
    """Return how to treat objects of a class; cached since it is called for every node of a file."""
    if issubclass(kind, Place):
        return "place"
    if issubclass(kind, Sequence) and not issubclass(kind, (str, bytes)):
        return "sequence"
    return "mapping" if issubclass(kind, Mapping) else "record" if is_dataclass(kind) else "plain"


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))
