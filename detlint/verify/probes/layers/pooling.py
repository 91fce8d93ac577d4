"""Probes of pooling with windows of a fixed size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Probe, Run
from detlint.verify.probes.sizes import HALVES, each, last, options, planes, rank

if TYPE_CHECKING:
    from detlint.verify.bench import Bench

_OVERLAPPING = {"kernel_size": 3, "stride": 2}  # with stride 1 and no padding, avg_pool3d has a kernel without atomics
_INDICES = {"dimensions": 3, "return_indices": True}
_DISJOINT = {"kernel_size": 2, "stride": None}


def _around(bench: Bench, arguments: dict[str, Any], dimensions: int) -> tuple[int, ...]:
    """Return the shape of an input that holds several windows of this size, stride and dilation."""
    kernels = each(arguments["kernel_size"], dimensions)
    strides = each(arguments["stride"], dimensions) if arguments["stride"] else kernels
    dilations = each(arguments.get("dilation", 1), dimensions)
    windows = [
        max(16, dilation * (kernel - 1) + 1 + 4 * stride)
        for kernel, stride, dilation in zip(kernels, strides, dilations, strict=True)
    ]
    return planes(bench, *windows)


def _avg_pool3d(bench: Bench, **windows: Any) -> Run:
    from torch.nn import functional

    windows = {"padding": 0, **windows}
    arguments = options(bench, **windows, ceil_mode=False, count_include_pad=True, divisor_override=None)
    return bench.gradients(
        lambda source: functional.avg_pool3d(source, **arguments), bench.normal(*_around(bench, arguments, 3))
    )


def _lp_pool3d(bench: Bench, **windows: Any) -> Run:
    from torch.nn import functional

    arguments = options(bench, **windows, norm_type=2.0, ceil_mode=False)
    return bench.gradients(
        lambda source: functional.lp_pool3d(source, **arguments), bench.uniform(*_around(bench, arguments, 3))
    )


def _max_pool(bench: Bench, dimensions: int, **windows: Any) -> Run:
    from torch.nn import functional

    dimensions = rank(bench, dimensions)
    asked = {"padding": 0, "dilation": 1, "ceil_mode": False, "return_indices": False} | windows
    arguments = options(bench, **asked)
    arguments["return_indices"] |= last(bench).endswith("_with_indices")
    pool = getattr(functional, f"max_pool{dimensions}d")
    return bench.gradients(
        lambda source: pool(source, **arguments), bench.normal(*_around(bench, arguments, dimensions))
    )


def _local_response_norm(bench: Bench) -> Run:
    from torch.nn import functional

    arguments = options(bench, size=5, alpha=1e-4, beta=0.75, k=1.0)
    channels = max(64, 2 * arguments["size"])
    # scaled so that the sum of squares matters compared with k
    source = bench.normal(2, channels, 16, 32) / math.sqrt(arguments["alpha"] or 1)
    return bench.gradients(lambda source: functional.local_response_norm(source, **arguments), source)


def _fractional_max_pool(bench: Bench) -> Run:
    from torch.nn import functional

    dimensions = rank(bench, 2)
    arguments = options(bench, kernel_size=3, output_ratio=None)
    kernels = each(arguments["kernel_size"], dimensions)
    if arguments["output_ratio"] is None:
        arguments["output_size"] = bench.given("output_size", 13)
        outputs = each(arguments["output_size"], dimensions)
        sizes = [output + kernel for output, kernel in zip(outputs, kernels, strict=True)]
    else:
        arguments["output_ratio"] = ratios = each(arguments["output_ratio"], dimensions)
        sizes = [max(16, math.ceil(kernel / (1 - ratio))) for ratio, kernel in zip(ratios, kernels, strict=True)]
    source = bench.normal(*planes(bench, *sizes))
    samples = bench.uniform(*source.shape[:2], dimensions)
    pool = getattr(functional, f"fractional_max_pool{dimensions}d")
    return bench.gradients(lambda source: pool(source, **arguments, _random_samples=samples), source)


def _max_unpool(bench: Bench) -> Run:
    from torch.nn import functional

    dimensions = rank(bench, 2)
    arguments = options(bench, kernel_size=3, stride=1, padding=0)
    plane = (1, 1, *{1: (1 << 18,), 2: (1 << 9, 1 << 9), 3: (1 << 6, 1 << 6, 1 << 6)}[dimensions])
    values, indices = bench.normal(*plane), bench.integers(64, *plane)
    unpool = getattr(functional, f"max_unpool{dimensions}d")
    return lambda: unpool(values, indices, **arguments)


PROBES: dict[str, Probe] = {
    "avg_pool3d.bwd": Probe(_avg_pool3d, _OVERLAPPING, dtypes=HALVES),
    "avg_pool3d.bwd.padded": Probe(_avg_pool3d, {"kernel_size": 3, "stride": 1, "padding": 1}, dtypes=HALVES),
    "avg_pool3d.bwd.disjoint": Probe(_avg_pool3d, _DISJOINT, dtypes=HALVES),
    "lp_pool3d.bwd": Probe(_lp_pool3d, _OVERLAPPING, dtypes=HALVES),
    "lp_pool3d.bwd.disjoint": Probe(_lp_pool3d, _DISJOINT, dtypes=HALVES),
    "max_pool3d.bwd": Probe(_max_pool, {"dimensions": 3, "kernel_size": 3, "stride": 1}, dtypes=HALVES),
    "max_pool3d.bwd.indices": Probe(_max_pool, {**_INDICES, "kernel_size": 3, "stride": 1}, dtypes=HALVES),
    "max_pool3d.bwd.with_indices": Probe(_max_pool, {**_INDICES, "kernel_size": 3, "stride": 1}, dtypes=HALVES),
    "max_pool3d.bwd.disjoint": Probe(_max_pool, {"dimensions": 3, **_DISJOINT}, dtypes=HALVES),
    "max_pool3d.bwd.disjoint.indices": Probe(_max_pool, {**_INDICES, **_DISJOINT}, dtypes=HALVES),
    "max_pool3d.bwd.disjoint.with_indices": Probe(_max_pool, {**_INDICES, **_DISJOINT}, dtypes=HALVES),
    "max_pool2d.bwd": Probe(_max_pool, {"dimensions": 2, "kernel_size": 3, "stride": 1}, dtypes=HALVES),
    "local_response_norm.bwd": Probe(_local_response_norm),
    "fractional_max_pool.bwd": Probe(_fractional_max_pool, dtypes=HALVES),
    "max_unpool.fwd": Probe(_max_unpool),
}
