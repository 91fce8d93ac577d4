"""`--format text`: what a person reads."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.finding import Severity, Verification
from detlint.output.words import count, measured, related, where
from detlint.printed import no_command, one_line
from detlint.report import Judged, Report
from detlint.sources.source import lines_of

if TYPE_CHECKING:
    from rich.console import Console

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}
_VERDICTS = {"confirmed": "bold red", "not-observed": "bold green", "deterministic-path": "bold green"}
_Part = str | tuple[str, str]
_LONGEST = 160
_WIDTH = 1000  # characters after which a line is broken: rich takes long to say it again


def render(
    report: Report, read: Callable[[str], Mapping[int | None, str]], color: bool = False, statistics: bool = False
) -> str:
    """The report as text. `read` gives the texts of an analysed file: of its cells, or the one under None."""
    page = _Page(color)
    files: dict[str, Mapping[int | None, list[str]]] = {}
    if statistics:
        _statistics(page, report)
    for judged in report.findings if not statistics else ():
        place = judged.finding.place
        if place.path not in files:
            texts = read(place.path)
            files[place.path] = {cell: lines_of(text) for cell, text in texts.items() if text}
        _finding(page, judged, files[place.path].get(place.cell, []))
    page.line(_summary(report))
    return page.file.getvalue()


class _Page:
    """Lines as they are printed, each of parts: a text, or a text with its style."""

    def __init__(self, color: bool) -> None:
        self.file = io.StringIO()
        self._color = color

    @cached_property
    def _console(self) -> Console:
        from rich.console import Console  # what is plain does without it, as most of what is piped is

        return Console(
            file=self.file, force_terminal=self._color, no_color=not self._color, width=_WIDTH, highlight=False
        )

    def line(self, *parts: _Part) -> None:
        """Print a line."""
        plain = "".join([part if isinstance(part, str) else part[0] for part in parts])
        if not self._color and plain.isascii() and plain.isprintable() and len(plain) < _WIDTH:
            self.file.write(f"{plain}\n")
            return
        from rich.text import Text

        self._console.print(Text.assemble(*parts))


def _finding(page: _Page, judged: Judged, lines: list[str]) -> None:
    finding, rule = judged.finding, judged.rule
    place = finding.place
    style = _STYLES[judged.severity]
    page.line(
        (no_command(where(place)), "bold"), ": ", (judged.severity.value, style), " ",
        (finding.code, "bold"), f" {one_line(finding.message)}",
    )  # fmt: skip
    if place.line <= len(lines):
        _excerpt(page, judged, lines[place.line - 1], style)
    width = len(str(place.line))
    for told in related(finding):
        page.line(f"{' ' * width} = {one_line(told)}")
    if finding.verification is not None:
        page.line(f"{' ' * width} = ", ("verified: ", "bold"), *_verified(finding.verification))
    page.line(f"{' ' * width} = ", ("why: ", "bold"), rule.why)
    page.line(f"{' ' * width} = ", ("help: ", "bold"), one_line(rule.help.format(**finding.details)))
    page.line()


def _verified(verification: Verification) -> tuple[_Part, ...]:
    style = _VERDICTS.get(verification.verdict, "bold yellow")
    return (verification.verdict, style), one_line(measured(verification))


def _excerpt(page: _Page, judged: Judged, line: str, style: str) -> None:
    place = judged.finding.place
    number = str(place.line)
    gutter = " " * len(number)
    start = place.column - 1
    end = place.end_column - 1 if place.end_line == place.line else len(line.rstrip())
    indent = len(line) - len(line.lstrip())
    shown = line[indent:].expandtabs(1)
    start, end = max(start - indent, 0), max(end - indent, start - indent + 1)
    if len(shown) > _LONGEST:
        first = max(min(start - 20, len(shown) - _LONGEST), 0)
        shown, start, end = shown[first : first + _LONGEST], start - first, min(end - first, _LONGEST)
    page.line(f"{gutter} |")
    page.line(f"{number} | {one_line(shown)}")
    before, marked = _cells(one_line(shown[:start])), _cells(one_line(shown[start:end]))
    page.line(f"{gutter} | {' ' * before}", ("^" * max(marked, 1), style))


def _cells(text: str) -> int:
    """How wide a text is in a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _statistics(page: _Page, report: Report) -> None:
    counts = Counter((judged.rule.code, judged.rule.name, judged.severity.value) for judged in report.findings)
    for (code, name, severity), number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        page.line(f"{number:6}  {code}  {severity:8} {name}")


def _summary(report: Report) -> _Part:
    counts = Counter(judged.severity for judged in report.findings)
    files = count(report.files, "file")
    entries = count(report.entry_points, "entry point")
    if not report.findings:
        return f"Nothing found in {files} ({entries}).", "green"
    parts = ", ".join(count(counts[severity], severity.value) for severity in Severity if counts[severity])
    total = count(len(report.findings), "finding")
    return f"{total} in {files} ({entries}): {parts}."
