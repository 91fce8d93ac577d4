"""What one run did in a stream before the first difference: seeds, draws, and single records requested by number.

Pure, without torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from detlint.bisect.records import Event, Op, Record

_MOST = 200  # of seeds the last, and of generators the first, that are kept
_NAMES = {"torch": "torch's generator", "numpy": "numpy's global generator", "python": "python's `random`"}


def named(generator: str) -> str:
    """Return the name of a generator in words."""
    return _NAMES.get(generator, generator)


@dataclass(slots=True)
class History:
    """One run before record `until`: its seeds and generators, its steps, and the records that were requested.

    `agreed` has the last draw from each generator before its draws differ. `loaded` is the last file that torch loaded
    (data, weights or a checkpoint), `resumed` the one from which an optimizer was restored too: a checkpoint. `steps`
    counts the steps of optimizers, `losses` the losses that gradients were taken of, and `parts` the losses since the
    last step (microbatches).
    """

    until: int
    seeds: list[Event] = field(default_factory=list)
    generators: list[Event] = field(default_factory=list)
    agreed: dict[str, Op | Event] = field(default_factory=dict)
    loaded: Event | None = None
    resumed: Event | None = None
    batch: Event | None = None
    item: Op | None = None
    steps: int = 0
    losses: int = 0
    parts: int = 0
    wanted: dict[int, Op | Event] = field(default_factory=dict)

    def seeded(self, generator: str, before: int | None = None) -> Event | None:
        """Return the event that last set a generator's state before record `before`; None if there is none."""
        until = self.until if before is None else before
        return next((one for one in reversed(self.seeds) if one.what == generator and one.number < until), None)


def gather(
    records: Iterable[Record], until: int, wanted: Iterable[int] = (), apart: Mapping[str, int] | None = None
) -> History:
    """Read the records before number `until`. `apart` maps a generator to the number from which its draws differ."""
    found, numbers = History(until), frozenset(wanted)
    for record in records:
        if record.number >= until or not isinstance(record, (Op, Event)):
            break
        if record.number in numbers:
            found.wanted[record.number] = record
        if isinstance(record, Op):
            _op(found, record)
        else:
            _event(found, record, apart or {})
    return found


def _op(found: History, op: Op) -> None:
    if op.draw and op.state:
        found.agreed["torch"] = op
    if op.name.startswith("aten._local_scalar_dense"):
        found.item = op


def _event(found: History, event: Event, apart: Mapping[str, int]) -> None:
    match event.kind:
        case "seed":
            found.seeds.append(event)
            del found.seeds[:-_MOST]
        case "generator" if len(found.generators) < _MOST:
            found.generators.append(event)
        case "draw" if event.number < apart.get(event.what, event.number + 1):
            found.agreed[event.what] = event
        case "resume":
            found.loaded = event
        case "restore":
            found.resumed = found.loaded or event
        case "batch":
            found.batch = event
        case "step":
            found.steps += 1
            found.parts = 0
        case "loss":
            found.losses += 1
            found.parts += 1
