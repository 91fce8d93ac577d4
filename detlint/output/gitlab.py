"""The output of `--format gitlab`: a Code Quality report, see https://docs.gitlab.com/ci/testing/code_quality/."""

from __future__ import annotations

import json
from typing import Any

from detlint.finding import Severity
from detlint.output.files import Files
from detlint.report import Judged, Report

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def render(report: Report, files: Files) -> str:
    """Return the findings as one JSON list."""
    known = files.known(report)
    issues = [_issue(judged, files, known[id(judged.finding)]) for judged in report.findings]
    return json.dumps(issues, indent=2, ensure_ascii=False)


def _issue(judged: Judged, files: Files, fingerprint: str) -> dict[str, Any]:
    finding = judged.finding
    cell = "" if finding.place.cell is None else f" (cell {finding.place.cell + 1}, line {finding.place.line})"
    return {
        "description": f"{finding.message}{cell}",
        "check_name": finding.code,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[judged.severity],
        "location": {"path": files.name(finding.place.path), "lines": {"begin": files.span(finding.place).line}},
    }
