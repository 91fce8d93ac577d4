"""A fix as the lines that it removes and adds, computed from its edits alone, without a comparison of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from detlint.finding import Edit
from detlint.support.records import record

_AROUND = 1  # lines shown before and after
_LONGEST = 40  # lines shown of those removed, or added, at one place


@record(frozen=True)
class Hunk:
    """Lines of a file, or of a cell of a notebook, that a fix changes. `line` is the first of `before`, from 1."""

    path: str
    cell: int | None
    line: int
    before: tuple[str, ...]
    old: tuple[str, ...]
    new: tuple[str, ...]
    after: tuple[str, ...]

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield the lines with their marks: a space, "-" or "+"."""
        for mark, lines in ((" ", self.before), ("-", self.old), ("+", self.new), (" ", self.after)):
            shown = lines if len(lines) <= _LONGEST else (*lines[:_LONGEST], f"... {len(lines) - _LONGEST} more lines")
            yield from ((mark, line) for line in shown)


def hunks(edits: Iterable[Edit], texts: Mapping[tuple[str, int | None], Sequence[str]]) -> Iterator[Hunk]:
    """Yield what edits change, by place. `texts` has the lines of each file or cell, without line endings."""
    ordered = sorted(edits, key=lambda edit: edit.place)
    for (path, cell), group in groupby(ordered, key=lambda edit: (edit.place.path, edit.place.cell)):
        lines = texts[path, cell]
        together: list[Edit] = []
        for edit in group:
            if together and edit.place.line > together[-1].place.end_line + 2 * _AROUND:
                yield from _hunk(together, lines)
                together = []
            together.append(edit)
        yield from _hunk(together, lines)


def _hunk(edits: Sequence[Edit], lines: Sequence[str]) -> Iterator[Hunk]:
    """Yield what edits near each other change; nothing if they do not fit the lines."""
    place = edits[0].place
    first, last = place.line, max(edit.place.end_line for edit in edits)
    if last > len(lines):
        return
    old = list(lines[first - 1 : last])
    text = "\n".join(old)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line) + 1)
    for edit in reversed(edits):
        at = edit.place
        start = starts[at.line - first] + at.column - 1
        end = starts[at.end_line - first] + at.end_column - 1
        text = text[:start] + edit.text.replace("\r\n", "\n").replace("\r", "\n") + text[end:]
    new = text.split("\n")
    while old and new and old[0] == new[0]:
        old, new, first = old[1:], new[1:], first + 1
    while old and new and old[-1] == new[-1]:
        old, new, last = old[:-1], new[:-1], last - 1
    begin = max(first - 1 - _AROUND, 0)
    before, after = lines[begin : first - 1], lines[last : last + _AROUND]
    if before and not before[0].strip():
        before, begin = before[1:], begin + 1
    if after and not after[-1].strip():
        after = after[:-1]
    yield Hunk(place.path, place.cell, begin + 1, tuple(before), tuple(old), tuple(new), tuple(after))
