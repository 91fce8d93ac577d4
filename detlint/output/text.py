"""The output of `--format text`, `concise` and `grouped`, and of `--statistics`, for people to read."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from detlint.finding import Safety, Severity, Verification
from detlint.output.lines import Lines, Part, cells
from detlint.output.words import count, measured, related, spot, where
from detlint.report import Judged, Report
from detlint.sources.source import lines_of
from detlint.support.printed import no_command, one_line

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}
_VERDICTS = {"confirmed": "bold red", "not-observed": "bold green", "deterministic-path": "bold green"}
Read = Callable[[str], Mapping["int | None", str]]
_LONGEST = 160
_MANY = 3  # so many other places of a cause are listed in lines of their own
_WIDTH = 1000  # characters after which a coloured line is broken: rich is slow on longer ones


def render(
    report: Report,
    read: Read,
    color: bool = False,
    form: str = "text",
    summary: bool = True,
) -> str:
    """Return the report as text, in one of four forms: "text", "concise", "grouped" or "statistics".

    `read` returns the texts of an analysed file: of its cells, or the one under None. With `summary` the last line says
    how much was found.
    """
    page = Lines(color, _WIDTH)
    _FORMS[form](page, report, read)
    if summary:
        page.line(_summary(report))
    return page.text()


def _full(page: Lines, report: Report, read: Read) -> None:
    """Write findings with lines, reason and help; of many with one cause only the first, with all places."""
    files: dict[str, Mapping[int | None, list[str]]] = {}
    causes: dict[object, list[Judged]] = defaultdict(list)
    for judged in report.findings:
        causes[_cause(judged)].append(judged)
    for judged in report.findings:
        first, *others = causes[_cause(judged)]
        if len(others) < _MANY:
            others = []
        elif judged is not first:
            continue
        place = judged.finding.place
        if place.path not in files:
            texts = read(place.path)
            files[place.path] = {cell: lines_of(text) for cell, text in texts.items() if text}
        _finding(page, judged, files[place.path].get(place.cell, []), others)


def _cause(judged: Judged) -> object:
    """Return what findings share that one decision settles: a kernel that many places call.

    Other findings, such as those that have a fix, stand alone.
    """
    finding = judged.finding
    fixed = finding.fix is not None and finding.fix.safety is not Safety.DISPLAY
    if finding.operation is None or fixed:
        return id(judged)
    verdict = None if finding.verification is None else (finding.verification.verdict, finding.verification.text)
    return finding.code, judged.severity, finding.operation.row, finding.operation.raising, judged.help, verdict


def _concise(page: Lines, report: Report, read: Read) -> None:
    """Write a line for each finding."""
    for judged in report.findings:
        page.line(*_head(judged, where(judged.finding.place)))


def _grouped(page: Lines, report: Report, read: Read) -> None:
    """Write a line for each finding, under the name of its file."""
    for path, found in groupby(report.findings, lambda judged: judged.finding.place.path):
        page.line((no_command(path), "bold"), ":")
        for judged in found:
            page.line("  ", *_head(judged, spot(judged.finding.place)))
        page.line()


def _head(judged: Judged, place: str) -> tuple[Part, ...]:
    """Return a finding as a line."""
    finding, style = judged.finding, _STYLES[judged.severity]
    severity, message = (judged.severity.value, style), one_line(finding.message)
    return (no_command(place), "bold"), ": ", severity, " ", (finding.code, "bold"), f" {message}"


def _finding(page: Lines, judged: Judged, lines: list[str], others: Sequence[Judged]) -> None:
    finding = judged.finding
    place = finding.place
    style = _STYLES[judged.severity]
    page.line(*_head(judged, where(place)))
    if place.line <= len(lines):
        _excerpt(page, judged, lines[place.line - 1], style)
    width = len(str(place.line))
    for told in related(finding):
        page.line(f"{' ' * width} = {one_line(told)}")
    if others:
        page.line(f"{' ' * width} = ", ("likewise: ", "bold"), f"at {len(others)} more places")
        for path, found in groupby(others, lambda each: each.finding.place.path):
            spots = ", ".join(spot(each.finding.place) for each in found)
            page.line(f"{' ' * width}   {no_command(f'{path}:{spots}')}")
    if finding.verification is not None:
        page.line(f"{' ' * width} = ", ("verified: ", "bold"), *_verified(finding.verification))
    page.line(f"{' ' * width} = ", ("why: ", "bold"), one_line(judged.why))
    page.line(f"{' ' * width} = ", ("help: ", "bold"), one_line(judged.help))
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


def _statistics(page: Lines, report: Report, read: Read) -> None:
    """Write how many findings each rule has."""
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


_FORMS = {"text": _full, "concise": _concise, "grouped": _grouped, "statistics": _statistics}
