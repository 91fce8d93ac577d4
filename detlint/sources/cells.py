"""The sources of a notebook's cells, changed within its JSON: everything else stays as it is, to the byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from detlint.support.records import record

Splice = tuple[int, int, str]  # start offset, end offset, new text
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)
_ESCAPED = re.compile(r"\\u00[89a-fA-F]|\\u0[1-9a-fA-F]|\\u[1-9a-fA-F]")  # escapes needed only if all text is ASCII
_SPACE = re.compile(r"[ \t\r\n]*")
_SEPARATOR = re.compile(r'"([ \t\r\n]*,[ \t\r\n]*)"')


@record
class _Piece:
    """A character of a source and how the file writes it, with what follows if it ends an element of the list."""

    character: str
    raw: str
    joint: str = ""


def spliced(raw: str, changes: Mapping[int, Sequence[Splice]]) -> str:
    """Return the notebook with the sources of cells changed, each by its splices, from the last to the first."""
    parts: list[str] = []
    done = 0
    for cell, start, end in sorted(_spans(raw), key=lambda span: span[1]):
        if cell in changes:
            parts += [raw[done:start], _changed(raw, start, end, changes[cell])]
            done = end
    return "".join(parts) + raw[done:]


def characters(raw: str) -> dict[int, list[tuple[int, int]]]:
    """Return where each character of a cell's source begins and ends in the notebook's text, by cell number."""
    return {
        cell: [match.span() for begin, end in _strings(raw, start) for match in _CHARACTER.finditer(raw, begin, end)]
        for cell, start, _ in _spans(raw)
    }


def _changed(raw: str, start: int, end: int, splices: Sequence[Splice]) -> str:
    """Return the new text of the value from `start` to `end`, a string or a list of strings."""
    pieces, first, last = _pieces(raw, start)
    listed = raw[start] == "["
    ascii_only = raw.isascii() and _ESCAPED.search(raw) is not None
    joint = _joint(raw, start, pieces) if listed else ""
    if listed and pieces and pieces[-1].character == "\n":
        pieces[-1].joint = joint  # dropped below if nothing follows
    for begin, stop, text in splices:
        added = [_Piece(c, json.dumps(c, ensure_ascii=ascii_only)[1:-1], joint if c == "\n" else "") for c in text]
        pieces[begin:stop] = added
    if pieces:
        pieces[-1].joint = ""
    inner = "".join(piece.raw + piece.joint for piece in pieces)
    if first is None or last is None:
        return f'["{inner}"]'
    return raw[start:first] + inner + raw[last:end]


def _joint(raw: str, start: int, pieces: Sequence[_Piece]) -> str:
    """Return the text between two elements of a list: as between existing ones, else as before the first one."""
    for piece in pieces:
        match = _SEPARATOR.fullmatch(piece.joint)
        if match is not None:
            return match[0]
    space = _after_space(raw, start + 1)
    return f'",{raw[start + 1 : space] or " "}"'


def _pieces(raw: str, start: int) -> tuple[list[_Piece], int | None, int | None]:
    """Return the characters of a source, and where the first begins and the last ends; None for an empty list."""
    strings = _strings(raw, start)
    pieces: list[_Piece] = []
    previous = None
    for begin, end in strings:
        if pieces and previous is not None:
            pieces[-1].joint += raw[previous:begin]
        written = _CHARACTER.findall(raw, begin, end)
        pieces += [_Piece(w if len(w) == 1 else json.loads(f'"{w}"'), w) for w in written]
        previous = end
    return pieces, *((strings[0][0], strings[-1][1]) if strings else (None, None))


def _strings(raw: str, start: int) -> list[tuple[int, int]]:
    """Return the start and end of each text between the quotes of a source, a string or a list of strings."""
    found = [(start, _string_end(raw, start))] if raw[start] == '"' else [(a, b) for _, a, b in _values(raw, start)]
    return [(begin + 1, end - 1) for begin, end in found]


def _spans(raw: str) -> Iterator[tuple[int, int, int]]:
    """Yield the number, start and end of the source of each cell that has one, a string or a list of strings.

    The cells are numbered as in `notebook.read`, which must have read the notebook.
    """
    notebook = _members(raw, _after_space(raw, 0))
    lists = [notebook["cells"][0]] if "cells" in notebook else []
    if not lists:  # before format 4
        sheets = [_members(raw, start) for _, start, _ in _values(raw, notebook["worksheets"][0])]
        lists = [sheet["cells"][0] for sheet in sheets if "cells" in sheet]
    starts = [start for cells in lists for _, start, _ in _values(raw, cells)]
    for number, start in enumerate(starts):
        cell = _members(raw, start)
        source = cell.get("source", cell.get("input"))
        if source is not None:
            value = json.loads(raw[slice(*source)])
            if isinstance(value, str) or (isinstance(value, list) and all(isinstance(each, str) for each in value)):
                yield number, *source


def _members(raw: str, start: int) -> dict[str | None, tuple[int, int]]:
    """Return the start and end of each value of an object, by its key; empty for what is no object."""
    return {key: (begin, end) for key, begin, end in _values(raw, start)} if raw[start] == "{" else {}


def _values(raw: str, start: int) -> Iterator[tuple[str | None, int, int]]:
    """Yield the start and end of each value of the object or list at `start`, with its key if it is an object."""
    decoder = json.JSONDecoder()
    keyed = raw[start] == "{"
    place = _after_space(raw, start + 1)
    while raw[place] not in "]}":
        key = None
        if keyed:
            key, place = decoder.raw_decode(raw, place)
            place = _after_space(raw, _after_space(raw, place) + 1)  # past the colon
        _, end = decoder.raw_decode(raw, place)
        yield key, place, end
        place = _after_space(raw, end)
        if raw[place] == ",":
            place = _after_space(raw, place + 1)


def _string_end(raw: str, start: int) -> int:
    return json.JSONDecoder().raw_decode(raw, start)[1]


def _after_space(raw: str, place: int) -> int:
    match = _SPACE.match(raw, place)
    return place if match is None else match.end()
