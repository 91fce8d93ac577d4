"""Verdicts from answers: what may be concluded after a number of runs, and no more."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, replace

from detlint.verify.job import Answer

_LEVEL = 0.05


class Verdict(enum.Enum):
    """The verdict of a measurement on an operation, in one mode."""

    CONFIRMED = "confirmed"  # two runs differed
    NOT_OBSERVED = "not-observed"  # no two runs differed, which bounds only how often they do
    DETERMINISTIC_PATH = "deterministic-path"  # not observed in this mode, and confirmed without it
    SIMULATED = "simulated"  # nothing was measured: a reference computed other orders
    RAISES = "raises"  # the mode refuses the operation
    UNAVAILABLE = "unavailable"  # no such device, package, kernel, or operation in this version
    INCONCLUSIVE = "inconclusive"  # a control failed, or too few runs were made
    FAILED = "failed"  # the probe itself went wrong


_OF_ERROR = {"raises": Verdict.RAISES, "unavailable": Verdict.UNAVAILABLE}


@dataclass(frozen=True, slots=True)
class Outcome:
    """A verdict for one mode with its evidence.

    It rests on `distinct` results of `runs` runs in `processes` fresh processes. `absolute` and `ulp` are the largest
    differences seen, None if unknown. If the verdict is SIMULATED, `runs` counts orders of what `permuted` names, and
    `reason` says why none of them can change a bit, if that is known.
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
    """Return the outcome of all answers to one measurement in one mode."""
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
    """Return the outcome under the flag as DETERMINISTIC_PATH if only the runs without the flag differ.

    An operation that warned that it has no deterministic implementation has no such path.
    """
    differed = off is not None and off.verdict is Verdict.CONFIRMED
    if outcome.verdict is Verdict.NOT_OBSERVED and differed and not outcome.warned:
        return replace(outcome, verdict=Verdict.DETERMINISTIC_PATH)
    return outcome


def doubted(outcome: Outcome, reason: str) -> Outcome:
    """Return the outcome as INCONCLUSIVE because a control failed: the counts stay, the claim does not."""
    if outcome.verdict in (Verdict.CONFIRMED, Verdict.NOT_OBSERVED, Verdict.DETERMINISTIC_PATH):
        return replace(outcome, verdict=Verdict.INCONCLUSIVE, reason=reason)
    return outcome


def bound(runs: int) -> float:
    """Return the largest share of runs that may differ from the usual result after `runs` equal ones, at 95 %.

    If a share p of independent runs has the most common result, all of N are equal with a probability of at most
    p^(N-1).
    """
    return 1.0 if runs < 2 else 1 - _LEVEL ** (1 / (runs - 1))


def words(outcome: Outcome) -> str:
    """Return a sentence on what was counted that claims no more than the counts show."""
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
