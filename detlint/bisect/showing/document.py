"""An outcome as JSON, version 1 (docs/bisect.md describes it). Pure, without torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from detlint.bisect.comparing.outcome import Found, Outcome
from detlint.bisect.records import End, Event, Line, Op
from detlint.bisect.showing.report import Static

VERSION = 1
_OF_OPERATION = ("row", "operation", "verified")


def build(
    outcome: Outcome, program: str, static: Static | None = None, notes: Sequence[str] = (), seconds: float = 0.0
) -> dict[str, Any]:
    """Return the document, of plain values."""
    found = [_found(one) for one in outcome.found]
    if found and static is not None:
        found[0]["rule"] = (
            {key: value for key, value in asdict(static).items() if key not in _OF_OPERATION} if static.code else None
        )
        found[0] |= {"row": static.operation or None, "table": static.row or None, "verified": static.verified or None}
    return {
        "version": VERSION,
        "verdict": outcome.verdict,
        "exit": outcome.status,
        "reason": outcome.reason,
        "program": program,
        "first": found[0] if found else None,
        "others": found[1:],
        "equal": outcome.equal,
        "coverage": {"streams": list(outcome.streams), "seen": dict(outcome.seen), "unseen": list(outcome.unseen)},
        "environment": {
            "a": dict(outcome.metas[0].environment),
            "b": dict(outcome.metas[1].environment),
            "differs": [name for name, _, _ in outcome.environment],
        },
        "notes": list(notes),
        "seconds": round(seconds, 2),
    }


def _found(found: Found) -> dict[str, Any]:
    divergence, cause = found.comparison.divergence, found.cause
    assert divergence is not None
    return {
        "stream": found.stream,
        "equal": divergence.equal,
        "step": found.a.steps,
        "losses": found.a.parts,
        "line": _line(divergence.line),
        "differs": list(divergence.differs),
        "a": _record(divergence.a),
        "b": _record(divergence.b),
        "only_a": [_record(one) for one in divergence.only_a],
        "only_b": [_record(one) for one in divergence.only_b],
        "meet": divergence.meet,
        "cause": {
            "kind": cause.kind,
            "why": cause.why,
            "title": cause.title,
            "evidence": list(cause.evidence),
            "line": _line(cause.line),
            "related": _line(cause.related),
            "advice": cause.advice,
            "codes": list(cause.codes),
        },
    }


def _record(record: Op | Event | End | None) -> dict[str, Any] | None:
    if record is None:
        return None
    if isinstance(record, End):
        return {"number": record.number, "end": record.reason, "status": record.status, "exception": record.exception}
    common = {"number": record.number, "stack": [_line(line) for line in record.stack]}
    if isinstance(record, Event):
        return {**common, "event": record.kind, "what": record.what, "data": dict(record.data)}
    return {
        **common,
        "op": record.name,
        "phase": record.phase,
        "node": record.node,
        "scalars": record.scalars,
        "signature": record.signature,
        "inputs": [[one.digest, one.producer] for one in record.inputs],
        "outputs": list(record.outputs),
    }


def _line(line: Line | None) -> dict[str, Any] | None:
    return None if line is None else {**asdict(line)}
