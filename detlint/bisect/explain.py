"""A cause shown and not guessed: the runs again, with one suspect held equal in both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from detlint.bisect import runs
from detlint.bisect.align import Divergence
from detlint.bisect.case import Cause
from detlint.bisect.outcome import Found, Outcome
from detlint.bisect.records import Event, Op
from detlint.bisect.runs import Plan

_BY_KIND = {
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
_WORDS = {
    "torch": "torch seeded with 0 at the start",
    "numpy": "numpy seeded with 0 at the start",
    "python": "`random` seeded with 0 at the start",
    "hash": "PYTHONHASHSEED=0",
    "workers": "no workers of loaders",
    "listing": "listings sorted",
    "memory": "fresh memory filled with the same byte",
    "threads": "one thread",
    "deterministic": "deterministic algorithms (memory not filled by them)",
    "eager": "torch.compile off",
}


@dataclass(frozen=True, slots=True)
class Trial:
    """What holding one suspect equal in both runs did: `gone` tells that the divergence did not show again."""

    suspect: str
    told: str
    gone: bool

    def __str__(self) -> str:
        return f"with {self.told} in both runs it {'is gone' if self.gone else 'stays'}"


def explain(plan: Plan, found: Outcome, folder: Path, progress: Callable[[str], None]) -> tuple[Trial, ...]:
    """Run the plan again for each suspect of the first divergence; `progress` is told what is being run.

    Raises as `runs.run` does.
    """
    if not found.found:
        return ()
    first, trials = found.found[0], []
    for suspect in suspects(first):
        progress(f"again, with {_WORDS[suspect]}")
        done = runs.run(_held(plan, suspect), folder / suspect)
        gone = all(_place(one) != _place(first) for one in done.outcome.found)
        trials.append(Trial(suspect, _WORDS[suspect], gone and bool(done.outcome.equal)))
        if trials[-1].gone and first.cause.kind != "kernel":  # a race may stay away by itself: ask all of its suspects
            break
    return tuple(trials)


def suspects(found: Found) -> tuple[str, ...]:
    """What may be held equal to see whether the divergence is due to it."""
    named = _BY_KIND.get(found.cause.kind, ())
    if found.cause.kind == "random-stream":
        return tuple(name for name in named if name == found.cause.generator)
    return named


def refined(cause: Cause, trials: tuple[Trial, ...]) -> Cause:
    """The cause with what the trials showed."""
    gone = {one.suspect for one in trials if one.gone}
    cause = cause.with_evidence(*(f"shown: {one}" for one in trials))
    if cause.kind == "kernel" and "memory" in gone:
        return replace(
            cause,
            title="a kernel reads memory that was never written",
            codes=(),
            advice="report it to PyTorch; until it is repaired, use another operation",
        )
    if "hash" in gone and cause.kind in ("order", "host-value", "control-flow", "seed-value", "worker-data"):
        return replace(
            cause,
            title=f"{cause.title}, by the order of a set or by hash()",
            codes=tuple(sorted(cause.codes, key=lambda code: code not in ("DET601", "DET604"))),
        )
    return cause


def _held(plan: Plan, suspect: str) -> Plan:
    """The plan with a suspect held equal in both runs."""
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
        case "hash":
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
    """What tells whether a divergence is the same one: its stream, its operation and its lines."""
    divergence = found.comparison.divergence
    record = _record(divergence) if divergence is not None else None
    if isinstance(record, Op):
        return found.stream, record.name, record.stack
    return (found.stream, record.kind, record.stack) if record is not None else (found.stream,)


def _record(divergence: Divergence) -> Op | Event | None:
    return next((one for one in (divergence.a, divergence.b) if isinstance(one, (Op, Event))), None)
