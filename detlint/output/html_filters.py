"""The filters of the findings on a page, with the number of findings of each kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from detlint.catalogue import FAMILIES, PROMISES
from detlint.finding import Safety, Severity
from detlint.output.entries_words import names_of
from detlint.output.html_finding import FIXES, NO_FIX, kind_of_fix
from detlint.output.html_rules import rules_of
from detlint.programs.entries import Entry
from detlint.report import Judged
from detlint.support.page import text

_SAFETIES = {Safety.SAFE: "safe", Safety.UNSAFE: "unsafe", Safety.DISPLAY: "by hand"}


def form(findings: Sequence[Judged], entries: Sequence[Entry]) -> str:
    """Return the form; a browser that runs no scripts does not show it."""
    parts = [
        '<label class=wide>Search <input type=search id=text placeholder="path, message or code"></label>',
        _severities(findings),
        _choice("rule", "Rule", _codes(findings)),
        _choice("fix", "Fix", _fixes(findings)),
        _choice("promise", "Breaks", _promises(findings)),
    ]
    if len(entries) > 1:
        names = ((str(number), name) for number, name in enumerate(names_of(entries)))
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
    """Return the codes found as options, by family; a family can be chosen too."""
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
    words = {**{FIXES[safety]: told for safety, told in _SAFETIES.items()}, NO_FIX: "none"}
    counts = Counter(kind_of_fix(judged.finding) for judged in findings)
    return "".join(_option(name, f"{told} ({counts[name]})") for name, told in words.items() if counts[name])


def _promises(findings: Sequence[Judged]) -> str:
    """Return the promises that the rules break as options, whose values are the codes of these rules."""
    counts = Counter(promise for judged in findings for promise in judged.rule.breaks)
    rules = rules_of(findings)
    options = (
        (" ".join(rule.code for rule in rules if promise in rule.breaks), f"{promise} ({counts[promise]})")
        for promise in PROMISES
        if counts[promise]
    )
    return "".join(_option(value, told) for value, told in options)
