"""Where nodes of Python's own `ast` stand in the text, as character offsets, and what stands between nodes."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from functools import cached_property
from typing import Any

from detlint.tree.positions import line_starts

_BLANK = re.compile(r"(?:[\s\\]|#[^\r\n]*)*")
_COMMENT = re.compile(r"#[^\r\n]*")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


class _Wide:
    """The characters of a line that take several bytes in UTF-8.

    `characters` and `bytes` hold where each ends, in characters and in bytes; `more` holds how many more bytes than
    characters the line has up to each, 0 before the first.
    """

    def __init__(self, line: str) -> None:
        self.characters: list[int] = []
        self.bytes: list[int] = []
        self.more = [0]
        for match in () if line.isascii() else _NOT_ASCII.finditer(line):
            number = ord(match[0])
            self.more.append(self.more[-1] + (1 if number < 0x800 else 2 if number < 0x10000 else 3))
            self.characters.append(match.end())
            self.bytes.append(match.end() + self.more[-1])


class Places:
    """Offsets in one text. `ast` counts lines, and columns in bytes of UTF-8."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._is_ascii = text.isascii()
        self._known: dict[int, _Wide] = {}

    @cached_property
    def _starts(self) -> list[int]:
        return line_starts(self.text)

    def offset(self, line: int, column: int) -> int:
        """Return the character offset of a position that `ast` gives."""
        start = self._starts[line - 1]
        if self._is_ascii:
            return start + column
        wide = self._wide(line)
        return start + column - wide.more[bisect_right(wide.bytes, column)]

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset as `ast` counts them."""
        line = bisect_right(self._starts, offset)
        column = offset - self._starts[line - 1]
        if self._is_ascii:
            return line, column
        wide = self._wide(line)
        return line, column + wide.more[bisect_right(wide.characters, column)]

    def _wide(self, line: int) -> _Wide:
        """Return the characters of a line that are not ASCII; cached, as lines can be very long."""
        if line not in self._known:
            end = self._starts[line] if line < len(self._starts) else len(self.text)
            self._known[line] = _Wide(self.text[self._starts[line - 1] : end])
        return self._known[line]

    def start(self, node: Any) -> int:
        """Return where a node starts according to `ast`."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: Any) -> int:
        """Return where a node ends according to `ast`."""
        return self.offset(node.end_lineno, node.end_col_offset)

    def of(self, node: Any) -> tuple[int, int]:
        """Return where a node starts and ends by `ast`: without its own parentheses, but for tuples and generators."""
        if self._is_ascii:
            starts = self._starts
            return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        return self.start(node), self.end(node)

    # Between nodes: blanks, comments, parentheses

    def skip(self, offset: int) -> int:
        """Return where the first token at or after `offset` starts."""
        blank = _BLANK.match(self.text, offset)
        return offset if blank is None else blank.end()

    def opened(self, start: int, end: int) -> int:
        """Return the number of parentheses opened between two offsets with nothing but delimiters between them."""
        return _COMMENT.sub("", self.text[start:end]).count("(")

    def closed(self, offset: int, count: int = -1) -> int:
        """Return where the parentheses closing right after `offset` end: `count` of them, or all of them."""
        while count:
            place = self.skip(offset)
            if not self.text.startswith(")", place):
                break
            offset = place + 1
            count -= 1
        return offset

    def closing(self, offset: int) -> int:
        """Return the number of parentheses that close right after `offset`."""
        count = 0
        while self.text.startswith(")", place := self.skip(offset)):
            offset = place + 1
            count += 1
        return count

    def last(self, offset: int, limit: int) -> int:
        """Return where the last delimiter between `offset` and `limit` ends; `offset` if there is none."""
        while (place := self.skip(offset)) < limit:
            offset = place + 1
        return offset

    def is_parenthesised(self, node: ast.Tuple) -> bool:
        """Return whether parentheses around a tuple are its own, as they are whenever there are any."""
        if not node.elts:
            return True
        first, end = self.of(node.elts[0])
        return self.opened(self.start(node), first) > self.closing(end)
