"""Probes of operations that write or add where an index points, and of the gradients of those that read there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.verify.probe import Probe, Run

if TYPE_CHECKING:
    from detlint.verify.bench import Bench

_MANY = 1 << 20
_HALVES = ("float32", "float16", "bfloat16")


def _scatter_add(bench: Bench) -> Run:
    target, index, source = bench.zeros(4), bench.integers(4, _MANY), bench.addends(_MANY)
    return lambda: target.scatter_add(0, index, source)


def _gather_gradient(bench: Bench) -> Run:
    index = bench.integers(64, _MANY)
    return bench.gradients(lambda source: source.gather(0, index), bench.normal(64))


PROBES: dict[str, Probe] = {
    "scatter_add.fwd": Probe(_scatter_add, dtypes=_HALVES),
    "gather.bwd": Probe(_gather_gradient, dtypes=_HALVES),
}
