"""From answers to verdicts: what may be said after so many runs, and no more."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, replace

from detlint.verify.job import Answer

_LEVEL = 0.05


class Verdict(enum.Enum):
    """What a measurement says of an operation, in one mode."""

    CONFIRMED = "confirmed"  # two runs differed
    NOT_OBSERVED = "not-observed"  # no two runs differed, which bounds only how often they do
    DETERMINISTIC_PATH = "deterministic-path"  # not observed in this mode, and confirmed without it
    SIMULATED = "simulated"  # nothing was measured: other orders were worked out by a reference
    RAISES = "raises"  # the mode refuses the operation
    UNAVAILABLE = "unavailable"  # no such device, package, kernel, or operation in this version
    INCONCLUSIVE = "inconclusive"  # a control failed, or too few runs were made
    FAILED = "failed"  # the probe itself went wrong


_OF_ERROR = {"raises": Verdict.RAISES, "unavailable": Verdict.UNAVAILABLE}


@dataclass(frozen=True, slots=True)
class Outcome:
    """A verdict for one mode with what it rests on.

    `distinct` results of `runs` in `processes` fresh processes; `absolute` and `ulp` are the largest differences seen,
    None where they cannot be said. Of one that is simulated, `runs` are orders of what is `permuted`, and `reason` says
    why none of them can change a bit, where that is known.
    """

    verdict: Verdict
    runs: int = 0
    processes: int = 0
    distinct: int = 0
    absolute: float | None = None
    ulp: int | None = None
    warned: bool = False
    reason: str = ""
    permuted: str = ""


def judge(answers: Iterable[Answer]) -> Outcome:
    """The outcome of all answers to one measurement in one mode."""
    answers = list(answers)
    digests = [digest for answer in answers for digest in answer.digests]
    counted = Outcome(
        Verdict.INCONCLUSIVE,
        runs=len(digests),
        processes=sum(bool(answer.digests) for answer in answers),
        distinct=len(set(digests)),
        absolute=max((a.absolute for a in answers if a.absolute is not None), default=None),
        ulp=max((a.ulp for a in answers if a.ulp is not None), default=None),
        warned=any(answer.warned for answer in answers),
    )
    told = next((answer for answer in answers if answer.permuted), None)
    if told is not None:
        return replace(counted, verdict=Verdict.SIMULATED, reason=told.reason, permuted=told.permuted)
    if counted.distinct > 1:
        return replace(counted, verdict=Verdict.CONFIRMED)
    wrong = next((answer for answer in answers if answer.error), None)
    if wrong is not None:
        return replace(counted, verdict=_OF_ERROR.get(wrong.error, Verdict.FAILED), reason=wrong.reason)
    if counted.runs < 2:
        return replace(counted, reason=f"{counted.runs or 'no'} run was made" if counted.runs else "no run was made")
    return replace(counted, verdict=Verdict.NOT_OBSERVED)


def with_path(outcome: Outcome, off: Outcome | None) -> Outcome:
    """The outcome under the flag, named after the path it takes where the same runs differ without it."""
    if outcome.verdict is Verdict.NOT_OBSERVED and off is not None and off.verdict is Verdict.CONFIRMED:
        return replace(outcome, verdict=Verdict.DETERMINISTIC_PATH)
    return outcome


def doubted(outcome: Outcome, reason: str) -> Outcome:
    """The outcome of a measurement whose controls failed: what was counted stays, what it says does not."""
    if outcome.verdict in (Verdict.CONFIRMED, Verdict.NOT_OBSERVED, Verdict.DETERMINISTIC_PATH):
        return replace(outcome, verdict=Verdict.INCONCLUSIVE, reason=reason)
    return outcome


def bound(runs: int) -> float:
    """The share of runs that may differ from the usual result, at most, after `runs` equal ones, at 95 %.

    If a share p of independent runs has the most common result, all of N are equal with a probability of at most
    p^(N-1).
    """
    return 1.0 if runs < 2 else 1 - _LEVEL ** (1 / (runs - 1))


def words(outcome: Outcome) -> str:
    """What was counted, in a sentence that claims no more than it shows."""
    if outcome.verdict is Verdict.SIMULATED and outcome.distinct <= 1:
        if outcome.reason:
            return f"cannot differ: {outcome.reason}"
        return f"{outcome.runs} orders of {outcome.permuted} give the same bits"
    if outcome.verdict in (Verdict.CONFIRMED, Verdict.SIMULATED):
        of = "runs" if outcome.verdict is Verdict.CONFIRMED else f"orders of {outcome.permuted}"
        told = f"{outcome.distinct} distinct results of {outcome.runs} {of}"
        if outcome.absolute is not None:
            told += f", up to {outcome.absolute:.3g} apart"
        if outcome.ulp:
            told += f" ({outcome.ulp:,} ULP)"
        return told
    if outcome.verdict in (Verdict.NOT_OBSERVED, Verdict.DETERMINISTIC_PATH):
        count = "1 process" if outcome.processes == 1 else f"{outcome.processes} processes"
        told = f"{outcome.runs} equal runs in {count}"
        return f"{told}: if runs were independent, at most {bound(outcome.runs):.1%} of them differ (95 %)"
    return outcome.reason
