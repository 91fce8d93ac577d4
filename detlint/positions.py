"""Where nodes stand in the text: spans by one code generation of the libcst tree."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import libcst as cst
from libcst._nodes.internal import CodegenState


class _Recorder(CodegenState):
    """A code generation that notes between which tokens each node without its parentheses stands."""

    def __init__(self, module: cst.Module) -> None:
        super().__init__(default_indent=module.default_indent, default_newline=module.default_newline)
        self.spans: dict[int, tuple[int, int]] = {}
        self._exact: set[int] = set()

    def before_codegen(self, node: Any) -> None:
        self.spans[id(node)] = (len(self.tokens), len(self.tokens))

    def after_codegen(self, node: Any) -> None:
        if id(node) not in self._exact:
            self.spans[id(node)] = (self.spans[id(node)][0], len(self.tokens))

    def record_syntactic_position(self, node: Any, *, start_node: Any = None, end_node: Any = None) -> Any:
        return _Position(self, node, start_node, end_node)

    def note(self, node: Any, start: int, start_node: Any, end_node: Any) -> None:
        """Record a node that began at token `start`, or at `start_node`, and ends here, or with `end_node`."""
        first = start if start_node is None else self.spans[id(start_node)][0]
        last = len(self.tokens) if end_node is None else self.spans[id(end_node)][1]
        self.spans[id(node)] = (first, last)
        self._exact.add(id(node))


class _Position(AbstractContextManager[None]):
    """What libcst enters around a node's own text: a class, since it enters one for nearly every node."""

    __slots__ = ("end_node", "node", "recorder", "start", "start_node")

    def __init__(self, recorder: _Recorder, node: Any, start_node: Any, end_node: Any) -> None:
        self.recorder = recorder
        self.node = node
        self.start_node = start_node
        self.end_node = end_node

    def __enter__(self) -> None:
        self.start = len(self.recorder.tokens)

    def __exit__(self, *error: object) -> None:
        self.recorder.note(self.node, self.start, self.start_node, self.end_node)


class Spans:
    """Offsets, in characters, of a parsed file's nodes. Computed on the first question."""

    def __init__(self, module: cst.Module, text: str) -> None:
        self._module = module
        self._text = text
        self._found: dict[int, tuple[int, int]] = {}
        self._offsets: list[int] = []

    def of(self, origin: object) -> tuple[int, int]:
        """Start and end of a libcst node, without its own parentheses and surrounding space."""
        if not self._offsets:
            recorder = _Recorder(self._module)
            self._module._codegen(recorder)
            self._found = recorder.spans
            self._offsets = [0, *accumulate(len(token) for token in recorder.tokens)]
            if "\f" in self._text:
                self._offsets = self._with_form_feeds("".join(recorder.tokens))
        start, end = self._found[id(origin)]
        last = len(self._offsets) - 1
        return self._offsets[min(start, last)], self._offsets[min(end, last)]

    def _with_form_feeds(self, generated: str) -> list[int]:
        """The offsets in the text, of which libcst drops each form feed that stands right before a statement."""
        places: list[int] = []
        place = 0
        for character in generated:
            while self._text[place : place + 1] == "\f" != character:
                place += 1
            places.append(place)
            place += 1
        return [places[offset] if offset < len(places) else len(self._text) for offset in self._offsets]


class Origin(NamedTuple):
    """Where a line of a text that was put together comes from: a notebook's cell, from 0, and the line in it, from 1.

    `shift` is what to add to a column to get the column there, and `length` how many characters the line has there.
    """

    cell: int
    line: int
    shift: int
    length: int

    def column(self, column: int) -> int:
        """The column where the line comes from, never one beyond that line's end."""
        return min(max(column + self.shift, 1), self.length + 1)


class Lines:
    """Lines and columns of offsets. A line ends at \\n, \\r\\n or \\r, as Python reads source.

    `origins` has an entry for each line where the text was put together from cells.
    """

    def __init__(self, text: str, origins: Sequence[Origin] = ()) -> None:
        self.starts = [0]
        self.origins = origins
        for index, character in enumerate(text):
            if character == "\n" or (character == "\r" and text[index + 1 : index + 2] != "\n"):
                self.starts.append(index + 1)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of `offset` in the text, both from 1, the column in characters."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def locate(self, offset: int) -> tuple[int | None, int, int]:
        """The cell that `offset` stands in, None in a file without cells, and line and column in it."""
        line, column = self.position(offset)
        if not self.origins:
            return None, line, column
        if line > len(self.origins):  # the end of the text
            last = self.origins[-1]
            return last.cell, last.line, last.length + 1
        origin = self.origins[line - 1]
        return origin.cell, origin.line, origin.column(column)

    def offset(self, cell: int | None, line: int, column: int) -> int:
        """The offset of a place that `locate` gave. Raises KeyError where the text has no such line."""
        index, shift = self._lines[cell, line]
        return self.starts[index] + column - shift - 1

    @cached_property
    def _lines(self) -> dict[tuple[int | None, int], tuple[int, int]]:
        """The index of each line, and its shift, by cell and line."""
        if not self.origins:
            return {(None, number): (number - 1, 0) for number in range(1, len(self.starts) + 1)}
        return {(o.cell, o.line): (index, o.shift) for index, o in enumerate(self.origins)}
