"""Verification of findings: their operations are run on a device, or looked up in another machine's results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from detlint.report import Report
from detlint.verify import join, session
from detlint.verify.kernels import calls, running
from detlint.verify.probes import NOT_PROBED, PROBES
from detlint.verify.session import Progress, Session, Settings

_OF_KERNELS = ("kernel_atomics", "autotuning")  # checks whose findings may be in a kernel


def verify_report(
    report: Report, settings: Settings, progress: Progress | None = None
) -> tuple[Report, Session | None]:
    """Return the report with the results of running its operations, and the session, None if nothing was run.

    Raises pool.StartError if the device cannot be used.
    """
    operations = [judged.finding.operation for judged in report.findings if judged.finding.operation is not None]
    subjects = join.of_operations(operations, PROBES)
    held = session.hold(subjects, settings, progress) if subjects else None
    verified = [
        replace(judged, finding=join.verified(judged.finding, held, PROBES, NOT_PROBED)) for judged in report.findings
    ]
    return replace(report, findings=tuple(verified)), held


def with_kernels(report: Report, read: Callable[[str], str], seconds: float) -> Report:
    """Return the report with results of running the user's Triton kernels that contain findings.

    This imports the files that contain them and calls their functions, in separate processes of at most `seconds` per
    file. `read` returns the text of a file.
    """
    asked: dict[str, set[str]] = {}
    kernels: list[str] = []
    for judged in report.findings:
        place = judged.finding.place
        whole = judged.rule.check in _OF_KERNELS and place.cell is None
        kernels.append(calls.kernel_at(read(place.path), place.line) if whole else "")
        if kernels[-1]:
            asked.setdefault(place.path, set()).add(kernels[-1])
    told = {path: running.of_file(Path(path), sorted(names), seconds) for path, names in asked.items()}
    found = []
    for judged, kernel in zip(report.findings, kernels, strict=True):
        shown = told[judged.finding.place.path][kernel] if kernel else judged.finding.verification
        found.append(replace(judged, finding=replace(judged.finding, verification=shown)))
    return replace(report, findings=tuple(found))


def with_evidence(report: Report, sessions: Sequence[Session]) -> Report:
    """Return the report with what sessions held elsewhere showed of its operations."""
    found = [replace(judged, finding=join.looked_up(judged.finding, sessions, PROBES)) for judged in report.findings]
    return replace(report, findings=tuple(found))
