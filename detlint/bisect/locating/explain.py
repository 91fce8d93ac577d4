"""A cause shown rather than guessed: the runs again, with one suspect held equal in both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from detlint.bisect.comparing.align import Divergence
from detlint.bisect.comparing.case import Cause
from detlint.bisect.comparing.outcome import Found, Outcome
from detlint.bisect.locating import locate
from detlint.bisect.records import Event, Op
from detlint.bisect.running import runs
from detlint.bisect.running.runs import Plan

_BY_KIND: dict[str, tuple[str, ...]] = {
    "random-stream": ("torch", "numpy", "python"),
    "seed-value": ("hash",),
    "private-generator": ("hash", "workers"),
    "host-value": ("hash", "listing"),
    "worker-data": ("hash", "workers"),
    "order": ("hash", "listing"),
    "control-flow": ("hash", "listing"),
    "file-order": ("listing",),
    "uninitialised": ("memory",),
    "kernel": ("memory", "threads", "deterministic"),
    "environment": ("threads",),
    "hidden-write": ("memory", "hash"),
    "compiled": ("eager",),
}
_BY_REASON: dict[str, tuple[str, ...]] = {
    "hash": ("hash",),
    "address": ("hash",),
    "set-order": ("hash",),
    "file-order": ("listing",),
    "uninitialised": ("memory",),
}
_HASHED = ("order", "host-value", "control-flow", "seed-value", "worker-data")
_WORDS = {
    "torch": "torch seeded with 0 at the start",
    "numpy": "numpy seeded with 0 at the start",
    "python": "`random` seeded with 0 at the start",
    "hash": "equal hashes",
    "workers": "no workers of loaders",
    "listing": "listings sorted",
    "memory": "fresh memory filled with the same byte",
    "threads": "one thread",
    "deterministic": "deterministic algorithms (memory not filled by them)",
    "eager": "torch.compile off",
}


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of holding one suspect equal in both runs; `gone` says that the divergence did not recur."""

    suspect: str
    told: str
    gone: bool

    def __str__(self) -> str:
        return f"with {self.told} in both runs it {'is gone' if self.gone else 'stays'}"


def explain(plan: Plan, found: Outcome, folder: Path, progress: Callable[[str], None], every: bool = False) -> Outcome:
    """Return the outcome with the cause of its first divergence traced to its line, and tested by trials.

    Nothing runs for a cause that already names its line, unless `every` cause is to be tested. `progress` is called
    with a description of each run. Raises as `runs.run` does.
    """
    if not found.found:
        return found
    first = found.found[0]
    cause = first.cause
    turned = cause.kind == "file-order" and "listing" in plan.perturbed  # then every listing differs, libraries' too
    traced = locate.is_open(cause) or turned
    if traced:
        located = locate.locate(plan, first, folder / "steps", progress)
        cause = locate.refined(cause, located)
        traced = located.again  # if it did not recur, a trial proves nothing
    if traced or every:
        wanted = suspects(replace(first, cause=cause), plan, found)
        cause = refined(cause, _trials(plan, replace(first, cause=cause), wanted, folder, progress))
    return replace(found, found=(replace(first, cause=cause), *found.found[1:]))


def _trials(
    plan: Plan, first: Found, wanted: tuple[str, ...], folder: Path, progress: Callable[[str], None]
) -> tuple[Trial, ...]:
    trials: list[Trial] = []
    for suspect in wanted:
        progress(f"again, with {_WORDS[suspect]}")
        done = runs.run(_held(plan, suspect), folder / suspect)
        gone = all(_place(one) != _place(first) for one in done.outcome.found)
        trials.append(Trial(suspect, _WORDS[suspect], gone and bool(done.outcome.equal)))
        if trials[-1].gone and first.cause.kind != "kernel":  # a race may stay away by chance: try all suspects
            break
    return tuple(trials)


def suspects(found: Found, plan: Plan, outcome: Outcome) -> tuple[str, ...]:
    """Return what can be held equal to see whether the divergence is due to it."""
    cause = found.cause
    if cause.why:
        named = _BY_REASON.get(cause.why, ())
    elif cause.kind == "random-stream":
        named = tuple(one for one in _BY_KIND[cause.kind] if one == cause.generator)
    else:
        named = _BY_KIND.get(cause.kind, ())
    return tuple(name for name in named if _bears(name, plan, outcome))


def _bears(suspect: str, plan: Plan, outcome: Outcome) -> bool:
    """Return whether holding a suspect equal can change anything."""
    seen = dict(outcome.seen)
    if suspect == "hash":
        a, b = (one.start.get("hash") for one in outcome.metas)
        return a != b or plan.origins is not None
    if suspect == "listing":
        return "listing" in plan.perturbed or bool(seen.get("listing"))
    if suspect == "workers":
        return bool(seen.get("loader"))
    if suspect == "memory":
        return plan.poison
    return True


def refined(cause: Cause, trials: tuple[Trial, ...]) -> Cause:
    """Return the cause with what the trials showed."""
    gone = {one.suspect for one in trials if one.gone}
    cause = cause.with_evidence(*(f"shown: {one}" for one in trials))
    if cause.kind == "kernel" and "memory" in gone:
        return replace(
            cause,
            title="a kernel reads memory that was never written",
            codes=(),
            advice="report it to PyTorch; until it is repaired, use another operation",
        )
    if "hash" in gone and not cause.why and cause.kind in _HASHED:
        return replace(
            cause,
            title=f"{cause.title}, by the order of a set or by hash()",
            codes=tuple(sorted(cause.codes, key=lambda code: code not in ("DET601", "DET604"))),
        )
    return cause


def _held(plan: Plan, suspect: str) -> Plan:
    """Return the plan with a suspect held equal in both runs."""
    options = plan.options
    perturbed = tuple(one for one in plan.perturbed if one != {"hash": "hashseed"}.get(suspect, suspect))
    plan = replace(plan, perturbed=perturbed)
    match suspect:
        case "torch":
            options = replace(options, seed_torch=0)
        case "numpy":
            options = replace(options, seed_numpy=0)
        case "python":
            options = replace(options, seed_python=0)
        case "hash":  # runs from one process hash alike, and get the same addresses
            if plan.origins is not None and not plan.origins.cold:
                return replace(plan, alike=True)
            options = replace(options, hash_seed="0")
        case "workers":
            options = replace(options, workers=0)
        case "listing":
            options = replace(options, listing="sorted")
        case "threads":
            options = replace(options, threads=1)
        case "deterministic":
            options = replace(options, deterministic=True)
        case "eager":
            options = replace(options, compiling="eager")
        case "memory":
            return replace(plan, poison=False, options=replace(options, poison=runs.FILLS[0]))
    return replace(plan, options=options)


def _place(found: Found) -> tuple[object, ...]:
    """Return what identifies a divergence across runs: its stream, its operation and its lines."""
    divergence = found.comparison.divergence
    record = _record(divergence) if divergence is not None else None
    if isinstance(record, Op):
        return found.stream, record.name, record.stack
    return (found.stream, record.kind, record.stack) if record is not None else (found.stream,)


def _record(divergence: Divergence) -> Op | Event | None:
    return next((one for one in (divergence.a, divergence.b) if isinstance(one, (Op, Event))), None)
