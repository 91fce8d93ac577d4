"""Probes of pooling whose windows follow from the size of the output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Probe, Run
from detlint.verify.probes.sizes import HALVES, each, options, planes

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from detlint.verify.bench import Bench

_OUTPUT = {1: 50, 2: (49, 50), 3: (9, 10, 11)}


def pooled(bench: Bench, pool: Callable[[Tensor], Any], output: Any, dimensions: int) -> Run:
    """Return the gradients of a pooling to this output size.

    One input is larger than the output, so that windows overlap at their borders. In more than one dimension, a second
    input is smaller than the output, so that more windows share an element. Along one dimension, at most two windows of
    the first input share an element.
    """
    sizes = each(output, dimensions)
    inputs = [[16 if size in (None, 1) else 3 * size + 1 for size in sizes]]
    if dimensions > 1 and any(size not in (None, 1) for size in sizes):
        inputs.append([16 if size is None else max(1, size // 3) for size in sizes])
    outputs = [size or 16 for size in sizes]
    runs = [bench.gradients(pool, bench.normal(*planes(bench, *sides, output=outputs))) for sides in inputs]
    return lambda: [run() for run in runs]


def _adaptive(bench: Bench, kind: str, dimensions: int, output: Any = None) -> Run:
    from torch.nn import functional

    output = bench.given("output_size", output or _OUTPUT[dimensions])
    arguments = options(bench, return_indices=False) if kind == "max" else {}
    pool = getattr(functional, f"adaptive_{kind}_pool{dimensions}d")
    return pooled(bench, lambda source: pool(source, output, **arguments), output, dimensions)


def _area(bench: Bench) -> Run:
    from torch.nn import functional

    size = bench.given("size", _OUTPUT[2])
    dimensions = len(size) if isinstance(size, tuple) else 2
    return pooled(bench, lambda source: functional.interpolate(source, size=size, mode="area"), size, dimensions)


def _area_factor(bench: Bench) -> Run:
    from torch.nn import functional

    factor = bench.given("scale_factor", 0.5)
    dimensions = len(factor) if isinstance(factor, tuple) else 2
    source = bench.normal(*planes(bench, *(32,) * dimensions))
    return bench.gradients(lambda source: functional.interpolate(source, scale_factor=factor, mode="area"), source)


PROBES: dict[str, Probe] = {
    "adaptive_avg_pool2d.bwd": Probe(_adaptive, {"kind": "avg", "dimensions": 2}, dtypes=HALVES),
    "adaptive_avg_pool2d.bwd.1d": Probe(_adaptive, {"kind": "avg", "dimensions": 1}, dtypes=HALVES),
    "adaptive_avg_pool3d.bwd": Probe(_adaptive, {"kind": "avg", "dimensions": 3}, dtypes=HALVES),
    "adaptive_max_pool2d.bwd": Probe(_adaptive, {"kind": "max", "dimensions": 2}, dtypes=HALVES),
    "adaptive_max_pool2d.bwd.one": Probe(_adaptive, {"kind": "max", "dimensions": 2, "output": 1}, dtypes=HALVES),
    "adaptive_max_pool2d.bwd.1d": Probe(_adaptive, {"kind": "max", "dimensions": 1}, dtypes=HALVES),
    "adaptive_max_pool3d.bwd": Probe(_adaptive, {"kind": "max", "dimensions": 3}, dtypes=HALVES),
    "interpolate_area.bwd": Probe(_area, dtypes=HALVES),
    "interpolate_area.bwd.factor": Probe(_area_factor, dtypes=HALVES),
}
