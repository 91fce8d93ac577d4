"""Numbers that are the same wherever a program runs: of libraries, and the limits of their types."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterable, Mapping
from functools import partial

from detlint.catalogue import Row
from detlint.domain.atoms import LibraryRef
from detlint.domain.given import Given
from detlint.domain.library import Called
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, UNKNOWN, Value, value_of
from detlint.ir.lower_expressions import constant


def numbers(rows: Iterable[Row]) -> Mapping[str, Value]:
    """The numbers of the tables, by name; a limit of a type is below what tells it and the type."""
    found: dict[str, Value] = {}
    for row in rows:
        for name in row.list("names"):
            if row.text("value"):
                found[name] = _number(row.text("value"))
            for call in row.list("calls"):
                found |= {f"{call}.{name}.{limit}": _number(row.text(limit)) for limit in row.list("limits")}
    return found


def tellers(rows: Iterable[Row]) -> Mapping[str, Called]:
    """What tells the limits of types, by name."""
    return {name: partial(_limits, name) for row in rows for name in row.list("calls")}


def _number(digits: str) -> Value:
    return value_of(constant(literal_eval(digits)))


def _limits(name: str, step: Step, given: Given) -> Value:
    """The limits of a type: names below those of the call and of the type."""
    found = NOTHING
    for atom in step.each(given.first):
        told = value_of(LibraryRef(f"{name}.{atom.name}")) if isinstance(atom, LibraryRef) else UNKNOWN
        found = step.join(found, told)
    return found
