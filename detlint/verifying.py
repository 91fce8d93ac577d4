"""Findings verified: their operations run on a device, or looked up in what another machine measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from detlint.report import Report
from detlint.verify import join, session
from detlint.verify.probes import NOT_PROBED, PROBES
from detlint.verify.session import Progress, Session, Settings


def verify_report(
    report: Report, settings: Settings, progress: Progress | None = None
) -> tuple[Report, Session | None]:
    """The report with what running its operations showed, and the session, None if there was nothing to run.

    Raises pool.StartError where the device cannot be used.
    """
    operations = [judged.finding.operation for judged in report.findings if judged.finding.operation is not None]
    subjects = join.of_operations(operations, PROBES)
    held = session.hold(subjects, settings, progress) if subjects else None
    verified = [
        replace(judged, finding=join.verified(judged.finding, held, PROBES, NOT_PROBED)) for judged in report.findings
    ]
    return replace(report, findings=tuple(verified)), held


def with_evidence(report: Report, sessions: Sequence[Session]) -> Report:
    """The report with what sessions held elsewhere showed of its operations."""
    found = [replace(judged, finding=join.looked_up(judged.finding, sessions, PROBES)) for judged in report.findings]
    return replace(report, findings=tuple(found))
