"""Edits made in a text; everything outside of them stays as it is, to the byte."""

from __future__ import annotations

import ast
import re
import warnings
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

from detlint import reading
from detlint.finding import Edit, Place
from detlint.reading.lowering import NotPythonError
from detlint.sources import notebook
from detlint.sources.cells import Splice, spliced
from detlint.sources.magics import LINES, mask
from detlint.tree.positions import Lines

_NEWLINE = re.compile(r"\r\n|\r|\n")
_Span = tuple[tuple[int, int], tuple[int, int]]


class BadEditError(Exception):
    """An edit that does not fit its text."""


def rewrite(path: str, text: str, edits: Sequence[Edit]) -> str:
    """Return the text of the file at `path` with `edits` made, which must not overlap. Equal edits are made once.

    A `\\n` that an edit writes becomes the newline of the line it begins in. Raises BadEditError.
    """
    by_cell: dict[int | None, list[Edit]] = defaultdict(list)
    for edit in dict.fromkeys(edits):
        by_cell[edit.place.cell].append(edit)
    if not notebook.is_notebook(path):
        for begin, end, new in _in_order(_splices(text, by_cell.pop(None, []))):
            text = text[:begin] + new + text[end:]
        if by_cell:
            raise BadEditError("a cell of a file that is no notebook")
        return text
    sources = notebook.texts(path, text)
    changes: dict[int, list[Splice]] = {}
    for cell, among in by_cell.items():
        if cell is None or cell not in sources or _touches_magic(sources[cell], among):
            raise BadEditError("what is no Python of the notebook")
        changes[cell] = _in_order(_splices(sources[cell], among))
    return spliced(text, changes)


def _in_order(splices: Sequence[Splice]) -> list[Splice]:
    """Return splices from the last to the first, so that offsets stay valid."""
    return sorted(splices, key=lambda splice: splice[:2])[::-1]


def _splices(text: str, edits: Sequence[Edit]) -> list[Splice]:
    lines = Lines(text)
    found = []
    for edit in edits:
        place = edit.place
        try:
            begin = lines.offset(None, place.line, place.column)
            end = lines.offset(None, place.end_line, place.end_column)
        except KeyError:
            raise BadEditError("a line that is not there") from None
        if not begin <= end <= len(text):
            raise BadEditError("a place that is not there")
        found.append((begin, end, re.sub(r"(?<!\r)\n", _newline(text, begin), edit.text)))
    return found


def _newline(text: str, place: int) -> str:
    """Return the newline of the line that holds `place`, or the text's first one where that is the last line."""
    match = _NEWLINE.search(text, place) or _NEWLINE.search(text)
    return "\n" if match is None else match[0]


def _touches_magic(source: str, edits: Sequence[Edit]) -> bool:
    """Return whether an edit changes a part of a cell that is not Python; lines may be added before or after it."""
    masked = mask(source)
    if masked is None:
        return True
    rows = [row.rstrip("\r\n") for row in LINES.findall(source)]
    for edit in edits:
        place = edit.place
        for line in range(place.line, min(place.end_line, len(rows)) + 1):
            if place.line < line == place.end_line and place.end_column == 1:
                continue  # only the end of the line before it
            row, code = rows[line - 1], masked[line - 1].text.strip()
            python = row.rstrip().endswith(code) and len(row.rstrip()) - len(code) + 1
            column = place.column if line == place.line else 1
            inserted = _span(edit)[0] == _span(edit)[1] and column in (1, len(row) + 1)
            if not inserted and (python is False or (column < python and row[column - 1 : python - 1].strip())):
                return True
    return False


# How edits relate to each other


def disagree(one: Edit, other: Edit) -> bool:
    """Return whether edits of two fixes conflict; equal ones are one edit, and an insertion may touch no other."""
    if one == other or not _together(one, other):
        return False
    (a, b), (c, d) = _span(one), _span(other)
    return (a <= d and c <= b) if a == b or c == d else (a < d and c < b)


def sound(edits: Sequence[Edit]) -> bool:
    """Return whether the edits of one fix do not overlap."""
    for one, other in combinations(dict.fromkeys(edits), 2):
        (a, b), (c, d) = _span(one), _span(other)
        if _together(one, other) and a < d and c < b:
            return False
    return True


def moved(place: Place, edits: Sequence[Edit]) -> Place:
    """Return `place`, without extent, at the line that it has once `edits` are made."""
    above = [e for e in edits if e.place.cell == place.cell and _span(e)[1] <= (place.line, place.column)]
    shift = sum(len(_NEWLINE.findall(e.text)) - (e.place.end_line - e.place.line) for e in dict.fromkeys(above))
    line = place.line + shift
    return Place(place.path, line, place.column, line, place.column, place.cell)


def _together(one: Edit, other: Edit) -> bool:
    return (one.place.path, one.place.cell) == (other.place.path, other.place.cell)


def _span(edit: Edit) -> _Span:
    place = edit.place
    return (place.line, place.column), (place.end_line, place.end_column)


# What the outcome must be


def still_runs(path: str, old: str, new: str) -> bool:
    """Return whether the new text of a file parses, and compiles if the old one does."""
    try:
        before, after = notebook.read(path, old), notebook.read(path, new)
        reading.check(after.text)
    except (notebook.NotebookError, NotPythonError, RecursionError):
        return False
    return len(after.broken) <= len(before.broken) and (_compiles(after.text) or not _compiles(before.text))


def _compiles(text: str) -> bool:
    """Return whether this Python compiles the text, which finds more than a parser does: a keyword given twice."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "<text>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True
