"""The output of `--format html`: one page to open in a browser. It needs no network, and is the same in each run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from detlint import __version__
from detlint.finding import Severity
from detlint.output import html_entries, html_filters, html_rules
from detlint.output.files import Files
from detlint.output.html_finding import Articles
from detlint.output.html_rules import rules_of
from detlint.output.words import count
from detlint.programs.entries import Entry
from detlint.report import Judged, Programs, Report
from detlint.support import page
from detlint.support.page import prose, text

_OPEN = 30  # the most findings that are all shown opened
_FOLDER = Path(__file__).parent


def render(report: Report, files: Files, programs: Programs | None = None) -> str:
    """Return the report as a page; with `programs` it also says how each entry point is seeded."""
    body = "\n".join(_body(report, Articles(files), programs))
    style, script = page.beside("html.css", _FOLDER), page.beside("html.js", _FOLDER)
    return page.whole(f"detlint: {_verdict(report)}", body, style, script)


def _verdict(report: Report) -> str:
    if not report.findings:
        return f"nothing found in {count(report.files, 'file')}"
    return f"{count(len(report.findings), 'finding')} in {count(report.files, 'file')}"


def _body(report: Report, articles: Articles, programs: Programs | None) -> Iterator[str]:
    entries = [] if programs is None else html_entries.shown(programs)
    loading = {} if programs is None else _loading(entries, programs)
    yield from _head(report)
    if programs is not None:
        found: Counter[int] = Counter()
        for judged in report.findings:
            found.update(loading.get(judged.finding.place.path, ()))
        yield html_entries.section(programs, entries, found)
    if report.findings:
        yield "<main><h2>Findings</h2>"
        yield html_filters.form(report.findings, entries)
        opened = len(report.findings) <= _OPEN
        for path, group in groupby(report.findings, key=lambda judged: judged.finding.place.path):
            yield _file(path, list(group), articles, loading.get(path, ()), opened)
        yield "<p id=none class=faint hidden>No finding passes these filters.</p></main>"
    yield html_rules.section(rules_of(report.findings))
    yield f"<footer class=faint>detlint {text(__version__)}. No line of the code was run.</footer>"


def _head(report: Report) -> Iterator[str]:
    counts = Counter(judged.severity for judged in report.findings)
    badges = " ".join(
        f'<b class="sev {each.value}">{count(counts[each], each.value)}</b>' for each in Severity if counts[each]
    )
    looked = f"Looked at {count(report.files, 'file')} and {count(report.entry_points, 'entry point')}."
    hidden = len(report.suppressed)
    if hidden:
        looked += f" {count(hidden, 'finding')} withheld by comments, settings or a baseline."
    verdict = _verdict(report)
    yield f"<header><h1>detlint: {text(verdict)}</h1><p>{badges} <span class=faint>{text(looked)}</span></p></header>"
    told = [*report.errors, *report.notes]
    if told:
        yield f"<ul class=notes>{''.join(f'<li>{prose(each)}</li>' for each in told)}</ul>"


def _loading(entries: Sequence[Entry], programs: Programs) -> Mapping[str, Sequence[int]]:
    """Return the indices of the entries that load a file, by its path."""
    found: dict[str, list[int]] = {}
    for number, entry in enumerate(entries):
        for path in programs.loaded(entry.path):
            found.setdefault(path, []).append(number)
    return found


def _file(path: str, found: Sequence[Judged], articles: Articles, programs: Sequence[int], opened: bool) -> str:
    rows = "".join(articles.article(judged, opened) for judged in found)
    numbers = f' data-p="{" ".join(map(str, programs))}"' if programs else ""
    head = f"<h3><span class=name>{text(path)}</span> <span class=count>{len(found)}</span></h3>"
    return f"<section class=file{numbers}>{head}\n{rows}</section>"
