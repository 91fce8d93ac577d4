"""A cause outside torch, traced to the line of the user's code that makes it: both runs again, followed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from detlint.bisect.comparing.case import Cause
from detlint.bisect.comparing.outcome import Found, Outcome
from detlint.bisect.locating import pairing, provenance, shown, steps
from detlint.bisect.locating.pairing import Paired
from detlint.bisect.locating.provenance import Root, Search
from detlint.bisect.locating.reasons import Reasons, watched
from detlint.bisect.locating.steps import Step
from detlint.bisect.records import End, Line, Op
from detlint.bisect.running import runs
from detlint.bisect.running.runs import Done, Plan

_OPEN = frozenset(
    ("host-value", "control-flow", "order", "hidden-write", "worker-data", "seed-value", "crash", "environment")
)
_AFTER = 200  # records for which the runs continue after the one that differs
_ALSO = 2
_ATTEMPTS = 3  # pairs of runs: what depends on time may not recur at once
_NOT_AGAIN = "this did not show again in more runs: it hangs on chance, or on what the first run left"
_PART, _SEED = "control-flow", "seed-value"


@dataclass(frozen=True, slots=True)
class Located:
    """The line that makes a difference, and why. If it was not found, `root` is None, and `note` says why.

    `again` says whether the difference recurred at all.
    """

    root: Root | None = None
    again: bool = True
    evidence: tuple[str, ...] = ()
    note: str = ""


def is_open(cause: Cause) -> bool:
    """Return whether the line of a cause is where it shows, but perhaps not where it lies."""
    if cause.kind != "random-stream":
        return cause.kind in _OPEN
    a, b = cause.events or (None, None)
    return cause.events is not None and (a is None or b is None or a.data.get("count") != b.data.get("count"))


def locate(plan: Plan, found: Found, folder: Path, progress: Callable[[str], None]) -> Located:
    """Rerun both runs, at most three times, following the program's code to the source. Raises as `runs.run` does."""
    progress("again, following the program's own code")
    options = replace(plan.options, steps=True, watched=watched())
    number = _number(found)
    if found.stream == "main" and number >= 0 and not options.max_ops:
        options = replace(options, max_ops=number + _AFTER, stop=True)
    for attempt in range(_ATTEMPTS):
        done = runs.run(replace(plan, options=options), folder / str(attempt))
        again = _same(found, done.outcome)
        if again is not None:
            return _search(done, again)
    return _likely(done, found) or Located(note=_NOT_AGAIN, again=False)


def refined(cause: Cause, located: Located) -> Cause:
    """Return the cause with what following the code showed."""
    root = located.root
    if root is None:
        return cause.with_evidence(located.note) if located.note else cause
    step, why = root.pair.step, root.why
    evidence = (*located.evidence, *cause.evidence)
    if why is None:
        return replace(cause, line=step.statement.line, related=cause.line, evidence=evidence)
    codes = tuple(dict.fromkeys((*why.reason.codes, *(cause.codes if not why.reason.codes else ()))))
    return replace(
        cause,
        title=why.title,
        line=step.statement.line,
        related=cause.line,
        evidence=evidence,
        codes=codes,
        advice=why.reason.advice,
        why=why.reason.kind,
        name=why.name,
    )


def _number(found: Found) -> int:
    divergence = found.comparison.divergence
    both = (divergence.a, divergence.b) if divergence is not None else ()
    return max((one.number for one in both if one is not None), default=-1)


def _same(found: Found, again: Outcome) -> Found | None:
    """Return the same difference in other runs: one with the same cause or line, if possible both; None if none has.

    For a seed, the same line is not enough: the first draw shows everything that differs before it.
    """
    fitting = [one for one in again.found if _alike(one, found)]
    return max(fitting, key=lambda one: (one.cause.kind == found.cause.kind, _line(one) == _line(found)), default=None)


def _alike(one: Found, other: Found) -> bool:
    there = other.cause.kind != _SEED and _line(one) is not None and _line(one) == _line(other)
    return one.cause.kind == other.cause.kind or there


def _line(found: Found) -> Line | None:
    divergence = found.comparison.divergence
    return divergence.line if divergence is not None else None


def _likely(done: Done, found: Found) -> Located | None:
    """Return the likely line where a followed pair of runs did not differ; None if there is none.

    It is the line that asks for something that may differ: the branch nearest to where the runs parted, or the source
    of a seed. A loop that ends by the clock may iterate equally often in followed runs, which are slower, and two runs
    may read a clock within one second.
    """
    streams = _streams(done)
    stream, line = streams.get(found.stream), _line(found)
    if found.cause.kind not in (_PART, _SEED) or stream is None or line is None:
        return None
    reasons = Reasons(streams.values())
    others = {name: one for name, one in streams.items() if name != found.stream}
    search = Search(stream, others, reasons)
    roots = search.from_branch(line) if found.cause.kind == _PART else search.run(*_steps(stream, found), False)
    if not roots or roots[0].why is None:
        return None
    return Located(
        roots[0], False, (*_evidence(roots[0], [], (), ""), "both runs went on alike when they were followed")
    )


def _streams(done: Done) -> dict[str, Paired]:
    """Return the streams of the two followed runs, paired, by name."""
    traces = [one.folder for one in done.recordings]
    names = sorted({path.name.removesuffix(steps.SUFFIX) for path in traces[0].glob(f"*{steps.SUFFIX}")})
    return {
        name: pairing.pair(name, *(steps.read(trace / f"{name}{steps.SUFFIX}") for trace in traces)) for name in names
    }


def _search(done: Done, found: Found) -> Located:
    streams = _streams(done)
    stream = streams.get(found.stream)
    if stream is None:
        return Located(note="the program's own code could not be followed there")
    others = {name: one for name, one in streams.items() if name != found.stream}
    reasons = Reasons(streams.values())
    search = Search(stream, others, reasons, _given(found))
    roots = search.run(*_steps(stream, found), _parts(found))
    if not roots and others:
        roots = search.from_callbacks()
    bounds = [side.bound for one in streams.values() for side in (one.a, one.b) if side.bound]
    bound = f"the program's own code was followed for {bounds[0]}" if bounds else ""
    if not roots:
        return Located(note=bound or "no statement was found that binds or reads anything that differs")
    ranked = sorted(roots, key=lambda root: (root.why is None, root.pair.place))
    within = dict.fromkeys(one.name for one in reasons.within(ranked[0].pair)) if ranked[0].why is None else ()
    return Located(ranked[0], True, _evidence(ranked[0], ranked[1:], tuple(within), bound))


def _given(found: Found) -> tuple[str, str]:
    """Return the arguments besides tensors of the operation that differs, in A and in B."""
    divergence = found.comparison.divergence
    a, b = (divergence.a, divergence.b) if divergence is not None else (None, None)
    return (a.scalars, b.scalars) if isinstance(a, Op) and isinstance(b, Op) else ("", "")


def _steps(stream: Paired, found: Found) -> tuple[Step | None, Step | None]:
    """Return the steps of A and of B that were running where the two runs part; None for a run without one."""
    divergence, events = found.comparison.divergence, found.cause.events
    assert divergence is not None
    both = events if events is not None else (divergence.a, divergence.b)
    made: list[Step | None] = []
    for side, own in zip((stream.a, stream.b), both, strict=True):
        if own is None:
            made.append(None)
        else:
            made.append(provenance.at(side, own.number, None if isinstance(own, End) else own.line))
    return made[0], made[1]


def _parts(found: Found) -> bool:
    divergence, events = found.comparison.divergence, found.cause.events
    assert divergence is not None
    if events is None:
        return not divergence.differs
    a, b = events
    return a is None or b is None or a.data.get("count") != b.data.get("count")


def _evidence(root: Root, others: list[Root], within: tuple[str, ...], bound: str) -> tuple[str, ...]:
    told = []
    line, why = root.pair.step.statement.line, root.why
    shows = (root.through or root.pair).step.statement.line
    if root.values is not None:
        told.append(f"at {shows}, {shown.difference(root.name or 'what it gives', *root.values)} (A / B)")
    if root.parted is not None:
        ways = zip("AB", root.parted, strict=True)
        going = [f"{run} goes on at {one.statement.line}" if one else f"{run} ends" for run, one in ways]
        told.append(f"after {shows}, {', '.join(going)}")
    if why is not None and why.told:
        told.append(why.told)
    if why is None:
        told.append("all that this statement reads is equal in both runs, as far as it could be looked at")
    if within:
        told.append(f"within it, libraries call {', '.join(f'`{name}`' for name in within[:_ALSO])}")
    seen = {line}
    for one in others:
        place = one.pair.step.statement.line
        if place not in seen and len(seen) <= _ALSO:
            seen.add(place)
            told.append(f"also at {place}: {one.why.title if one.why else 'another value in each run'}")
    if bound:
        told.append(f"bounded: {bound}")
    return tuple(told)
