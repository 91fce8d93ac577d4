"""The controls of every session: one operation known to race, and one known to be exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.verify.probe import Probe, Run

if TYPE_CHECKING:
    from detlint.verify.bench import Bench

RACE = "control.race"
EXACT = "control.exact"
_MANY = 1 << 19


def _race(bench: Bench) -> Run:
    """Return additions by many threads into few places; on the CPU by index_put, as scatter_add is ordered there."""
    target, index, source = bench.zeros(4), bench.integers(4, _MANY), bench.addends(_MANY)
    if bench.device.type == "cpu":
        return lambda: target.index_put((index,), source, accumulate=True)
    return lambda: target.scatter_add(0, index, source)


def _exact(bench: Bench) -> Run:
    """Return the same additions in integers, whose sums are the same in any order, and a maximum, likewise exact."""
    target, index, source = bench.integers(1, 4), bench.integers(4, _MANY), bench.integers(100, _MANY)
    values = bench.addends(_MANY)
    return lambda: (target.scatter_add(0, index, source), values.max())


PROBES: dict[str, Probe] = {RACE: Probe(_race), EXACT: Probe(_exact)}
