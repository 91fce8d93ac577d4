"""Probes of histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.verify.probe import Probe, Run
from detlint.verify.probes.sizes import last, options

if TYPE_CHECKING:
    from detlint.verify.bench import Bench

_MANY = 1 << 20


def _histc(bench: Bench, whole: bool = False) -> Run:
    arguments = options(bench, bins=100, min=0, max=0)
    source = bench.integers(1000, _MANY << 2).int() if whole else bench.uniform(_MANY << 2)
    return lambda: source.histc(**arguments)


def _bincount(bench: Bench, whole: bool = False) -> Run:
    minlength = bench.given("minlength", 0)
    bins, weights = bench.integers(4, _MANY), bench.integers(9, _MANY) if whole else bench.addends(_MANY)
    return lambda: bins.bincount(weights, minlength)


def _histogram(bench: Bench) -> Run:
    import torch

    weights = bench.addends(_MANY)
    if last(bench) == "histogram":
        values = bench.uniform(_MANY)
        return lambda: torch.histogram(values, 4, weight=weights)
    points = bench.uniform(_MANY, 2)
    return lambda: torch.histogramdd(points, [4, 4], weight=weights)


PROBES: dict[str, Probe] = {
    "histc.fwd": Probe(_histc),
    "histc.fwd.any": Probe(_histc, {"whole": True}),
    "bincount_weights.fwd": Probe(_bincount),
    "bincount_weights.fwd.any": Probe(_bincount, {"whole": True}),
    "histogramdd": Probe(_histogram),
}
