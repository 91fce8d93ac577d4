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
    """A comment that suppresses.

    `whole` is what goes where nothing is left of it: its line if that is its own (`alone`), else it with the space
    before it. One that is not `sure` was told by the characters of its line, and may be a part of a string.
    """

    place: Place
    text: str
    whole: Place
    alone: bool
    sure: bool


@record(frozen=True, slots=True)
class End:
    """Where an `# detlint: on` ends a block: the code, or all of it."""

    comment: Comment
    span: Span


@record(frozen=True, slots=True)
class Suppression:
    """What one code in a comment covers: findings whose code begins so, or all where it is "".

    `kind` is INLINE: those that begin or end on the lines from `first` to `last`; BLOCK: those that begin between them;
    FILE: those of the file; IDLE: none, an `on` that ends nothing. `span` is where the code stands in the comment.
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
        """Where the code stands."""
        here, (start, end) = self.comment.place, self.span
        return replace(here, column=here.column + start, end_column=here.column + end)

    def covers(self, code: str, place: Place) -> bool:
        """Whether it covers a finding of `code` at `place`, which is in its file."""
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
        """Those of a file. `texts` are the cells of a notebook by number; another file has its text under None."""
        found = [each for cell, text in texts.items() for each in _suppressions(path, cell, text)]
        return cls(tuple(sorted(found, key=lambda each: each.place)))

    def covering(self, code: str, place: Place) -> list[Suppression]:
        """What covers a finding, the narrowest first: the line, blocks from the inside out, the file."""
        return Coverage(self)(code, place)


class Coverage:
    """What covers findings, for those who ask of many: there may be as many comments as findings."""

    def __init__(self, suppressions: Suppressions) -> None:
        self._beyond = [each for each in suppressions.all if each.kind != INLINE]
        self._lines: dict[tuple[int | None, int], list[Suppression]] = defaultdict(list)
        for each in suppressions.all:
            for line in range(each.first, each.last + 1) if each.kind == INLINE else ():
                self._lines[each.comment.place.cell, line].append(each)

    def __call__(self, code: str, place: Place) -> list[Suppression]:
        """What covers a finding, the narrowest first: the line, blocks from the inside out, the file."""
        inline = [each for line in (place.line, place.end_line) for each in self._lines.get((place.cell, line), ())]
        found = [each for each in dict.fromkeys((*inline, *self._beyond)) if each.covers(code, place)]
        ranks = (INLINE, BLOCK, FILE)
        return sorted(found, key=lambda each: (ranks.index(each.kind), -each.first))


class _Found(NamedTuple):
    """A comment in a text: line and column from 1, and the first line of its physical line, which a string that goes
    over lines or a backslash makes longer.
    """

    line: int
    column: int
    text: str
    first: int
    sure: bool = True


class Row(NamedTuple):
    """A physical line of a text, by its first and last line, and the comment at its end: column from 1, and text."""

    first: int
    last: int
    comment: tuple[int, str] | None = None


def rows_of(cell: int | None, text: str) -> list[Row] | None:
    """The physical lines of a text, each of which a comment can end; None where this Python cannot tell its tokens."""
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
    """First and last line of each physical line, which strings and backslashes make longer."""
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
    """The codes of a directive in capitals, with their spans; "" and the span of all of it where it has none."""
    return [(comment.text[slice(*span)].upper(), span) for span in directive.codes] or [("", directive.span)]


class _Blocks:
    """The `off` comments that are not yet switched on again, the innermost last."""

    def __init__(self) -> None:
        self._open: list[list[Suppression]] = []

    def switch(self, comment: Comment, directive: Directive) -> Iterator[Suppression]:
        """Go on to an `off` or `on`; what it ends, or itself where it is an `on` that ends nothing."""
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
        """What `on` ends: the innermost block, or one code of the innermost block that names it."""
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
        """The blocks that last to the end."""
        for block in self._open:
            yield from block


def _comments(text: str, rows: list[str]) -> list[_Found]:
    """The comments of a text of Python, or what seems to be one where this Python cannot tell its tokens."""
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
    """The comments of a notebook's cell: those of its Python, and what seems to be one on the lines of magics."""
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
