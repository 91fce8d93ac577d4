"""How a difference spreads: which losses, batches and parameters differ after each step. Pure, without torch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest

from detlint.bisect.records import Event, Record
from detlint.bisect.streams import Trace

_MOST_STEPS = 200
_MOST_NAMES = 400


@dataclass(slots=True)
class Spread:
    """The rows that are compared, and for each step (a column) whether each is equal in both runs.

    `names` are the rows: "batches", "loss", then the parameters of optimizers. `steps` has one column for each step,
    200 at most; a column lacks the rows with nothing to compare.
    """

    names: list[str] = field(default_factory=list)
    steps: list[dict[str, bool]] = field(default_factory=list)

    @property
    def first(self) -> int | None:
        """The first step in which anything differs, counted from 0; None if there is none."""
        return next((number for number, step in enumerate(self.steps) if not all(step.values())), None)


@dataclass(slots=True)
class _Step:
    """What came before an optimizer step, and the parameters after it."""

    batches: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    optimizer: int = 0
    digests: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def spread(a: Trace, b: Trace, stream: str = "main") -> Spread:
    """Compare two runs step by step; empty if either lacks the stream. Raises TraceError if one is damaged."""
    found = Spread()
    if stream not in a.names or stream not in b.names:
        return found
    rows: dict[str, None] = {}
    pairs = zip_longest(_steps(a.stream(stream).records()), _steps(b.stream(stream).records()))
    for number, (one, other) in enumerate(pairs):
        if number == _MOST_STEPS or one is None or other is None:
            break
        column = {}
        if one.batches or other.batches:
            column["batches"] = one.batches == other.batches
        if one.losses or other.losses:
            column["loss"] = one.losses == other.losses
        for name, digest, second in zip(_named(one), one.digests, other.digests, strict=False):
            column[name] = digest == second
        rows |= dict.fromkeys(column)
        found.steps.append(column)
    found.names = list(rows)[:_MOST_NAMES]
    return found


def _named(step: _Step) -> list[str]:
    """Return a name for each digest of a step; the last digest may stand for all remaining parameters."""
    names = list(step.names)
    if len(step.digests) < len(names):
        names = [*names[: len(step.digests) - 1], "all others"]
    names += [f"parameter {number}" for number in range(len(names), len(step.digests))]
    return names if not step.optimizer else [f"{name} (optimizer {step.optimizer})" for name in names]


def _steps(records: Iterator[Record]) -> Iterator[_Step]:
    names: dict[int, tuple[str, ...]] = {}
    step = _Step()
    for event in (one for one in records if isinstance(one, Event)):
        number = event.data.get("optimizer")
        optimizer = number if isinstance(number, int) else 0
        match event.kind:
            case "batch":
                step.batches += event.digests
            case "loss":
                step.losses += event.digests
            case "parameters":
                names[optimizer] = tuple(str(event.data.get("names", "")).split())
            case "step":
                step.optimizer, step.digests = optimizer, event.digests
                step.names = names.get(optimizer, ())
                yield step
                step = _Step()
    if step.batches or step.losses:
        yield step
