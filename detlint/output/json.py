"""The output of `--format json`: the contract that other tools read."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from detlint import __version__
from detlint.applying.fixer import Read, imports, written_out
from detlint.finding import Fix, Place, Verification
from detlint.output.kept_imports import Imported, KeptImports
from detlint.report import Judged, Report


def render(report: Report, read: Read, cache_dir: Path | None = None) -> str:
    """Return the report as one JSON document. `read` returns the text of a file, for the imports of fixes.

    If a cache folder is given, these imports are stored in it, so that files need not be read the next time.
    """
    imported = partial(imports, read=read)
    if cache_dir is None:
        return _document(report, imported)
    fixes = [judged.finding.fix for judged in report.findings if judged.finding.fix is not None]
    kept = KeptImports(cache_dir, {need.path for fix in fixes for need in fix.imports}, imported)
    text = _document(report, kept)
    kept.keep()
    return text


def _document(report: Report, imported: Imported) -> str:
    document = {
        "version": 1,
        "tool": {"name": "detlint", "version": __version__},
        "findings": [_finding(judged, imported) for judged in report.findings],
        "errors": list(report.errors),
        "summary": {
            "files": report.files,
            "entry_points": report.entry_points,
            "seconds": round(report.seconds, 3),
        },
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def _finding(judged: Judged, imported: Imported) -> dict[str, Any]:
    finding = judged.finding
    place = finding.place
    fix = None if finding.fix is None else written_out(finding.fix, imported)
    return {
        "code": finding.code,
        "name": judged.rule.name,
        "severity": judged.severity.value,
        "breaks": list(judged.rule.breaks),
        "path": place.path,
        "cell": place.cell,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "message": finding.message,
        "related": [{**_start(r.place), "message": r.message} for r in finding.related],
        "fix": None if fix is None else _fix(fix),
        "verification": None if finding.verification is None else _verification(finding.verification),
    }


def _start(place: Place) -> dict[str, Any]:
    return {"path": place.path, "cell": place.cell, "line": place.line, "column": place.column}


def _fix(fix: Fix) -> dict[str, Any]:
    edits = [
        {
            "path": edit.place.path,
            "cell": edit.place.cell,
            "start": [edit.place.line, edit.place.column],
            "end": [edit.place.end_line, edit.place.end_column],
            "text": edit.text,
        }
        for edit in fix.edits
    ]
    return {"title": fix.title, "applicability": fix.safety.value, "edits": edits}


def _verification(verification: Verification) -> dict[str, Any]:
    return {
        "verdict": verification.verdict,
        "text": verification.text,
        "elsewhere": verification.elsewhere,
        "general": verification.general,
        **verification.evidence,
    }
