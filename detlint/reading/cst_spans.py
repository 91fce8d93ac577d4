"""The spans of the nodes of a libcst tree in the text, from generating its code once."""

from __future__ import annotations

from contextlib import AbstractContextManager
from itertools import accumulate
from typing import Any

import libcst as cst
from libcst._nodes.internal import CodegenState

from detlint.tree import syntax as s


class _Recorder(CodegenState):
    """A state of code generation that records the tokens between which each node stands, without its parentheses."""

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
    """The context that libcst enters around a node's own text: a class, since it enters one for nearly every node."""

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


class TreeSpans:
    """The spans of a file that libcst parsed, computed on the first lookup."""

    def __init__(self, module: cst.Module, text: str) -> None:
        self._module = module
        self._text = text
        self._found: dict[int, tuple[int, int]] = {}
        self._offsets: list[int] = []

    def of(self, node: s.Node) -> tuple[int, int]:
        """Return the start and end of a node, without its own parentheses and surrounding space."""
        if not self._offsets:
            recorder = _Recorder(self._module)
            self._module._codegen(recorder)
            self._found = recorder.spans
            self._offsets = [0, *accumulate(len(token) for token in recorder.tokens)]
            if "\f" in self._text:
                self._offsets = self._with_form_feeds("".join(recorder.tokens))
        start, end = self._found[id(node.origin)]
        last = len(self._offsets) - 1
        return self._offsets[min(start, last)], self._offsets[min(end, last)]

    def _with_form_feeds(self, generated: str) -> list[int]:
        """Return the offsets in the text, where libcst has dropped each form feed right before a statement."""
        places: list[int] = []
        place = 0
        for character in generated:
            while self._text[place : place + 1] == "\f" != character:
                place += 1
            places.append(place)
            place += 1
        return [places[offset] if offset < len(places) else len(self._text) for offset in self._offsets]
