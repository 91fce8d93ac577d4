"""The output of `--format sarif`, SARIF 2.1.0, https://docs.oasis-open.org/sarif/sarif/v2.1.0/, for code scanning."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from detlint import __version__
from detlint.catalogue import Rule
from detlint.finding import Finding, Place, Related
from detlint.output.files import Files, Span, everything
from detlint.output.offers import offered, replacements
from detlint.report import Judged, Report, Suppressed

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "SRCROOT"
_FINGERPRINT = "detlint/v1"  # to be incremented if `fingerprints` computes them differently
_PLACEHOLDER = re.compile(r"\{(\d+)\}")
_PAGE_LINK = re.compile(r"\[([^\[\]]+)\]\([^()\s]+\.md(?:#[^()\s]*)?\)")


def render(report: Report, files: Files) -> str:
    """Return the report as a log of one run; suppressed findings come with what suppresses them."""
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [_Run(report, files).document()]}
    return json.dumps(document, indent=2, ensure_ascii=False)


class _Run:
    """A run, and the rules that its results refer to by number."""

    def __init__(self, report: Report, files: Files) -> None:
        self._report = report
        self._files = files
        self._judged = everything(report)
        self._suppressed = {id(each.judged): each for each in report.suppressed}
        self._known = files.known(report)
        self._rules: dict[str, Rule] = {each.rule.code: each.rule for each in self._judged}
        self._codes = sorted(self._rules)

    def document(self) -> dict[str, Any]:
        told = [("warning", error) for error in self._report.errors] + [("note", note) for note in self._report.notes]
        notes = [{"level": level, "message": {"text": _message(text)}} for level, text in told]
        driver = {"name": "detlint", "version": __version__, "semanticVersion": __version__}
        return {
            "tool": {"driver": {**driver, "rules": [_rule(self._rules[code]) for code in self._codes]}},
            "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
            "originalUriBaseIds": {_ROOT: {"description": {"text": "The directory that detlint ran in."}}},
            "results": [self._result(judged) for judged in self._judged],
            "columnKind": "unicodeCodePoints",
            "newlineSequences": ["\r\n", "\n", "\r"],
        }

    def _result(self, judged: Judged) -> dict[str, Any]:
        finding = judged.finding
        suppressed = self._suppressed.get(id(judged))
        result: dict[str, Any] = {
            "ruleId": finding.code,
            "ruleIndex": self._codes.index(finding.code),
            "level": judged.severity.value,
            "message": {"text": _told(finding)},
            "locations": [self._location(finding.place)],
        }
        if finding.related:
            result["relatedLocations"] = [
                {"id": number, **self._location(related.place), "message": {"text": _message(related.message)}}
                for number, related in enumerate(finding.related, 1)
            ]
        if finding.flow and finding.related:
            steps = [Related(finding.place, finding.message), *finding.related]
            result["codeFlows"] = [{"threadFlows": [{"locations": [self._step(step) for step in steps]}]}]
        result["partialFingerprints"] = {_FINGERPRINT: self._known[id(finding)]}
        result["suppressions"] = [] if suppressed is None else [self._suppression(suppressed)]
        texts = offered(finding, self._files) if suppressed is None else {}
        if finding.fix is not None and texts:
            result["fixes"] = [self._fix(finding.fix.title, texts)]
        if finding.verification is not None:
            verification = finding.verification
            result["properties"] = {"verification": {"verdict": verification.verdict, "text": verification.text}}
        return result

    def _suppression(self, suppressed: Suppressed) -> dict[str, Any]:
        inside = suppressed.kind in ("noqa", "block", "file")
        suppression: dict[str, Any] = {"kind": "inSource" if inside else "external", "status": "accepted"}
        if suppressed.place is not None:
            suppression["location"] = self._location(suppressed.place)
        if suppressed.reason:
            suppression["justification"] = suppressed.reason
        return suppression

    def _location(self, place: Place) -> dict[str, Any]:
        """Return a place in the file; for a cell it is in the notebook's JSON, and the cell is named as well."""
        physical = {
            "artifactLocation": _artifact(self._files.name(place.path)),
            "region": _region(self._files.span(place)),
        }
        if place.cell is None:
            return {"physicalLocation": physical}
        return {
            "physicalLocation": physical,
            "logicalLocations": [{"name": f"cell {place.cell + 1}", "kind": "cell"}],
            "properties": {"cell": place.cell, "line": place.line, "column": place.column},
        }

    def _step(self, step: Related) -> dict[str, Any]:
        """Return a step of a finding's flow."""
        return {"location": {**self._location(step.place), "message": {"text": _message(step.message)}}}

    def _fix(self, title: str, texts: Mapping[str, str]) -> dict[str, Any]:
        changes = []
        for path, text in texts.items():
            made = [
                {"deletedRegion": _region(each.span), "insertedContent": {"text": each.text}}
                for each in replacements(self._files.text(path), text)
            ]
            changes.append({"artifactLocation": _artifact(self._files.name(path)), "replacements": made})
        return {"description": {"text": _message(title)}, "artifactChanges": changes}


def _artifact(name: str) -> dict[str, Any]:
    """Return where a file is: relative to the directory that detlint ran in, or absolute if it is outside of that."""
    if Path(name).is_absolute() or name.startswith("../"):
        return {"uri": Path(os.path.normpath(Path.cwd() / name)).as_uri()}
    return {"uri": quote(os.fsencode(name)), "uriBaseId": _ROOT}


def _rule(rule: Rule) -> dict[str, Any]:
    page = _page(rule)
    why = "" if "{" in rule.why else f" {rule.why[:1].upper()}{rule.why[1:]}."  # each finding has its own reason
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": _message(rule.summary)},
        "fullDescription": {"text": _message(f"{rule.summary}.{why}")},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": rule.severity.value},
        "properties": {"tags": [rule.family, *rule.breaks]},
    }


def _page(rule: Rule) -> str:
    """Return a rule's page, without links to files that are not there."""
    return _PAGE_LINK.sub(r"\1", rule.text).strip()


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _told(finding: Finding) -> str:
    """Return the message and a link to each related place: code scanning shows only places that are linked to."""
    links = (f"\n[{_link(related.message)}]({number})" for number, related in enumerate(finding.related, 1))
    return _message(finding.message + "".join(links))


def _link(text: str) -> str:
    return re.sub(r"([\\\[\]])", r"\\\1", text)


def _message(text: str) -> str:
    """Return a text in which nothing is taken for a placeholder of an argument."""
    return _PLACEHOLDER.sub(r"{{\1}}", text)
