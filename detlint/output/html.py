"""`--format html`: one page for a person to open. It needs no network, and is the same in each run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from detlint import __version__, page
from detlint.catalogue import FAMILIES, PROMISES, Rule
from detlint.finding import Severity
from detlint.link.entries import Entry
from detlint.output import html_entries, html_rules
from detlint.output.entries_words import name_of
from detlint.output.files import Files
from detlint.output.html_finding import Articles
from detlint.output.words import count
from detlint.page import prose, text
from detlint.report import Judged, Programs, Report

_OPEN = 30  # findings, up to which they are shown opened
_FOLDER = Path(__file__).parent


def render(report: Report, files: Files, programs: Programs | None = None) -> str:
    """The report as a page; with `programs` it says of each entry point how that is seeded, too."""
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
        yield _filters(report.findings, entries)
        opened = len(report.findings) <= _OPEN
        for path, group in groupby(report.findings, key=lambda judged: judged.finding.place.path):
            yield _file(path, list(group), articles, loading.get(path, ()), opened)
        yield "<p id=none class=faint hidden>No finding passes these filters.</p></main>"
    yield html_rules.section(_rules(report.findings))
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
    """The entries that load a file, by its path, as their numbers."""
    found: dict[str, list[int]] = {}
    for number, entry in enumerate(entries):
        for path in programs.loaded(entry.path):
            found.setdefault(path, []).append(number)
    return found


def _rules(findings: Iterable[Judged]) -> list[Rule]:
    return sorted({judged.rule.code: judged.rule for judged in findings}.values(), key=lambda rule: rule.code)


def _file(path: str, found: Sequence[Judged], articles: Articles, programs: Sequence[int], opened: bool) -> str:
    rows = "".join(articles.article(judged, opened) for judged in found)
    numbers = f' data-p="{" ".join(map(str, programs))}"' if programs else ""
    head = f"<h3><span class=name>{text(path)}</span> <span class=count>{len(found)}</span></h3>"
    return f"<section class=file{numbers}>{head}\n{rows}</section>"


def _filters(findings: Sequence[Judged], entries: Sequence[Entry]) -> str:
    """What chooses among the findings. A browser that runs no scripts does not show it."""
    parts = [
        '<label class=wide>Search <input type=search id=text placeholder="path, message or code"></label>',
        _severities(findings),
        _choice("rule", "Rule", _codes(findings)),
        _choice("fix", "Fix", _fixes(findings)),
        _choice("promise", "Breaks", _promises(findings)),
    ]
    if len(entries) > 1:
        names = ((str(number), name_of(entry)) for number, entry in enumerate(entries))
        parts.append(_choice("program", "Program", "".join(_option(value, name) for value, name in names)))
    buttons = (
        "<button type=button id=open>Open all</button><button type=button id=close>Close all</button>"
        "<button type=button id=clear>Reset</button>"
    )
    status = f"<output id=shown aria-live=polite>{len(findings)} of {len(findings)}</output>"
    return f'<form id=filters hidden aria-label="Filters">{"".join(parts)}<p class=wide>{buttons}{status}</p></form>'


def _severities(findings: Sequence[Judged]) -> str:
    counts = Counter(judged.severity for judged in findings)
    boxes = "".join(
        f"<label><input type=checkbox name=severity value={each.value} checked> {each.value} ({counts[each]})</label>"
        for each in Severity
        if counts[each]
    )
    return f"<fieldset class=wide><legend>Severity</legend>{boxes}</fieldset>"


def _choice(name: str, label: str, options: str) -> str:
    return f'<label>{label} <select id={name}><option value="">any</option>{options}</select></label>'


def _option(value: str, told: str) -> str:
    return f'<option value="{text(value)}">{text(told)}</option>'


def _codes(findings: Sequence[Judged]) -> str:
    """The codes that are found, by family; a family can be chosen, too."""
    counts = Counter(judged.finding.code for judged in findings)
    names = {judged.finding.code: judged.rule.name for judged in findings}
    groups = []
    for family, codes in groupby(sorted(counts), key=lambda code: code[3]):
        found = list(codes)
        total = sum(counts[code] for code in found)
        options = [_option(f"DET{family}", f"all DET{family} ({total})")]
        options += [_option(code, f"{code} {names[code]} ({counts[code]})") for code in found]
        groups.append(f'<optgroup label="{text(FAMILIES[family])}">{"".join(options)}</optgroup>')
    return "".join(groups)


def _fixes(findings: Sequence[Judged]) -> str:
    words = {"safe": "safe", "unsafe": "unsafe", "hand": "by hand", "none": "none"}
    counts: Counter[str] = Counter()
    for judged in findings:
        fix = judged.finding.fix
        counts["none" if fix is None else {"display": "hand"}.get(fix.safety.value, fix.safety.value)] += 1
    return "".join(_option(name, f"{told} ({counts[name]})") for name, told in words.items() if counts[name])


def _promises(findings: Sequence[Judged]) -> str:
    """The promises that rules speak of, each with the codes of those as its value."""
    counts = Counter(promise for judged in findings for promise in judged.rule.breaks)
    rules = _rules(findings)
    options = (
        (" ".join(rule.code for rule in rules if promise in rule.breaks), f"{promise} ({counts[promise]})")
        for promise in PROMISES
        if counts[promise]
    )
    return "".join(_option(value, told) for value, told in options)
