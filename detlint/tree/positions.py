"""Conversion of offsets in a text to lines and columns, in the notebook cells that the text was built from."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple


class Origin(NamedTuple):
    """The origin of a line of a text built from notebook cells: the cell, from 0, and the line in it, from 1.

    `shift` is what to add to a column to get the column in the cell, and `length` is the line's length there in
    characters.
    """

    cell: int
    line: int
    shift: int
    length: int

    def column(self, column: int) -> int:
        """Return the column in the cell's line, at most one past the end of that line."""
        return min(max(column + self.shift, 1), self.length + 1)


def line_starts(text: str) -> list[int]:
    """Return the offset of each line of a text. A line ends at \\n, \\r\\n or \\r, as in Python source."""
    if "\r" in text:
        return [0, *(end.end() for end in re.finditer(r"\r\n?|\n", text))]
    lengths = [len(line) + 1 for line in text.split("\n")]
    return list(accumulate(lengths[:-1], initial=0))


class Lines:
    """The lines and columns of offsets in a text.

    `origins` has an entry for each line if the text was built from cells.
    """

    def __init__(self, text: str, origins: Sequence[Origin] = ()) -> None:
        self.starts = line_starts(text)
        self.origins = origins

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column of `offset` in the text, both from 1, the column in characters."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def locate(self, offset: int) -> tuple[int | None, int, int]:
        """Return the cell that contains `offset`, None in a file without cells, and the line and column in it."""
        line, column = self.position(offset)
        if not self.origins:
            return None, line, column
        if line > len(self.origins):  # the end of the text
            last = self.origins[-1]
            return last.cell, last.line, last.length + 1
        origin = self.origins[line - 1]
        return origin.cell, origin.line, origin.column(column)

    def offset(self, cell: int | None, line: int, column: int) -> int:
        """Return the offset of a position as returned by `locate`. Raises KeyError if the text has no such line."""
        if not self.origins:
            if cell is not None or not 0 < line <= len(self.starts):
                raise KeyError((cell, line))
            return self.starts[line - 1] + column - 1
        index, shift = self._lines[cell, line]
        return self.starts[index] + column - shift - 1

    @cached_property
    def _lines(self) -> dict[tuple[int | None, int], tuple[int, int]]:
        """The index of each line of a cell and its shift, by cell and line."""
        return {(o.cell, o.line): (index, o.shift) for index, o in enumerate(self.origins)}
