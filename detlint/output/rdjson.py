"""The output of `--format rdjson`: the diagnostics that reviewdog posts on a change, with suggestions.

The fields, and columns in bytes of UTF-8: `proto/rdf/reviewdog.proto` of https://github.com/reviewdog/reviewdog. Each
suggestion becomes a button of its own, and on GitLab it replaces whole lines whatever its columns say. So a finding has
at most one suggestion, which is the whole fix and consists of whole lines.
"""

from __future__ import annotations

import json
from typing import Any

from detlint.finding import Finding, Place, Severity
from detlint.output.files import Files
from detlint.output.offers import by_hand, offered, whole_lines
from detlint.output.words import remarks
from detlint.report import Judged, Report

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.NOTE: "INFO"}
_MOST_LINES = 10  # of a suggestion: a longer one repeats what it does not change
_MOST_CHARACTERS = 4000  # a notebook may be one line


def render(report: Report, files: Files) -> str:
    """Return the findings as one `DiagnosticResult`."""
    document = {
        "source": {"name": "detlint"},
        "diagnostics": [_diagnostic(judged, files) for judged in report.findings],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def _diagnostic(judged: Judged, files: Files) -> dict[str, Any]:
    finding = judged.finding
    suggestion = _suggestion(finding, files)
    left = [] if suggestion or finding.fix is None else [by_hand(finding.fix)]
    diagnostic: dict[str, Any] = {
        "message": "\n\n".join((finding.message, *remarks(judged), *left)),
        "location": _location(finding.place, files),
        "severity": _SEVERITIES[judged.severity],
        "code": {"value": finding.code},
    }
    if suggestion:
        diagnostic["suggestions"] = [suggestion]
    if finding.related:
        diagnostic["related_locations"] = [
            {"message": related.message, "location": _location(related.place, files)} for related in finding.related
        ]
    return diagnostic


def _location(place: Place, files: Files) -> dict[str, Any]:
    span = files.span(place)
    text = files.text(place.path)
    return {
        "path": files.name(place.path),
        "range": {
            "start": {"line": span.line, "column": text.byte_column(span.line, span.column)},
            "end": {"line": span.end_line, "column": text.byte_column(span.end_line, span.end_column)},
        },
    }


def _suggestion(finding: Finding, files: Files) -> dict[str, Any] | None:
    """Return the whole fix as lines that replace lines near each other, or None if that is impossible."""
    path = finding.place.path
    texts = offered(finding, files)
    if texts.keys() != {path}:
        return None
    change = whole_lines(files.text(path), texts[path])
    if change is None:
        return None
    first, last, text = change
    if last - first >= _MOST_LINES or len(text) > _MOST_CHARACTERS:
        return None
    return {"range": {"start": {"line": first}, "end": {"line": last}}, "text": text}
