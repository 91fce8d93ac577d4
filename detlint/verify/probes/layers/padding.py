"""Probes of padding, and of convolutions that pad with values of the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Probe, Run
from detlint.verify.probes.sizes import HALVES, budgeted, last, options, planes, rank

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from detlint.verify.bench import Bench

_PADS = {1: 200, 2: 15, 3: 5}
_ONE_WAY = (15, 15, 0, 0)  # along one dimension of two


def _sides(mode: str, pads: tuple[int, ...]) -> list[int]:
    """Return the sides of an input for pads in the order of functional.pad, the last dimension first.

    Both pads of a dimension copy the same elements: the whole input for "replicate", all but its own border for
    "reflect". The rows are long, so that different warps work on the elements of a column.
    """
    widest = [max(1, *pads[i : i + 2]) for i in range(0, len(pads), 2)]
    sides = [1 if mode == "replicate" else wide + 2 for wide in reversed(widest)]
    sides[-1] = max(sides[-1], 64) if len(sides) > 1 else sides[-1]
    return sides


def _pad(
    bench: Bench, mode: str, dimensions: int, parameter: str = "padding", default: tuple[int, ...] | None = None
) -> Run:
    from torch.nn import functional

    given = bench.given(parameter, default or _PADS[dimensions])
    pads = given if isinstance(given, tuple) else (given,) * (2 * dimensions)
    sides = _sides(mode, pads)
    source = bench.normal(*planes(bench, *sides, output=_grown(sides, pads)))
    return bench.gradients(lambda source: functional.pad(source, pads, mode=mode), source)


def _grown(sides: list[int], pads: tuple[int, ...]) -> list[int]:
    return [side + sum(pads[2 * i : 2 * i + 2]) for i, side in enumerate(reversed(sides))]


def _convolution(bench: Bench, mode: str, dimensions: int) -> Run:
    from torch import nn

    arguments = options(
        bench, out_channels=8, kernel_size=3, stride=1, padding=_PADS[dimensions], dilation=1, groups=1, bias=True
    )
    arguments["padding_mode"] = mode
    channels = bench.given("in_channels", 8 * arguments["groups"])
    kind = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}[dimensions]
    layer = kind(channels, **arguments)
    pads = tuple(layer._reversed_padding_repeated_twice)
    sides = [
        max(side, dilation * (kernel - 1) + 1)
        for side, kernel, dilation in zip(_sides(mode, pads), layer.kernel_size, layer.dilation, strict=True)
    ]
    count = max(1, budgeted(*sides, output=_grown(sides, pads))[1] // channels)
    moved = bench.module(layer)
    return bench.gradients(lambda source: moved(source), bench.normal(count, channels, *sides))


def _copied(bench: Bench, gradient: bool = False) -> Run:
    from torch.nn import functional

    name = last(bench)
    dimensions = rank(bench, 2)
    fallback = "constant" if name.startswith(("Constant", "Zero")) else "circular"
    mode = bench.given("mode", "constant") if name == "pad" else fallback
    given = bench.given("pad" if name == "pad" else "padding", 5)
    pads = given if isinstance(given, tuple) else (given,) * (2 * dimensions)
    source = bench.normal(*planes(bench, *_sides(mode, pads)))

    def call(source: Tensor) -> Any:
        return functional.pad(source, pads, mode=mode)

    return bench.gradients(call, source) if gradient else lambda: call(source)


def _probe(make: Callable[..., Run], mode: str, dimensions: int, **settings: Any) -> Probe:
    return Probe(make, {"mode": mode, "dimensions": dimensions, **settings}, dtypes=HALVES)


PROBES: dict[str, Probe] = {
    "reflection_pad2d.bwd": _probe(_pad, "reflect", 2),
    "reflection_pad2d.bwd.pad": _probe(_pad, "reflect", 2, parameter="pad"),
    "reflection_pad2d.bwd.one_way": _probe(_pad, "reflect", 2, default=_ONE_WAY),
    "reflection_pad2d.bwd.pad.one_way": _probe(_pad, "reflect", 2, parameter="pad", default=_ONE_WAY),
    "reflection_pad2d.bwd.conv": _probe(_convolution, "reflect", 2),
    "reflection_pad1d3d.bwd": _probe(_pad, "reflect", 3),
    "reflection_pad1d3d.bwd.pad": _probe(_pad, "reflect", 3, parameter="pad"),
    "reflection_pad1d3d.bwd.conv": _probe(_convolution, "reflect", 3),
    "reflection_pad1d3d.bwd.1d": _probe(_pad, "reflect", 1),
    "reflection_pad1d3d.bwd.pad1d": _probe(_pad, "reflect", 1, parameter="pad"),
    "reflection_pad1d3d.bwd.conv1d": _probe(_convolution, "reflect", 1),
    "replication_pad.bwd": _probe(_pad, "replicate", 2),
    "replication_pad.bwd.pad": _probe(_pad, "replicate", 2, parameter="pad"),
    "replication_pad.bwd.pad.1d": _probe(_pad, "replicate", 1, parameter="pad"),
    "replication_pad.bwd.pad.3d": _probe(_pad, "replicate", 3, parameter="pad"),
    "replication_pad.bwd.3d": _probe(_pad, "replicate", 3),
    "replication_pad.bwd.1d": _probe(_pad, "replicate", 1),
    "replication_pad.bwd.conv": _probe(_convolution, "replicate", 2),
    "replication_pad.bwd.conv3d": _probe(_convolution, "replicate", 3),
    "pad_constant_circular.fwd": Probe(_copied),
    "pad_constant_circular.bwd": Probe(_copied, {"gradient": True}),
}
