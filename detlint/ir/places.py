"""Where the numbered nodes of a file stand in its text: read when a finding is written, by nothing that is solved."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from detlint.finding import Place


@dataclass(frozen=True)
class Places:
    """The text of a file, and the offsets at which functions and the numbered nodes of each start and end."""

    text: str
    spans: Mapping[str, Sequence[tuple[int, int]]]
    functions: Mapping[str, tuple[int, int]]

    @cached_property
    def _lines(self) -> list[int]:
        """The offsets at which lines start."""
        return [0, *(index + 1 for index, character in enumerate(self.text) if character == "\n")]

    def line(self, function: str, node: int) -> int:
        """The line, from 1 on, in which a node starts."""
        return bisect_right(self._lines, self.spans[function][node][0])

    def place(self, path: str, function: str, node: int) -> Place:
        """The place of a node; for one of -1 that of the function, the first line of the file for its top level."""
        if node < 0 and function not in self.functions:
            return Place(path, 1, 1, 1, 1)
        offsets = self.functions[function] if node < 0 else self.spans[function][node]
        start, end = map(self._position, offsets)
        return Place(path, *start, *end)

    def _position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def segment(self, function: str, node: int) -> str:
        """The text of a node."""
        start, end = self.spans[function][node]
        return self.text[start:end]
