"""The files of a report as other tools see them: names relative to the working directory, and lines of the raw text."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from detlint.finding import Finding, Place
from detlint.listing import Buffer
from detlint.report import Judged, Report
from detlint.review.fingerprints import fingerprints
from detlint.sources import cells, notebook, source
from detlint.sources.magics import LINES
from detlint.support.records import record

if TYPE_CHECKING:
    from detlint.applying.fixer import Settings  # it imports the parsers


@record(frozen=True)
class Span:
    """A span of a file's own text: lines and columns from 1, columns in characters, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class Text:
    """A text whose offsets can be converted to lines and columns."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def lines(self) -> list[str]:
        """The lines, with their line endings."""
        return LINES.findall(self.text)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(len(line) for line in self.lines)]

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line and column; for a line after the last, that of the end."""
        return min(self._starts[min(line, len(self._starts)) - 1] + column - 1, len(self.text))

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset. A final newline begins another line."""
        line = bisect_right(self._starts, offset)
        if line > len(self.lines) > 0 and not self.lines[-1].endswith(("\r", "\n")):
            line -= 1
        return line, offset - self._starts[line - 1] + 1

    def span(self, start: int, end: int) -> Span:
        """Return the span between two offsets."""
        return Span(*self.position(start), *self.position(end))

    def byte_column(self, line: int, column: int) -> int:
        """Return a column counted in bytes of UTF-8."""
        before = self.lines[line - 1][: column - 1] if line <= len(self.lines) else " " * (column - 1)
        return len(before.encode("utf-8", "surrogatepass")) + 1


class Files:
    """The analysed files as they are now, each read once; one that cannot be read counts as empty."""

    def __init__(self, settings: Callable[[], Settings], given: Buffer | None = None) -> None:
        """Create the files. `settings` returns how `detlint --fix` makes the fixes of these files.

        The content of `given` takes precedence over the file on disk.
        """
        self._settings = settings
        self._given = given
        self._texts: dict[str, Text] = {}
        self._characters: dict[str, Mapping[int, list[tuple[int, int]]]] = {}
        self._folder = Path.cwd()

    @cached_property
    def settings(self) -> Settings:
        """The settings with which `detlint --fix` makes the fixes of these files."""
        return self._settings()

    def read(self, path: str) -> str:
        """Return the text of a file without its BOM. Raises UnreadableError."""
        if path not in self._texts:
            given = self._given if self._given is not None and self._given.is_at(Path(path)) else None
            text = source.read(Path(path)) if given is None else source.decode(given.content)
            self._texts[path] = Text(text.removeprefix("\ufeff"))
        return self._texts[path].text

    def text(self, path: str) -> Text:
        """Return the text of a file; of a notebook, its JSON. It is empty if the file cannot be read."""
        try:
            self.read(path)
        except source.UnreadableError:
            return Text("")
        return self._texts[path]

    def texts(self, path: str) -> Mapping[int | None, str]:
        """Return the texts of a file's cells by number, or the one text under None; empty if they cannot be read."""
        try:
            return notebook.texts(path, self.text(path).text)
        except source.UnreadableError:
            return {}

    def name(self, path: str) -> str:
        """Return the path of a file relative to the working directory if it is below that, else the path unchanged."""
        whole = Path(os.path.normpath(self._folder / path))
        return whole.relative_to(self._folder).as_posix() if whole.is_relative_to(self._folder) else path

    def span(self, place: Place) -> Span:
        """Return where a place is in the file's own text: for a place in a cell, in the JSON of the notebook."""
        if place.cell is None:
            return Span(place.line, place.column, place.end_line, place.end_column)
        if place.path not in self._characters:
            there = self.texts(place.path)  # empty for a notebook that was removed or changed after the analysis
            self._characters[place.path] = cells.characters(self.text(place.path).text) if there else {}
        characters = self._characters[place.path].get(place.cell, [])
        if not characters:
            return Span(1, 1, 1, 1)
        cell = Text(self.texts(place.path).get(place.cell, ""))
        start = cell.offset(place.line, place.column)
        end = cell.offset(place.end_line, place.end_column)
        first = characters[start][0] if start < len(characters) else characters[-1][1]
        last = characters[min(end, len(characters)) - 1][1] if end > start else first
        return self.text(place.path).span(first, last)

    def known(self, report: Report) -> dict[int, str]:
        """Return the fingerprints of all findings of a report, including those not shown, by `id` of the finding."""
        findings = [judged.finding for judged in everything(report)]
        names = {finding.place.path: self.name(finding.place.path) for finding in findings}
        found = fingerprints(findings, self.texts, names)
        return {id(finding): fingerprint for finding, fingerprint in zip(findings, found, strict=True)}


def everything(report: Report) -> list[Judged]:
    """Return the findings of a report, including those not shown, by place, code and message."""
    judged: Iterable[Judged] = (*report.findings, *(each.judged for each in report.suppressed))
    return sorted(judged, key=lambda each: _key(each.finding))


def _key(finding: Finding) -> tuple[Place, str, str]:
    return finding.place, finding.code, finding.message
