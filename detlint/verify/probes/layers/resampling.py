"""Probes of the gradients of interpolation and of sampling at the points of a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Probe, Run
from detlint.verify.probes.sizes import HALVES, each, options, planes, rank

if TYPE_CHECKING:
    from detlint.verify.bench import Bench

_DIMENSIONS = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}
_SIDES = {1: 128, 2: 64, 3: 12}
_FACTORS = {"linear": 32}  # along one dimension, far enough for the work of several warps to overlap


def _resized(bench: Bench, mode: str, antialias: bool = False, corners: bool | None = None) -> Run:
    """Return the gradient of a resize: as the call says, else by 0.5 if antialiased, 32 if linear, or 2."""
    from torch.nn import functional

    mode = bench.given("mode", mode)
    told = bench.literal("size")
    factor = None if told is not None else bench.given("scale_factor", 0.5 if antialias else _FACTORS.get(mode, 2))
    told = factor if told is None else told
    dimensions = _DIMENSIONS.get(mode) or (len(told) if isinstance(told, (tuple, list)) else 2)
    sides = [_SIDES[dimensions]] * dimensions
    if factor is None:
        size = bench.given("size", tuple(side // 2 if antialias else side * 2 for side in sides))
        output = list(each(size, dimensions))
        sides = [max(1, side * 2 if antialias else side // 2) for side in output]
    else:
        size = bench.given("size", None)
        output = [int(side * by) for side, by in zip(sides, each(factor, dimensions), strict=True)]
    arguments = {"size": size, "scale_factor": factor, "mode": mode, "antialias": antialias}
    arguments["recompute_scale_factor"] = bench.given("recompute_scale_factor", None)
    if mode in _DIMENSIONS:
        arguments["align_corners"] = bench.given("align_corners", corners)
    source = bench.normal(*planes(bench, *sides, output=output))
    return bench.gradients(lambda source: functional.interpolate(source, **arguments), source)


def _points(bench: Bench, dimensions: int) -> tuple[Any, Any]:
    """Return an image, and a grid of many points on few of its pixels."""
    sides = (1 << 8, 1 << 8) if dimensions == 2 else (1 << 5, 1 << 5, 1 << 6)
    return bench.normal(1, 16, *(8,) * dimensions), bench.uniform(1, *sides, dimensions) * 0.2 - 0.1


def _grid_sample(bench: Bench, **chosen: Any) -> Run:
    from torch.nn import functional

    arguments = options(bench, **{"mode": "bilinear", "padding_mode": "zeros", "align_corners": None, **chosen})
    return bench.gradients(lambda source, grid: functional.grid_sample(source, grid, **arguments), *_points(bench, 2))


def _grid_sampler(bench: Bench) -> Run:
    import torch

    dimensions = rank(bench, 2)
    arguments = options(bench, interpolation_mode=0, padding_mode=0, align_corners=False)
    sample = torch.grid_sampler_3d if dimensions == 3 else torch.grid_sampler_2d
    return bench.gradients(lambda source, grid: sample(source, grid, **arguments), *_points(bench, dimensions))


def _cudnn_grid_sampler(bench: Bench) -> Run:
    import torch

    bench.needs_cuda()
    return bench.gradients(torch.cudnn_grid_sampler, *_points(bench, 2))


_CORNERS = {"align_corners": True}
_CUDNN = ("float32", "float16")

PROBES: dict[str, Probe] = {
    "upsample_linear1d.bwd": Probe(_resized, {"mode": "linear"}, dtypes=HALVES),
    "upsample_bilinear2d.bwd": Probe(_resized, {"mode": "bilinear"}, dtypes=HALVES),
    "upsample_bilinear2d.bwd.upsample": Probe(_resized, {"mode": "bilinear"}, dtypes=HALVES),
    "upsample_bilinear2d.bwd.fixed": Probe(_resized, {"mode": "bilinear", "corners": True}, dtypes=HALVES),
    "upsample_trilinear3d.bwd": Probe(_resized, {"mode": "trilinear"}, dtypes=HALVES),
    "upsample_bicubic2d.bwd": Probe(_resized, {"mode": "bicubic"}, dtypes=HALVES),
    "upsample_bicubic2d.bwd.upsample": Probe(_resized, {"mode": "bicubic"}, dtypes=HALVES),
    "upsample_bicubic2d.bwd.any": Probe(_resized, {"mode": "bicubic"}, dtypes=HALVES),
    "upsample_linear.bwd.any": Probe(_resized, {"mode": "bilinear"}, dtypes=HALVES),
    "upsample_aa.bwd": Probe(_resized, {"mode": "bilinear", "antialias": True}, dtypes=HALVES),
    "upsample_nearest.bwd": Probe(_resized, {"mode": "nearest"}, dtypes=HALVES),
    "grid_sample.bwd": Probe(_grid_sample, dtypes=HALVES),
    "grid_sample.bwd.corners_padded": Probe(_grid_sample, {**_CORNERS, "padding_mode": "border"}, dtypes=HALVES),
    "grid_sample.bwd.corners_mode": Probe(_grid_sample, {**_CORNERS, "mode": "nearest"}, dtypes=HALVES),
    "grid_sample.bwd.any": Probe(_grid_sample, dtypes=HALVES),
    "grid_sample.bwd.raw": Probe(_grid_sampler, dtypes=HALVES),
    "grid_sample_cudnn.bwd": Probe(_grid_sample, _CORNERS, dtypes=_CUDNN),
    "grid_sample_cudnn.bwd.raw": Probe(_cudnn_grid_sampler, dtypes=_CUDNN),
}
