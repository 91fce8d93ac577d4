"""The result of comparing two traces: the verdict, and place and cause for each stream that differs. Without torch."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TypeAlias

from detlint.bisect.comparing import align, causes, history
from detlint.bisect.comparing.align import Comparison, Evidence
from detlint.bisect.comparing.case import Case, Cause
from detlint.bisect.comparing.history import History
from detlint.bisect.records import End, Event, Meta
from detlint.bisect.streams import Trace

EQUAL, DIVERGED, USAGE, FAILED, INCONCLUSIVE = range(5)
VERDICTS = {EQUAL: "equal", DIVERGED: "diverged", FAILED: "failed", INCONCLUSIVE: "inconclusive"}

_WORKER = re.compile(r"(?:(?P<owner>.*)\.)?loader(?P<loader>\d+)\.worker\d+")
_RANK = re.compile(r"rank\d+")
_POOL = re.compile(r"(?:.*\.)?pool\d+")  # their number depends on timing; the owner of a pool may end its processes
_MADE_DIFFERENT = (
    "env.MALLOC_PERTURB_",
    "env.PYTHONHASHSEED",
    "hash_seed",
)  # different in the runs on purpose or by chance
_SET_THREADS = ("env.OMP_NUM_THREADS", "env.MKL_NUM_THREADS")  # "threads" covers them
Ends: TypeAlias = "dict[str, tuple[End | None, End | None]]"  # by stream
_VAGUE = ("worker-data", "host-value")


@dataclass(frozen=True, slots=True)
class Found:
    """A stream that differs: where, why, and what came before in each run."""

    comparison: Comparison
    cause: Cause
    a: History
    b: History

    @property
    def stream(self) -> str:
        """The stream's name."""
        return self.comparison.name


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of comparing two runs.

    `status` is the exit status. `reason` says why the runs could not be compared, or how both failed. `found` has the
    streams that differ, the most informative first. `equal` counts the records, over all streams, before any
    difference. `environment` lists the differences between the runs' environments. `seen` and `unseen` are what the
    recorders reported; `loaded` lists the files of the user's code that either run loaded.
    """

    status: int
    metas: tuple[Meta, Meta]
    reason: str = ""
    found: tuple[Found, ...] = ()
    equal: int = 0
    streams: tuple[str, ...] = ()
    environment: tuple[tuple[str, str, str], ...] = ()
    seen: tuple[tuple[str, int], ...] = ()
    unseen: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """The status as a word."""
        return VERDICTS[self.status]


def compare(a: Trace, b: Trace, repaired: frozenset[str] = frozenset()) -> Outcome:
    """Compare two traces, except at the `repaired` sites (see `align.compare`). Raises TraceError if one is damaged."""
    metas = a.meta, b.meta
    outcome = Outcome(EQUAL, metas, environment=_environments(metas))
    if a.meta.digest != b.meta.digest:
        return replace(
            outcome,
            status=INCONCLUSIVE,
            reason=f"the traces have digests of different kinds ({a.meta.digest} and {b.meta.digest}): "
            "install the same packages (xxhash in both, or in none) and record again",
        )
    shared = [name for name in a.names if name in b.names]
    compared = {name: _compared(a, b, name, repaired) for name in shared}
    differing = [name for name in shared if compared[name].divergence is not None]
    found = [_found(a, b, compared, name, outcome.environment) for name in differing]
    ends = {name: (a.stream(name).end(), b.stream(name).end()) for name in shared}
    outcome = replace(
        outcome,
        found=tuple(_ranked(found)),
        equal=sum(one.equal for one in compared.values()),
        streams=tuple(shared),
        seen=_seen(ends),
        unseen=_unseen(ends),
        loaded=_loaded(a, b, ends),
    )
    if found:
        return replace(outcome, status=DIVERGED)
    return _undiverged(outcome, sorted(set(a.names) ^ set(b.names)), ends)


def _compared(a: Trace, b: Trace, name: str, repaired: frozenset[str]) -> Comparison:
    found = align.compare(a.stream(name), b.stream(name), repaired)
    divergence = found.divergence
    if divergence is not None and _WORKER.fullmatch(name) and not divergence.differs:
        one_is_prefix = not (divergence.only_a and divergence.only_b) and not divergence.meet
        if one_is_prefix:  # a loader ends its workers while they prepare batches that nobody takes
            found.divergence = None
    return found


def _found(
    a: Trace, b: Trace, compared: dict[str, Comparison], name: str, environment: tuple[tuple[str, str, str], ...]
) -> Found:
    comparison = compared[name]
    divergence = comparison.divergence
    assert divergence is not None
    apart = {one.event.what: one.event.number for one in reversed(comparison.evidence) if one.event.kind == "draw"}
    sides = []
    both = divergence.a, divergence.b
    last = max((record.number for record in both if record is not None), default=0)
    for trace, record, numbers in zip((a, b), both, causes.wanted(divergence), strict=True):
        until = record.number if record is not None else last
        sides.append(history.gather(trace.stream(name).records(), until, numbers, apart))
    case = Case(comparison, sides[0], sides[1], (a.meta, b.meta), _around(compared, name), environment)
    return Found(comparison, causes.decide(case), sides[0], sides[1])


def _around(compared: dict[str, Comparison], name: str) -> tuple[Evidence, ...]:
    """Return the events that differ in the stream that started stream `name`; empty if there is none."""
    owner = name.rpartition(".")[0] if "." in name else "main"
    match = _WORKER.fullmatch(name)
    if match:
        owner = match["owner"] or "main"
    return tuple(compared[owner].evidence) if owner in compared and owner != name else ()


def _ranked(found: list[Found]) -> list[Found]:
    """Sort the streams: the main one first, unless data that it took from another stream explains it: then that one.

    Ranks that differ because of what another rank sent come after that rank. So do ranks that differ later: an
    optimizer step is common to all ranks.
    """
    found = sorted(found, key=lambda one: (one.cause.kind == "collective", _reached(one)))
    if len(found) < 2 or found[0].stream != "main" or found[0].cause.kind not in _VAGUE:
        return found
    record = found[0].comparison.divergence.a if found[0].comparison.divergence else None
    of_loader = isinstance(record, Event) and record.kind == "batch" and record.data.get("workers")
    telling = [one for one in found[1:] if not of_loader or _WORKER.fullmatch(one.stream)]
    if not telling:
        return found
    return [telling[0], found[0], *(one for one in found[1:] if one is not telling[0])]


def _reached(found: Found) -> tuple[int, int]:
    """Return the steps and losses that a rank had reached when it first differed; (0, 0) for any other stream."""
    return (found.a.steps, found.a.losses) if _RANK.fullmatch(found.stream) else (0, 0)


def _undiverged(outcome: Outcome, apart: list[str], ends: Ends) -> Outcome:
    """Return the outcome where no shared stream differs; `apart` names the streams that only one run has."""
    apart = [name for name in apart if not _POOL.fullmatch(name)]
    if apart:
        return replace(outcome, status=INCONCLUSIVE, reason=f"only one run has a stream {apart[0]}")
    own = {name: both for name, both in ends.items() if not (_WORKER.fullmatch(name) or _POOL.fullmatch(name))}
    for name, both in own.items():
        for run, end in zip("AB", both, strict=True):
            if end is None or end.reason == "signal":
                reason = f"the record of {run} was cut off (stream {name}): the process was ended from outside"
                return replace(outcome, status=INCONCLUSIVE, reason=reason)
    failed = next((end for both in own.values() for end in both if end is not None and end.status), None)
    if failed is not None:
        told = failed.exception or f"status {failed.status}"
        return replace(outcome, status=FAILED, reason=f"the program failed in both runs alike: {told}")
    if not outcome.equal:
        return replace(outcome, status=INCONCLUSIVE, reason="no operation of torch was recorded")
    return outcome


def _environments(metas: tuple[Meta, Meta]) -> tuple[tuple[str, str, str], ...]:
    """Return the differences between the environments of two runs, except for what is always made different."""
    a, b = (one.environment for one in metas)
    made = {*_MADE_DIFFERENT, *(_SET_THREADS if a.get("threads") != b.get("threads") else ())}
    names = [name for name in (*a, *(one for one in b if one not in a)) if name not in made]
    return tuple((name, a.get(name, ""), b.get(name, "")) for name in names if a.get(name) != b.get(name))


def _seen(ends: Ends) -> tuple[tuple[str, int], ...]:
    """Return the counts of what the first run did, summed over all streams."""
    seen: Counter[str] = Counter()
    for end, _ in ends.values():
        seen.update(end.seen if end is not None else {})
    return tuple(sorted(seen.items()))


def _loaded(a: Trace, b: Trace, ends: Ends) -> tuple[str, ...]:
    """Return the files that the processes of both runs reported; a process that was killed reports none."""
    apart = [trace.stream(name).end() for trace in (a, b) for name in trace.names if name not in ends]
    told = [end for end in (*(one for both in ends.values() for one in both), *apart) if end is not None]
    return tuple(sorted({path for end in told for path in end.loaded}))


def _unseen(ends: Ends) -> tuple[str, ...]:
    """Return descriptions of what could not be recorded."""
    return tuple(
        dict.fromkeys(told for both in ends.values() for end in both if end is not None for told in end.unseen)
    )
