"""Probes of vision packages: torchvision, detectron2, mmcv and Deformable DETR's extension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Probe, Run
from detlint.verify.probes.named import built, named

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from detlint.verify.bench import Bench

_BOXES = 64
_SIDE = 32
_CUDA = ("cuda",)


def _pair(value: Any) -> tuple[int, int]:
    return (value[0], value[1]) if isinstance(value, tuple) else (value, value)


def _regions(bench: Bench, *corners: float) -> Tensor:
    """Return the same box of the first image repeatedly, preceded by the image's number."""
    import torch

    return (
        torch.tensor([0.0, *(corners or (1.0, 1.0, 9.0, 9.0))], device=bench.device).to(bench.dtype).expand(_BOXES, -1)
    )


def _align(bench: Bench) -> Run:
    size, ratio = bench.given("output_size", 7), bench.given("sampling_ratio", 2)
    aligned, scale = bench.given("aligned", False), bench.given("spatial_scale", 1.0)
    image, boxes = bench.normal(1, 16, _SIDE, _SIDE), _regions(bench).contiguous()

    def levels(kind: Any) -> Run:
        pool = kind(["0"], size, ratio)
        return bench.gradients(lambda leaf: pool({"0": leaf}, [boxes[:, 1:]], [(_SIDE, _SIDE)]), image)

    return built(
        bench,
        "torchvision.ops",
        {
            "roi_align": lambda align: bench.gradients(
                lambda leaf: align(leaf, boxes, size, scale, ratio, aligned), image
            ),
            "RoIAlign": lambda kind: bench.gradients(
                lambda leaf: kind(size, scale, ratio, aligned)(leaf, boxes), image
            ),
            "MultiScaleRoIAlign": levels,
        },
    )


def _detectron(bench: Bench) -> Run:
    size, ratio = _pair(bench.given("output_size", 7)), bench.given("sampling_ratio", 2)
    aligned, scale = bench.given("aligned", True), bench.given("spatial_scale", 1.0)
    image, boxes = bench.normal(1, 16, _SIDE, _SIDE), _regions(bench).contiguous()

    def make(kind: Any) -> Run:
        return bench.gradients(lambda leaf: kind(size, scale, ratio, aligned)(leaf, boxes), image)

    return built(bench, "detectron2.layers", {"ROIAlign": make})


def _pool(bench: Bench) -> Run:
    size, scale = _pair(bench.given("output_size", 7)), bench.given("spatial_scale", 1.0)
    ratio = bench.given("sampling_ratio", 2)
    image, boxes = bench.normal(1, 4 * size[0] * size[1], _SIDE, _SIDE), _regions(bench).contiguous()

    def make(*more: Any, layer: bool = False) -> Callable[[Any], Run]:
        def pool(function: Any) -> Run:
            if layer:
                return bench.gradients(lambda leaf: function(size, scale, *more)(leaf, boxes), image)
            return bench.gradients(lambda leaf: function(leaf, boxes, size, scale, *more), image)

        return pool

    return built(
        bench,
        "torchvision.ops",
        {
            "roi_pool": make(),
            "ps_roi_align": make(ratio),
            "ps_roi_pool": make(),
            "RoIPool": make(layer=True),
            "PSRoIAlign": make(ratio, layer=True),
            "PSRoIPool": make(layer=True),
        },
    )


def _deformable(bench: Bench, package: str = "torchvision.ops") -> Run:
    """Use equal offsets between the pixels, so that neighbours add to the same pixels."""
    side = _pair(bench.given("kernel_size", 3))
    if package == "mmcv.ops":
        bench.needs_cuda()
    image, weight = bench.normal(2, 8, _SIDE, _SIDE), bench.normal(8, 8, *side)
    height, width = _SIDE - side[0] + 1, _SIDE - side[1] + 1
    offset = bench.ones(2, 2 * side[0] * side[1], height, width) * 0.5
    mask = bench.uniform(2, side[0] * side[1], height, width)

    def layer(kind: Any) -> Run:
        made = bench.module(kind(8, 8, side))
        return bench.gradients(made, image, offset)

    def modulated_layer(kind: Any) -> Run:
        made = bench.module(kind(8, 8, side))
        return bench.gradients(made, image, offset, mask)

    makes: dict[str, Callable[[Any], Run]] = {
        "deform_conv2d": lambda convolve: bench.gradients(convolve, image, offset, weight),
        "DeformConv2d": layer,
    }
    if package == "mmcv.ops":
        makes["modulated_deform_conv2d"] = lambda convolve: bench.gradients(convolve, image, offset, mask, weight)
        makes["ModulatedDeformConv2d"] = modulated_layer
    return built(bench, package, makes)


def _suppression(bench: Bench) -> Run:
    corners = bench.uniform(512, 2) * _SIDE
    boxes, scores = corners.repeat(1, 2) + corners.new_tensor([0.0, 0.0, 8.0, 8.0]), bench.ones(512)
    threshold, groups = bench.given("iou_threshold", 0.5), bench.integers(4, 512)
    return named(
        bench,
        "torchvision.ops",
        {
            "nms": lambda suppress: suppress(boxes, scores, threshold),
            "batched_nms": lambda suppress: suppress(boxes, scores, groups, threshold),
        },
    )


def _mmcv(bench: Bench) -> Run:
    if bench.called.rpartition(".")[2].lower().replace("_", "").startswith(("deform", "modulated")):
        return _deformable(bench, "mmcv.ops")
    import torch

    bench.needs_cuda()
    size = _pair(bench.given("output_size", 7))
    image, boxes = bench.normal(1, 16, _SIDE, _SIDE), _regions(bench).contiguous()
    rotated = _regions(bench, 16.0, 16.0, 8.0, 8.0, 0.3).contiguous()
    points, others, features = bench.normal(2, 2048, 2), bench.normal(2, 4, 2), bench.normal(2, 8, 16)
    near, three = bench.integers(16, 2, 4096).int(), bench.integers(16, 2, 4096, 3).int()
    masks, share = bench.uniform(1, 25, 2 * _SIDE, 2 * _SIDE), bench.uniform(2, 4096, 3)
    borders = boxes[:1, 1:].expand(1, _SIDE * _SIDE, -1).contiguous()
    curves = torch.cat([bench.zeros(_BOXES, 1), bench.uniform(_BOXES, 16) * 8], 1)
    queries, shapes = bench.normal(1024, 1, 256), torch.tensor([[_SIDE, _SIDE]], device=bench.device)
    places = {"reference_points": bench.ones(1, 1024, 1, 2) / 2, "spatial_shapes": shapes}

    def of(leaf: Tensor, *more: Any) -> Callable[[Any], Run]:
        return lambda function: bench.gradients(lambda value: function(value, *more), leaf)

    def layer(*more: Any) -> Callable[[Any], Run]:
        return lambda kind: bench.gradients(lambda value: kind(size, 1.0, *more)(value, boxes), image)

    def attention(kind: Any) -> Run:
        attend = bench.module(kind(256, num_levels=1, dropout=0.0))
        first = bench.colliding(1)
        return bench.gradients(lambda leaf: attend(queries, value=leaf, level_start_index=first, **places), queries)

    whole = built(
        bench,
        "mmcv.ops",
        {
            "MultiScaleDeformableAttention": attention,
            "roi_align": of(image, boxes, size, 1.0, 2),
            "RoIAlign": layer(2),
            "roi_align_rotated": of(image, rotated, size, 1.0, 2),
            "roi_pool": of(image, boxes, size, 1.0),
            "RoIPool": layer(),
            "prroi_pool": of(image, boxes, size, 1.0),
            "PrRoIPool": layer(),
            "carafe": of(image, masks, 5, 1, 2),
            "chamfer_distance": lambda distance: bench.gradients(distance, points, others),
            "gather_points": of(features, near),
            "grouping_operation": of(features, near.view(2, 1024, 4)),
            "three_interpolate": of(features, three, share),
            "border_align": of(image, borders, 4),
            "bezier_align": of(image, curves, size),
        },
    )
    if bench.called:
        return whole
    convolutions = _deformable(bench, "mmcv.ops")
    return lambda: [whole(), convolutions()]


def _voxels(bench: Bench) -> Run:
    bench.needs_cuda()
    cloud, fixed = bench.uniform(1 << 16, 4), bench.given("deterministic", False)
    space = [0.25, 0.25, 0.25], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    return named(
        bench,
        "mmcv.ops",
        {
            "Voxelization": lambda kind: kind(*space, 32, deterministic=fixed)(cloud),
            "voxelization": lambda voxelize: voxelize(cloud, *space, 32, 20000, fixed),
        },
    )


def _scattered_points(bench: Bench) -> Run:
    bench.needs_cuda()
    points, cells = bench.addends(1 << 16, 4), bench.integers(2, 1 << 16, 3).int()
    space = [0.5, 0.5, 0.5], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    average = bench.given("average_points", True)
    return named(bench, "mmcv.ops", {"DynamicScatter": lambda kind: kind(*space, average)(points, cells)})


def _multi_scale(bench: Bench) -> Run:
    import torch

    bench.needs_cuda()
    queries, heads, width = 4096, 8, 32
    shapes = torch.tensor([[_SIDE, _SIDE]], device=bench.device)
    values, places = bench.normal(1, _SIDE * _SIDE, heads, width), bench.uniform(1, queries, heads, 1, 4, 2) * 0.1
    shares, above = bench.uniform(1, queries, heads, 1, 4), bench.addends(1, queries, heads * width)
    given = values, shapes, bench.colliding(1), places, shares, above, 1
    return named(bench, "MultiScaleDeformableAttention", {"ms_deform_attn_backward": lambda backward: backward(*given)})


def _resize(bench: Bench) -> Run:
    functional = bench.package("torchvision.transforms.functional")
    size, smooth = bench.given("size", (64, 64)), bench.given("antialias", True)
    sides = [size] if isinstance(size, int) else list(size)
    return bench.gradients(
        lambda image: functional.resize(image, sides, antialias=smooth), bench.normal(8, 64, 128, 128)
    )


PROBES: dict[str, Probe] = {
    "upsample_aa.bwd.torchvision": Probe(_resize),
    "tv.roi_align.bwd": Probe(_align),
    "tv.roi_align.bwd.detectron2": Probe(_detectron),
    "tv.roi_pool.bwd": Probe(_pool),
    "tv.deform_conv2d.bwd": Probe(_deformable),
    "tv.nms": Probe(_suppression),
    "mmcv.ops": Probe(_mmcv, devices=_CUDA),
    "mmcv.ops.voxel": Probe(_voxels, devices=_CUDA),
    "mmcv.ops.scatter": Probe(_scattered_points, devices=_CUDA),
    "msda": Probe(_multi_scale, devices=_CUDA),
}
