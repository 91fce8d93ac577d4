"""`--format text`: what a person reads."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Mapping

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from detlint.finding import Severity, Verification
from detlint.output.words import count, measured, related, where
from detlint.printed import no_command, one_line
from detlint.report import Judged, Report
from detlint.source import lines_of

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}
_VERDICTS = {"confirmed": "bold red", "not-observed": "bold green", "deterministic-path": "bold green"}
_LONGEST = 160
_WIDTH = 1000  # characters after which a line is broken: rich takes long to say it again


def render(
    report: Report, read: Callable[[str], Mapping[int | None, str]], color: bool = False, statistics: bool = False
) -> str:
    """The report as text. `read` gives the texts of an analysed file: of its cells, or the one under None."""
    console = Console(file=io.StringIO(), force_terminal=color, no_color=not color, width=_WIDTH, highlight=False)
    files: dict[str, Mapping[int | None, list[str]]] = {}
    if statistics:
        _statistics(console, report)
    for judged in report.findings if not statistics else ():
        place = judged.finding.place
        if place.path not in files:
            texts = read(place.path)
            files[place.path] = {cell: lines_of(text) for cell, text in texts.items() if text}
        _finding(console, judged, files[place.path].get(place.cell, []))
    console.print(_summary(report))
    output = console.file
    assert isinstance(output, io.StringIO)
    return output.getvalue()


def _finding(console: Console, judged: Judged, lines: list[str]) -> None:
    finding, rule = judged.finding, judged.rule
    place = finding.place
    style = _STYLES[judged.severity]
    head = Text.assemble(
        (no_command(where(place)), "bold"), ": ", (judged.severity.value, style), " ",
        (finding.code, "bold"), f" {one_line(finding.message)}",
    )  # fmt: skip
    _print(console, head)
    if place.line <= len(lines):
        _excerpt(console, judged, lines[place.line - 1], style)
    width = len(str(place.line))
    for told in related(finding):
        _print(console, Text(f"{' ' * width} = {one_line(told)}"))
    if finding.verification is not None:
        _print(console, Text.assemble(f"{' ' * width} = ", ("verified: ", "bold"), _verified(finding.verification)))
    _print(console, Text.assemble(f"{' ' * width} = ", ("why: ", "bold"), rule.why))
    _print(
        console, Text.assemble(f"{' ' * width} = ", ("help: ", "bold"), one_line(rule.help.format(**finding.details)))
    )
    _print(console, Text())


def _print(console: Console, text: Text) -> None:
    """Print a line. What is plain and short stays as it is, and rich takes long to find that."""
    plain = text.plain
    if not console.is_terminal and plain.isascii() and plain.isprintable() and len(plain) < _WIDTH:
        console.file.write(f"{plain}\n")
    else:
        console.print(text)


def _verified(verification: Verification) -> Text:
    style = _VERDICTS.get(verification.verdict, "bold yellow")
    return Text.assemble((verification.verdict, style), one_line(measured(verification)))


def _excerpt(console: Console, judged: Judged, line: str, style: str) -> None:
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
    _print(console, Text(f"{gutter} |"))
    _print(console, Text(f"{number} | {one_line(shown)}"))
    before, marked = cell_len(one_line(shown[:start])), cell_len(one_line(shown[start:end]))
    _print(console, Text.assemble(f"{gutter} | {' ' * before}", ("^" * max(marked, 1), style)))


def _statistics(console: Console, report: Report) -> None:
    counts = Counter((judged.rule.code, judged.rule.name, judged.severity.value) for judged in report.findings)
    for (code, name, severity), number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        _print(console, Text(f"{number:6}  {code}  {severity:8} {name}"))


def _summary(report: Report) -> Text:
    counts = Counter(judged.severity for judged in report.findings)
    files = count(report.files, "file")
    entries = count(report.entry_points, "entry point")
    if not report.findings:
        return Text(f"Nothing found in {files} ({entries}).", "green")
    parts = ", ".join(count(counts[severity], severity.value) for severity in Severity if counts[severity])
    total = count(len(report.findings), "finding")
    return Text(f"{total} in {files} ({entries}): {parts}.")
