"""One finding as HTML: a line that says what and where, and below it the evidence and the fix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from detlint.analyse import undisturbed
from detlint.applying.fixer import imports, written_out
from detlint.editing.vendoring import FILE
from detlint.finding import Finding, Fix, Place, Related, Safety, Verification
from detlint.output.files import Files
from detlint.output.html_diff import Hunk, hunks
from detlint.output.html_excerpt import change, excerpt
from detlint.output.offers import is_there
from detlint.output.words import measured, spot, where
from detlint.report import Judged
from detlint.sources.source import lines_of
from detlint.support.page import prose, text

_VERDICTS = {"confirmed": "bad", "not-observed": "good", "deterministic-path": "good"}
FIXES = {  # what the page is filtered by
    Safety.SAFE: "safe",
    Safety.UNSAFE: "unsafe",
    Safety.DISPLAY: "hand",
}
NO_FIX = "none"
_MADE = {
    Safety.SAFE: "`detlint --fix` makes it",
    Safety.UNSAFE: "`detlint --fix --unsafe-fixes` makes it; it may slow down or change results",
    Safety.DISPLAY: "to be made by hand",
}


def kind_of_fix(finding: Finding) -> str:
    """Return the page's name for the fix of a finding."""
    return NO_FIX if finding.fix is None else FIXES[finding.fix.safety]


class Articles:
    """The findings of a report as HTML, one at a time."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._lines: dict[str, Mapping[int | None, list[str]]] = {}

    def article(self, judged: Judged, opened: bool) -> str:
        """Return the finding as an element that opens and closes."""
        finding = judged.finding
        severity = judged.severity.value
        head = (
            f'<b class="sev {severity}">{severity}</b> <code>{text(finding.code)}</code> '
            f"<span class=line>{text(spot(finding.place))}</span> <span class=msg>{prose(finding.message)}</span>"
        )
        data = f'data-c="{text(finding.code)}" data-s="{severity}" data-x="{kind_of_fix(finding)}"'
        body = "".join(self._body(judged))
        return f"<details class=finding {data}{' open' if opened else ''}><summary>{head}</summary>{body}</details>\n"

    def _body(self, judged: Judged) -> Iterator[str]:
        finding, rule = judged.finding, judged.rule
        yield excerpt(finding.place, self._lines_of(finding.place))
        if finding.related:
            yield f"<ol class=path>{''.join(self._step(each, opens=finding.flow) for each in finding.related)}</ol>"
        yield "<dl>"
        if finding.verification is not None:
            head = "Simulated" if finding.verification.verdict == "simulated" else "Measured"
            yield f"<dt>{head}<dd>{_verified(finding.verification)}"
        yield f"<dt>Why<dd>{prose(judged.why)}"
        yield f"<dt>Help<dd>{prose(judged.help)}"
        if rule.breaks:
            yield f"<dt>Breaks<dd>{text(', '.join(rule.breaks))}"
        if finding.fix is not None:
            yield f"<dt>Fix<dd>{self._fix(finding, finding.fix)}"
        yield f'<dt>Rule<dd><a href="#{text(rule.code)}">{text(rule.code)} {text(rule.name)}</a></dl>'

    def _step(self, step: Related, *, opens: bool) -> str:
        """Return a related place; a step of a finding's flow opens to show its lines."""
        head = f"<span class=name>{text(where(step.place))}</span> {prose(step.message)}"
        if not opens:
            return f"<li>{head}</li>"
        return f"<li><details><summary>{head}</summary>{excerpt(step.place, self._lines_of(step.place))}</details></li>"

    def _fix(self, finding: Finding, fix: Fix) -> str:
        """Return how the fix is made, and its lines."""
        told = f"<p>{prose(fix.title)} <span class=faint>({prose(_MADE[fix.safety])})</span></p>"
        there = all(is_there(need, self._files) for need in fix.imports)
        needs = "" if there else f"<p class=faint>{prose(f'It adds the file `{FILE}`, which is imported here.')}</p>"
        return told + change(self.hunks(fix), finding.place) + needs

    def hunks(self, fix: Fix) -> list[Hunk]:
        """Return what a fix changes; empty if that is not known."""
        if not fix.edits and not fix.imports:
            return []
        settings = self._files.settings
        with undisturbed():
            written = written_out(fix, lambda need, before: imports(need, before, self._files.read, settings))
        edits = () if written is None else tuple(dict.fromkeys(written.edits))
        return list(hunks(edits, {(edit.place.path, edit.place.cell): self._lines_of(edit.place) for edit in edits}))

    def _lines_of(self, place: Place) -> list[str]:
        if place.path not in self._lines:
            texts = self._files.texts(place.path)
            self._lines[place.path] = {cell: lines_of(each) for cell, each in texts.items() if each}
        return self._lines[place.path].get(place.cell, [])


def _verified(verification: Verification) -> str:
    style = _VERDICTS.get(verification.verdict, "fair")
    verdict = f'<b class="{style}">{text(verification.verdict)}</b>{prose(measured(verification))}'
    numbers = "".join(_numbers(verification.evidence))
    return f"{verdict}<details><summary>Evidence</summary><dl>{numbers}</dl></details>" if numbers else verdict


def _numbers(evidence: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was measured, by name; empty values are left out."""
    for name, value in evidence.items():
        if isinstance(value, Mapping):
            value = ", ".join(f"{key} {each}" for key, each in value.items())
        elif isinstance(value, (list, tuple)):
            value = ", ".join(map(str, value))
        if value not in ("", None):
            yield f"<dt>{text(name.replace('_', ' '))}<dd>{text(str(value))}"
