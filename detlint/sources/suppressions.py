"""The comments of a file that suppress findings, and what each of them covers."""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from detlint.finding import Place
from detlint.sources.directives import Directive, Span, directives, in_line, may_suppress
from detlint.sources.magics import mask
from detlint.sources.source import lines_of
from detlint.support.records import record

INLINE = "noqa"
BLOCK = "block"
FILE = "file"
IDLE = "on"
KINDS = (INLINE, BLOCK, FILE, IDLE)
_NESTS = {"FSTRING_START": 1, "FSTRING_END": -1, "TSTRING_START": 1, "TSTRING_END": -1}  # tokens of later Pythons
_OURS = re.compile(r"(?:DET[0-9]*)?")


@record(frozen=True, slots=True)
class Comment:
    """A comment that suppresses findings.

    `whole` is what to remove if nothing is left of the comment: its line if the comment is alone on it (`alone`), else
    the comment with the space before it. A comment that is not `sure` was recognised by the characters of its line and
    may be part of a string.
    """

    place: Place
    text: str
    whole: Place
    alone: bool
    sure: bool


@record(frozen=True, slots=True)
class End:
    """Where a `# detlint: on` ends a block: the comment, and the span of the code or of the whole directive."""

    comment: Comment
    span: Span


@record(frozen=True, slots=True)
class Suppression:
    """What one code in a comment covers: findings whose code starts with it; all findings if it is "".

    `kind` is INLINE (findings that begin or end on the lines `first` to `last`), BLOCK (findings that begin between
    them), FILE (all findings of the file) or IDLE (none: an `on` that ends nothing). `span` is the code's place in the
    comment.
    """

    kind: str
    code: str
    comment: Comment
    span: Span
    first: int
    last: int = sys.maxsize
    reason: str = ""
    end: End | None = None

    @property
    def place(self) -> Place:
        """The place of the code in the file."""
        here, (start, end) = self.comment.place, self.span
        return replace(here, column=here.column + start, end_column=here.column + end)

    def covers(self, code: str, place: Place) -> bool:
        """Return whether it covers a finding of `code` at `place` in the same file."""
        if not code.startswith(self.code) or self.kind == IDLE:
            return False
        if self.kind == FILE:
            return True
        if place.cell != self.comment.place.cell:
            return False
        if self.kind == BLOCK:
            return self.first < place.line < self.last
        return any(self.first <= line <= self.last for line in (place.line, place.end_line))


@record(frozen=True, slots=True)
class Suppressions:
    """What the comments of a file suppress, in the order of the text."""

    all: tuple[Suppression, ...] = ()

    @classmethod
    def of(cls, path: str, texts: Mapping[int | None, str]) -> Suppressions:
        """Return the suppressions of a file. `texts` has a notebook's cells by number, or a file's text under None."""
        found = [each for cell, text in texts.items() for each in _suppressions(path, cell, text)]
        return cls(tuple(sorted(found, key=lambda each: each.place)))

    def covering(self, code: str, place: Place) -> list[Suppression]:
        """Return what covers a finding, the narrowest first: the line, blocks from the inside out, the file."""
        return Coverage(self)(code, place)


class Coverage:
    """A lookup of what covers findings, for many queries: there may be as many comments as findings."""

    def __init__(self, suppressions: Suppressions) -> None:
        self._beyond = [each for each in suppressions.all if each.kind != INLINE]
        self._lines: dict[tuple[int | None, int], list[Suppression]] = defaultdict(list)
        for each in suppressions.all:
            for line in range(each.first, each.last + 1) if each.kind == INLINE else ():
                self._lines[each.comment.place.cell, line].append(each)

    def __call__(self, code: str, place: Place) -> list[Suppression]:
        """Return what covers a finding, the narrowest first: the line, blocks from the inside out, the file."""
        inline = [each for line in (place.line, place.end_line) for each in self._lines.get((place.cell, line), ())]
        found = [each for each in dict.fromkeys((*inline, *self._beyond)) if each.covers(code, place)]
        ranks = (INLINE, BLOCK, FILE)
        return sorted(found, key=lambda each: (ranks.index(each.kind), -each.first))


class _Found(NamedTuple):
    """A comment in a text, with its line and column from 1.

    `first` is the first line of its physical line, which a multi-line string or a backslash extends.
    """

    line: int
    column: int
    text: str
    first: int
    sure: bool = True


class Row(NamedTuple):
    """A physical line: its first and last line, and the column, from 1, and text of a comment at its end."""

    first: int
    last: int
    comment: tuple[int, str] | None = None


def rows_of(cell: int | None, text: str) -> list[Row] | None:
    """Return the physical lines of a text, each of which can end in a comment; None if the text is not Python."""
    masked = None if cell is None else mask(text)
    if cell is not None and masked is None:
        return None
    python = text if masked is None else "".join(line.text for line in masked)
    found = _comments(text, lines_of(text)) if cell is None else _cell_comments(text, lines_of(text))
    comments = {each.line: (each.column, each.text) for each in found}
    try:
        return [Row(first, last, comments.get(last)) for first, last in _joined(python)]
    except (tokenize.TokenError, SyntaxError):
        return None


def _joined(text: str) -> Iterator[tuple[int, int]]:
    """Yield the first and last line of each physical line, which strings and backslashes extend."""
    first = within = 0
    for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
        first = first or token.start[0]
        within += _NESTS.get(tokenize.tok_name[token.type], 0)
        if token.type in (tokenize.NEWLINE, tokenize.NL) and not within:
            yield first, token.start[0]
            first = 0


def _suppressions(path: str, cell: int | None, text: str) -> Iterator[Suppression]:
    if not may_suppress(text):
        return
    rows = lines_of(text)
    blocks = _Blocks()
    for found in _comments(text, rows) if cell is None else _cell_comments(text, rows):
        before = rows[found.line - 1][: found.column - 1].rstrip()
        comment = _comment(path, cell, found, before, len(rows))
        for directive in directives(found.text, comment.alone):
            if directive.word in ("off", "on"):
                yield from blocks.switch(comment, directive)
                continue
            kind = INLINE if directive.word == "noqa" else FILE
            for code, span in _codes(comment, directive):
                if kind == FILE or _OURS.fullmatch(code):
                    yield Suppression(kind, code, comment, span, found.first, found.line, directive.reason)
    yield from blocks.end()


def _comment(path: str, cell: int | None, found: _Found, before: str, lines: int) -> Comment:
    line, end = found.line, found.column + len(found.text)
    place = Place(path, line, found.column, line, end, cell)
    if before:
        whole = replace(place, column=len(before) + 1)
    elif line < lines:
        whole = Place(path, line, 1, line + 1, 1, cell)
    else:
        whole = replace(place, column=1)
    return Comment(place, found.text, whole, not before, found.sure)


def _codes(comment: Comment, directive: Directive) -> list[tuple[str, Span]]:
    """Return the codes of a directive in capitals, with their spans; "" and the directive's span if it has none."""
    return [(comment.text[slice(*span)].upper(), span) for span in directive.codes] or [("", directive.span)]


class _Blocks:
    """The `off` comments that no `on` has ended yet, the innermost last."""

    def __init__(self) -> None:
        self._open: list[list[Suppression]] = []

    def switch(self, comment: Comment, directive: Directive) -> Iterator[Suppression]:
        """Process an `off` or `on`; yield the suppressions that it ends, or itself if it is an `on` that ends none."""
        line = comment.place.line
        if directive.word == "off":
            codes = _codes(comment, directive)
            opened = [Suppression(BLOCK, code, comment, span, line, reason=directive.reason) for code, span in codes]
            self._open.append(opened)
            return
        for code, span in _codes(comment, directive):
            ended = self._ended(code)
            yield from (replace(each, last=line, end=End(comment, span)) for each in ended)
            if not ended:
                yield Suppression(IDLE, code, comment, span, line, line)

    def _ended(self, code: str) -> list[Suppression]:
        """Return what an `on` ends: the innermost block, or one code of the innermost block that names it."""
        if not code:
            return self._open.pop() if self._open else []
        for block in reversed(self._open):
            named = [each for each in block if each.code == code]
            if named:
                block[:] = [each for each in block if each.code != code]
                self._open = [each for each in self._open if each]
                return named
        return []

    def end(self) -> Iterator[Suppression]:
        """Yield the suppressions of the blocks that last to the end of the text."""
        for block in self._open:
            yield from block


def _comments(text: str, rows: list[str]) -> list[_Found]:
    """Return the comments of a Python text; if it cannot be tokenized, what looks like one on each line."""
    try:
        return list(_tokenized(text))
    except (tokenize.TokenError, SyntaxError):
        return [found for number, row in enumerate(rows, 1) if (found := _seeming(number, row)) is not None]


def _tokenized(text: str) -> Iterator[_Found]:
    first = 0
    for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
        first = first or token.start[0]
        if token.type == tokenize.COMMENT:
            yield _Found(token.start[0], token.start[1] + 1, token.string, first)
        elif token.type in (tokenize.NEWLINE, tokenize.NL):
            first = 0


def _seeming(number: int, row: str) -> _Found | None:
    start = in_line(row)
    return None if start is None else _Found(number, start + 1, row[start:].rstrip(), number, sure=False)


def _cell_comments(text: str, rows: list[str]) -> list[_Found]:
    """Return the comments of a notebook's cell: those of its Python, and what looks like one on lines of magics."""
    masked = mask(text)
    if masked is None:
        return []
    python = "".join(line.text for line in masked)
    shifts = [line.shift for line in masked]
    comments = [
        each._replace(column=each.column + shifts[each.line - 1]) for each in _comments(python, lines_of(python))
    ]
    found = {each.line: each for each in comments if rows[each.line - 1][each.column - 1 :].startswith(each.text)}
    for number, (row, line) in enumerate(zip(rows, masked, strict=False), 1):
        masks = not row.endswith(line.text.rstrip("\r\n")) or not line.text.strip()
        seeming = _seeming(number, row) if masks and number not in found else None
        if seeming is not None:
            found[number] = seeming
    return [found[number] for number in sorted(found)]
