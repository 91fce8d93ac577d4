"""Reports of a session for people: a table of rows, or of findings."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.verify.session import Measurement, Session
from detlint.verify.verdicts import Verdict, words

_MODES = {"off": "mode off", "strict": "mode on", "warn": "warn only", "seeded": "seeded", "orders": "other orders"}
_CAVEAT = (
    "not-observed is no proof: runs of one process depend on each other, and so few processes alone bound little. "
    "--thorough looks harder."
)
_ON_CPU = "Kernels of the CPU are others: what is not observed here may still differ on a GPU."


def table(measurements: Sequence[Measurement]) -> str:
    """Return a table with one line per measurement: its verdict in each mode, and the evidence."""
    modes = [mode for mode in _MODES if any(mode in one.outcomes for one in measurements)]
    lines = [["row", "dtype", *(_MODES[mode] for mode in modes), ""]]
    for one in sorted(measurements, key=lambda one: (one.subject.row, one.subject.arguments)):
        verdicts = [one.outcomes[mode].verdict.value if mode in one.outcomes else "" for mode in modes]
        lines.append([one.subject.row, one.subject.dtype, *verdicts, _remark(one)])
    return aligned(lines)


def _remark(one: Measurement) -> str:
    """Return the evidence of the most significant outcome, and the literals taken from the code."""
    wanted = (Verdict.CONFIRMED, Verdict.SIMULATED, Verdict.FAILED, Verdict.INCONCLUSIVE, Verdict.UNAVAILABLE)
    outcomes = [outcome for verdict in wanted for outcome in one.outcomes.values() if outcome.verdict is verdict]
    given = ", ".join(f"{name}={value!r}" for name, value in one.taken.items())
    return ". ".join(filter(None, [words(outcomes[0]) if outcomes else "", f"from the code: {given}" if given else ""]))


def header(session: Session) -> str:
    """Return where and how the session was held."""
    where = session.environment
    versions = [f"{key} {where[key]}" for key in ("torch", "cuda", "cudnn", "hip") if where.get(key)]
    settings = session.settings
    threads = f", {where['threads']} threads" if where.get("threads") else ""
    forked = "forked" if where.get("processes") == "forked" else "fresh"
    up_to = "up to " if settings.stops or settings.seconds else ""
    made = f"{settings.processes} {forked} processes x {up_to}{settings.repeats} runs"
    return f"{where['device']} ({', '.join(versions)}{threads}), {made}, {session.date}"


def footer(session: Session) -> list[str]:
    """Return remarks on a session as a whole: the caveat, and what went wrong."""
    lines = []
    if any(o.verdict is Verdict.NOT_OBSERVED for one in session.measurements for o in one.outcomes.values()):
        lines.append(_CAVEAT)
        if session.environment.get("type") == "cpu":
            lines.append(_ON_CPU)
    if session.complaint:
        lines.append(f"Nothing is confirmed or refuted: {session.complaint}.")
    if session.interrupted:
        lines.append("Interrupted: what was counted until then is shown.")
    return lines


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Return lines of cells as aligned columns."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n" for line in lines
    )
