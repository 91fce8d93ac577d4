"""Edits that undo something and keep the number of lines, so that nothing below moves."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from dataclasses import dataclass

from tests.tools.mutants.units import Placed, Unit, parsed, plain, source_of


@dataclass(frozen=True)
class Edit:
    """Bytes `start` to `end` of a module, or of a cell with this number, that become `text`."""

    cell: int | None
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Site:
    """A place where something was done right, and what undoes it."""

    unit: Unit
    node: Placed
    what: str
    tags: tuple[str, ...]
    edits: tuple[Edit, ...]


def replaced(unit: Unit, node: Placed, new: str) -> tuple[Edit, ...]:
    """Write something else in the place of a node."""
    return (Edit(unit.cell, *unit.span(node), _padded(unit.text(node), new)),)


def dropped(unit: Unit, statement: ast.stmt) -> tuple[Edit, ...]:
    """Write `pass` in the place of a statement."""
    return replaced(unit, statement, "pass")


def without_keyword(unit: Unit, keyword: ast.keyword) -> tuple[Edit, ...]:
    """Take an argument out of a call, with one of the commas beside it."""
    data = unit.data
    start, end = unit.span(keyword)
    before = len(data[:start].rstrip())
    if data[before - 1 : before] == b",":
        start = before - 1
    else:
        behind = _behind_space(data, end)
        end = behind + 1 if data[behind : behind + 1] == b"," else end
    return (Edit(unit.cell, start, end, "\n" * data[start:end].count(b"\n")),)


def without_item(unit: Unit, key: ast.expr, value: ast.expr) -> tuple[Edit, ...]:
    """Take an item out of a dict that is written out, if a comma follows it."""
    start, end = unit.span(key)[0], _behind_space(unit.data, unit.span(value)[1])
    return (Edit(unit.cell, start, end + 1, ""),) if unit.data[end : end + 1] == b"," else ()


def _behind_space(data: bytes, place: int) -> int:
    return len(data) - len(data[place:].lstrip())


def _padded(old: str, new: str) -> str:
    return new + "\n" * (old.count("\n") - new.count("\n"))


def mutated(path: str, data: bytes, edits: Sequence[Edit]) -> str:
    """The text of a file after these edits. Raises SyntaxError where it would not be Python any more."""
    if not path.endswith(".ipynb"):
        text = _applied(data.decode("utf-8"), edits)
        parsed(text)
        return text
    notebook = json.loads(data)
    for number in sorted({edit.cell for edit in edits if edit.cell is not None}):
        cell = notebook["cells"][number]
        text = _applied(source_of(cell), [edit for edit in edits if edit.cell == number])
        parsed(plain(text) or "")
        cell["source"] = text.splitlines(keepends=True) if isinstance(cell["source"], list) else text
    return json.dumps(notebook, indent=1, ensure_ascii=False)


def _applied(text: str, edits: Sequence[Edit]) -> str:
    data = text.encode()
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        data = data[: edit.start] + edit.text.encode() + data[edit.end :]
    return data.decode()
