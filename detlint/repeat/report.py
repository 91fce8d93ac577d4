"""The result as a person and other tools read it. Pure, without torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from detlint import catalogue
from detlint.bisect.comparing.case import Cause
from detlint.bisect.records import Line
from detlint.repeat.rounds import DIFFERS, FAILED, REPEATS, Change, Result, Tried

VERSION = 1
STATUS = {REPEATS: 0, DIFFERS: 1, FAILED: 2}
"""Exit status by verdict."""


def text(result: Result, program: str, *, applied: bool) -> str:
    """Return the report of runs that could be compared. `applied` says that the user's own files were changed."""
    lines = [f"{program} {_verdict(result)}"]
    if result.changes:
        lines += ["", "changed:" if applied else "changed in a copy (--apply changes your files):"]
        for change in result.changes:
            lines += _change(change)
    if result.remains is not None:
        lines += ["", "what remains:", *_remains(result.remains, result.tried)]
        lines.append(f"  why: {result.reason}")
    lines += ["", f"compared: {_compared(result)}"]
    lines += [f"note: {note}" for note in result.notes]
    whole = "\n".join(lines) + "\n"
    return "".join(one if one.isprintable() or one == "\n" else "?" for one in whole)


def build(result: Result, program: str, diff: str, *, applied: bool) -> dict[str, Any]:
    """Return the document that docs/repeat.md describes, made of plain values."""
    last = result.outcome
    remains = None
    if result.remains is not None:
        remains = {**_cause(result.remains), "tried": [_tried(each) for each in result.tried]}
    return {
        "version": VERSION,
        "verdict": result.verdict,
        "exit": STATUS[result.verdict],
        "reason": result.reason,
        "program": program,
        "changes": [_changed(each) for each in result.changes],
        "remains": remains,
        "applied": applied,
        "diff": diff,
        "runs": result.runs,
        "equal": last.equal if last is not None else 0,
        "streams": list(last.streams) if last is not None else [],
        "notes": list(result.notes),
        "seconds": round(result.seconds, 2),
    }


def _verdict(result: Result) -> str:
    count = len(result.changes)
    changes = f"{count} change{'s' * (count != 1)}"
    if result.verdict == DIFFERS:
        return f"does not repeat, with {changes} made" if count else "does not repeat, and nothing was changed"
    return f"repeats, with {changes}" if count else "repeats as it is; nothing was changed"


def _compared(result: Result) -> str:
    last = result.outcome
    equal, streams = (last.equal, len(last.streams)) if last is not None else (0, 0)
    how = "equal in" if result.verdict == REPEATS else "which agree in the first"
    of = f"{streams} stream{'s' * (streams != 1)}"
    return f"the last 2 of {result.runs} runs, {how} {equal:,} record{'s' * (equal != 1)} of {of}"


def _change(change: Change) -> list[str]:
    lines = [f"  {change.line}: {change.title}  [{_rule(change.finding.code)}]"]
    lines.append(f"    because: {_because(change.cause)}")
    if change.unsafe:
        lines.append("    look at it: it may slow the program down, or change what it computes")
    return lines


def _remains(cause: Cause, tried: Sequence[Tried]) -> list[str]:
    lines = [f"  {cause.line or 'at the end'}: {cause.title}  [{_kind(cause)}]"]
    lines += [f"    - {one}" for one in cause.evidence[:4]]
    lines += [f"    tried and taken back: {each.title}: {each.reason}" for each in tried]
    lines.append(f"  do: {cause.advice}")
    return lines


def _because(cause: Cause) -> str:
    return f"{cause.title}{'' if cause.line is None else f' ({cause.line})'}  [{_kind(cause)}]"


def _kind(cause: Cause) -> str:
    return f"{cause.kind}: {cause.why}" if cause.why else cause.kind


def _rule(code: str) -> str:
    rule = catalogue.load().rules.get(code)
    return code if rule is None else f"{code} {rule.name}"


def _cause(cause: Cause) -> dict[str, Any]:
    return {
        "kind": cause.kind,
        "why": cause.why,
        "title": cause.title,
        "line": _line(cause.line),
        "evidence": list(cause.evidence),
        "advice": cause.advice,
    }


def _line(line: Line | None) -> dict[str, Any] | None:
    return None if line is None else {"path": line.path, "line": line.line, "cell": line.cell}


def _changed(change: Change) -> dict[str, Any]:
    return {
        **(_line(change.line) or {}),
        "code": change.finding.code,
        "title": change.title,
        "safety": "unsafe" if change.unsafe else "safe",
        "cause": _cause(change.cause),
    }


def _tried(tried: Tried) -> dict[str, Any]:
    return {"code": tried.finding.code, "title": tried.title, "reason": tried.reason}
