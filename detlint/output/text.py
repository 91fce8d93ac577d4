"""`--format text`: what a person reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from detlint.finding import Severity, Verification
from detlint.output.lines import Lines, Part, cells
from detlint.output.words import count, measured, related, where
from detlint.printed import no_command, one_line
from detlint.report import Judged, Report
from detlint.sources.source import lines_of

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}
_VERDICTS = {"confirmed": "bold red", "not-observed": "bold green", "deterministic-path": "bold green"}
_LONGEST = 160
_WIDTH = 1000  # characters after which a coloured line is broken: rich takes long to lay out longer ones


def render(
    report: Report, read: Callable[[str], Mapping[int | None, str]], color: bool = False, statistics: bool = False
) -> str:
    """The report as text. `read` gives the texts of an analysed file: of its cells, or the one under None."""
    page = Lines(color, _WIDTH)
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
    return page.text()


def _finding(page: Lines, judged: Judged, lines: list[str]) -> None:
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


def _verified(verification: Verification) -> tuple[Part, ...]:
    style = _VERDICTS.get(verification.verdict, "bold yellow")
    return (verification.verdict, style), one_line(measured(verification))


def _excerpt(page: Lines, judged: Judged, line: str, style: str) -> None:
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
    before, marked = cells(one_line(shown[:start])), cells(one_line(shown[start:end]))
    page.line(f"{gutter} | {' ' * before}", ("^" * max(marked, 1), style))


def _statistics(page: Lines, report: Report) -> None:
    counts = Counter((judged.rule.code, judged.rule.name, judged.severity.value) for judged in report.findings)
    for (code, name, severity), number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        page.line(f"{number:6}  {code}  {severity:8} {name}")


def _summary(report: Report) -> Part:
    counts = Counter(judged.severity for judged in report.findings)
    files = count(report.files, "file")
    entries = count(report.entry_points, "entry point")
    if not report.findings:
        return f"Nothing found in {files} ({entries}).", "green"
    parts = ", ".join(count(counts[severity], severity.value) for severity in Severity if counts[severity])
    total = count(len(report.findings), "finding")
    return f"{total} in {files} ({entries}): {parts}."
