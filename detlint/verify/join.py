"""The join of findings and measurements: what to measure for findings, and what a session says about each."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from detlint.finding import Finding, Operation, Verification
from detlint.verify import evidence
from detlint.verify.job import ORDERS
from detlint.verify.probe import Probe
from detlint.verify.session import Measurement, Session, Subject
from detlint.verify.verdicts import Verdict, words

_FLOATS = ("float32", "float16", "bfloat16", "float64")
_KEYS = ("device", "type", "torch", "cuda", "cudnn")


def of_rows(rows: Iterable[str], probes: Mapping[str, Probe]) -> list[Subject]:
    """Return the rows as such, each in all dtypes of its probe."""
    return [Subject(row, dtype) for row in rows for dtype in probes[row].dtypes]


def of_operations(operations: Iterable[Operation], probes: Mapping[str, Probe]) -> list[Subject]:
    """Return what to measure for calls in the code, each form once, without operations that have no probe."""
    return list(dict.fromkeys(_subject(one, probes) for one in operations if one.row in probes))


def _subject(operation: Operation, probes: Mapping[str, Probe]) -> Subject:
    given = dict(operation.defaults) | dict(operation.arguments)
    given.pop("device", None)  # the user chooses the device to measure on
    dtype = ast.literal_eval(given.pop("dtype", "None"))
    if dtype not in _FLOATS:
        dtype = probes[operation.row].dtypes[0]
    return Subject(operation.row, dtype, operation.called, tuple(sorted(given.items())))


def verified(
    finding: Finding, session: Session | None, probes: Mapping[str, Probe], unprobed: Mapping[str, str]
) -> Finding:
    """Return the finding with what this session showed of its operation; unchanged if it cannot be run.

    Without a session, only the reason why an operation is not probed is added.
    """
    told = None if finding.operation is None else shown(finding.operation, session, probes, unprobed)
    return finding if told is None else replace(finding, verification=told)


def shown(
    operation: Operation, session: Session | None, probes: Mapping[str, Probe], unprobed: Mapping[str, str]
) -> Verification | None:
    """Return what this session showed of an operation, or why it cannot be run; None if there is no result."""
    if operation.row in unprobed:
        return Verification(Verdict.UNAVAILABLE.value, f"not probed: {unprobed[operation.row]}")
    if operation.row not in probes or session is None:
        return None
    wanted = _subject(operation, probes)
    found = next((one for one in session.measurements if one.subject == wanted), None)
    return None if found is None else _told(operation, found, session)


def looked_up(finding: Finding, sessions: Sequence[Session], probes: Mapping[str, Probe]) -> Finding:
    """Return the finding with what sessions held elsewhere showed: of the exact form, else of the row as such.

    If several sessions measured it, the first that could run it counts; those of GPUs come before others.
    """
    operation = finding.operation
    if operation is None or operation.row not in probes:
        return finding
    wanted = _subject(operation, probes)
    for general in (False, True):
        subject = Subject(wanted.row, wanted.dtype) if general else wanted
        found = [(one, session) for session in sessions for one in session.measurements if one.subject == subject]
        found.sort(
            key=lambda pair: (_told(operation, *pair).verdict == "unavailable", pair[1].environment["type"] == "cpu")
        )
        if found:
            told = replace(_told(operation, *found[0]), elsewhere=True, general=general and subject != wanted)
            return replace(finding, verification=told)
    return finding


def _told(operation: Operation, found: Measurement, session: Session) -> Verification:
    """Return the outcome in the mode that the finding is about; the other modes are in the evidence."""
    mode = "strict" if operation.raising else "off"
    outcome = found.outcomes.get(mode)
    modes = {name: one.verdict.value for name, one in found.outcomes.items()}
    numbers: dict[str, Any] = {key: session.environment.get(key, "") for key in _KEYS}
    numbers |= {"row": found.subject.row, "dtype": found.subject.dtype, "modes": modes}
    numbers |= {"taken": dict(found.taken), "assumed": dict(found.assumed), "date": session.date}
    if outcome is None:
        return Verification(Verdict.INCONCLUSIVE.value, "no run was made", numbers)
    numbers |= {key: value for key, value in evidence.outcome(outcome).items() if key not in ("verdict", "reason")}
    simulated = found.outcomes.get(ORDERS)
    unseen = mode == "off" and outcome.verdict is not Verdict.CONFIRMED and session.environment["type"] == "cpu"
    if unseen and simulated is not None and simulated.verdict is Verdict.SIMULATED:
        numbers["simulated"] = evidence.outcome(simulated)
        text = f"{words(simulated)}; the kernel of the CPU itself: {outcome.verdict.value}"
        return Verification(Verdict.SIMULATED.value, text, numbers)
    text = words(outcome)
    strict = found.outcomes.get("strict")
    if mode == "off" and outcome.verdict is Verdict.CONFIRMED and strict is not None:
        text += f"; with the deterministic mode on: {strict.verdict.value}"
    return Verification(outcome.verdict.value, text, numbers)
