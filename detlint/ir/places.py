"""Where the numbered nodes of a file stand in its text: read when a finding is written, by nothing that is solved."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Places:
    """The text of a file, and the offsets at which the numbered nodes of each function start and end."""

    text: str
    spans: Mapping[str, Sequence[tuple[int, int]]]

    @cached_property
    def _lines(self) -> list[int]:
        """The offsets at which lines start."""
        return [0, *(index + 1 for index, character in enumerate(self.text) if character == "\n")]

    def line(self, function: str, node: int) -> int:
        """The line, from 1 on, in which a node starts."""
        return bisect_right(self._lines, self.spans[function][node][0])

    def segment(self, function: str, node: int) -> str:
        """The text of a node."""
        start, end = self.spans[function][node]
        return self.text[start:end]
