"""Places: spans of files."""

from __future__ import annotations

from detlint.support.records import record


@record(frozen=True, slots=True)
class Place:
    """A span of a file. Lines and columns count from 1, columns in characters; `end_column` is exclusive.

    `cell` is a notebook's cell, from 0; lines then count within it. Places sort by path, cell and line; what concerns a
    notebook as a whole comes before its cells.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    cell: int | None = None

    def __lt__(self, other: Place) -> bool:
        return self._rank() < other._rank()

    def _rank(self) -> tuple[str, int, int, int, int, int]:
        cell = -1 if self.cell is None else self.cell
        return self.path, cell, self.line, self.column, self.end_line, self.end_column
