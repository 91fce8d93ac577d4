"""Conversion of places to ranges of the client: lines from 0, columns in the units that both sides agreed on."""

from __future__ import annotations

from lsprotocol.types import Position, Range, TextEdit
from pygls.workspace import PositionCodec

from detlint.finding import Place
from detlint.output import files
from detlint.output.offers import replacements
from detlint.sources.source import lines_of


class Text:
    """The text of a document, which converts places to ranges of the client and back."""

    def __init__(self, text: str, codec: PositionCodec) -> None:
        self._codec = codec
        self._lines = lines_of(text)

    def range(self, place: Place | files.Span) -> Range:
        """Return the range of a place."""
        return Range(self._position(place.line, place.column), self._position(place.end_line, place.end_column))

    def place(self, path: str, found: Range, cell: int | None = None) -> Place:
        """Return the place of a range."""
        (line, column), (end_line, end_column) = self._point(found.start), self._point(found.end)
        return Place(path, line, column, end_line, end_column, cell)

    def _position(self, line: int, column: int) -> Position:
        if line > len(self._lines):  # the end of a text whose last line has no line ending
            line, column = len(self._lines), len(self._lines[-1]) + 1
        return Position(line - 1, self._codec.client_num_units(self._lines[line - 1][: column - 1]))

    def _point(self, position: Position) -> tuple[int, int]:
        if position.line >= len(self._lines):
            return len(self._lines), len(self._lines[-1]) + 1
        copy = Position(position.line, position.character)  # pygls writes to it
        found = self._codec.position_from_client_units(self._lines, copy)
        return found.line + 1, found.character + 1


def edits_between(old: str, new: str, codec: PositionCodec) -> list[TextEdit]:
    """Return small edits that turn the old text into the new one."""
    text = Text(old, codec)
    return [TextEdit(text.range(each.span), each.text) for each in replacements(files.Text(old), new)]
