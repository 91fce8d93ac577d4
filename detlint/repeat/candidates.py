"""The fixes that may end a difference, the likeliest first: those of findings, then those made from measurements."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from detlint import bisecting
from detlint.bisect.comparing.outcome import Found, Outcome
from detlint.bisect.records import End, Line, Op
from detlint.finding import Finding, Safety
from detlint.repeat.measured import Measured, findings
from detlint.repeat.project import Project

_MOST = 8  # the most fixes that are tried for one difference
_SWITCHES = ("DET501", "DET502", "DET503", "DET504")  # the rules on switches that decide which kernels a GPU uses
_SEEDED = frozenset({"random-stream"})  # causes whose fix may be far from the draw


def of(found: Found, outcome: Outcome, project: Project, script: str, codes: Collection[str]) -> list[Finding]:
    """Return the fixes to try for a difference, of rules among `codes`, the likeliest first; safe ones before others.

    `script` is the program's own file, or "". Each result is a finding with a fix that may be applied.
    """
    folder = Path(outcome.metas[0].folder or ".")
    measured = _measured(found, script)
    cause = found.cause
    own = {str((folder / path).resolve()) for path in (*outcome.loaded, *([script] if script else ()))}
    spoken = bisecting.belonging(cause, measured.lines, folder, own, project.findings)
    at = [judged.finding for judged, near in spoken if near or cause.kind in _SEEDED]
    elsewhere = [judged.finding for judged, near in spoken if not (near or cause.kind in _SEEDED)]
    more = (*cause.codes, *(_SWITCHES if measured.device else ()))
    others = [each.finding for each in project.findings if each.finding.code in more and _is_in(each.finding, own)]
    made = list(findings(measured, project.module))
    ordered = [
        *(each for group in (at, made, elsewhere) for each in _of(group, Safety.SAFE)),
        *(each for group in (at, made, elsewhere) for each in _of(group, Safety.UNSAFE)),
        *_of(others, Safety.SAFE),
        *_of(others, Safety.UNSAFE),
    ]
    chosen = {each.fix.edits: each for each in reversed(ordered) if each.fix is not None and each.code in codes}
    return list(chosen.values())[::-1][:_MOST]


def _of(group: Iterable[Finding], safety: Safety) -> Iterator[Finding]:
    for each in group:
        if each.fix is not None and each.fix.safety is safety:
            yield each


def _is_in(finding: Finding, files: Collection[str]) -> bool:
    return str(Path(finding.place.path).resolve()) in files


def _measured(found: Found, script: str) -> Measured:
    divergence, cause = found.comparison.divergence, found.cause
    both = (*(cause.events or ()), *((divergence.a, divergence.b) if divergence is not None else ()))
    stacks = [one.stack for one in both if one is not None and not isinstance(one, End)]
    tops = [stack[-1] for stack in stacks if stack and stack[-1].function == "<module>" and stack[-1].path == script]
    op = cause.operation
    return Measured(
        cause,
        tuple(bisecting.named(found)),
        Line(script, 1),
        tops[0] if tops else None,
        found.stream == "main",
        isinstance(op, Op) and "cuda" in op.signature,
    )
