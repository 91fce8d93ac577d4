"""Where the numbered nodes of a file stand in its text: read when a finding is written, by nothing that is solved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from detlint.finding import Place
from detlint.tree.positions import Lines, Origin


@dataclass(frozen=True)
class Places:
    """The text of a file, and the offsets at which functions and the numbered nodes of each start and end.

    `origins` say for each line of a notebook's text where it stands in its cells.
    """

    text: str
    spans: Mapping[str, Sequence[tuple[int, int]]]
    functions: Mapping[str, tuple[int, int]]
    origins: Sequence[Origin] = ()

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.text, self.origins)

    def line(self, function: str, node: int) -> int:
        """The line, from 1 on, in which a node starts: in a notebook's cell that of the cell."""
        return self._lines.locate(self.spans[function][node][0])[1]

    def place(self, path: str, function: str, node: int) -> Place:
        """The place of a node; for one of -1 that of the function, the first line of the file for its top level."""
        if node < 0 and function not in self.functions:
            return Place(path, 1, 1, 1, 1)
        offsets = self.functions[function] if node < 0 else self.spans[function][node]
        (cell, line, column), (_, end_line, end_column) = map(self._lines.locate, offsets)
        return Place(path, line, column, end_line, end_column, cell)

    def segment(self, function: str, node: int) -> str:
        """The text of a node."""
        start, end = self.spans[function][node]
        return self.text[start:end]
