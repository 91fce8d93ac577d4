"""Probes of convolutions and recurrent layers, which cuDNN computes."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Probe, Run
from detlint.verify.probes.calls import CUDA, few, name_of, on_two_streams
from detlint.verify.probes.sizes import HALVES, each

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from detlint.verify.bench import Bench

_SIZES = {1: 1024, 2: 56, 3: 14}  # of each dimension of an input
_MOST = 1 << 23  # elements of a batch
_HIDDEN = 256


def _forward(bench: Bench, transposed: bool = False) -> Run:
    layer, batch = _convolution(bench, transposed)
    return lambda: layer(batch)


def _gradient(bench: Bench, transposed: bool = False) -> Run:
    return bench.layer_gradients(*_convolution(bench, transposed))


def _convolution(bench: Bench, transposed: bool) -> tuple[torch.nn.Module, Tensor]:
    """Return a layer with the arguments of the call, and a batch that fits it."""
    from torch import nn

    told = re.search(r"([123])d", bench.called)
    rank = int(told[1]) if told else 2
    groups = bench.given("groups", 1)
    channels = groups * max(1, 64 // groups)
    sources, targets = bench.given("in_channels", channels), bench.given("out_channels", channels)
    kernel = each(bench.given("kernel_size", 3), rank)
    dilation = each(bench.given("dilation", 1), rank)
    options: dict[str, Any] = {"stride": bench.given("stride", 2 if transposed else 1), "dilation": dilation}
    options["padding"] = bench.given("padding", 0)
    if transposed:
        options["output_padding"] = bench.given("output_padding", 0)
    else:
        options["padding_mode"] = bench.given("padding_mode", "zeros")
    size = [max(_SIZES[rank], reach * (wide - 1) + 1) for reach, wide in zip(dilation, kernel, strict=True)]
    made = getattr(nn, f"Conv{'Transpose' if transposed else ''}{rank}d")
    layer = bench.module(made(sources, targets, kernel, groups=groups, bias=bench.given("bias", True), **options))
    work = sources * targets / groups * math.prod(kernel) * math.prod(size)
    most = max(1, min(32, _MOST // (max(sources, targets) * math.prod(size))))
    return layer, bench.addends(few(bench, work, most), sources, *size)


def _recurrent_forward(bench: Bench) -> Run:
    layer, batch = _recurrent(bench)
    return on_two_streams(bench, lambda: layer(batch))


def _recurrent_gradient(bench: Bench) -> Run:
    import torch

    layer, batch = _recurrent(bench)
    batch.requires_grad_()
    leaves = [batch, *layer.parameters()]
    above: list[Tensor] = []

    def run() -> Any:
        found = layer(batch)
        output = found[0] if isinstance(found, tuple) else found
        if not above:
            above.append(bench.addends(*output.shape))
        return torch.autograd.grad(output, leaves, above[0])

    run()
    return on_two_streams(bench, run)


def _recurrent(bench: Bench) -> tuple[torch.nn.Module, Tensor]:
    from torch import nn

    name = name_of(bench, "LSTM")
    width, hidden = bench.given("input_size", _HIDDEN), bench.given("hidden_size", _HIDDEN)
    options: dict[str, Any] = {"bias": bench.given("bias", True)}
    if name.startswith("RNN"):
        options["nonlinearity"] = bench.given("nonlinearity", "tanh")
    if name.endswith("Cell"):
        return bench.module(getattr(nn, name)(width, hidden, **options)), bench.normal(4096, width)
    if name == "LSTM":
        options["proj_size"] = bench.given("proj_size", 0)
    options["num_layers"] = bench.given("num_layers", 2)
    options["bidirectional"] = bench.given("bidirectional", False)
    steps = 32 if bench.device.type == "cuda" else 8
    work = 4 * hidden * (width + hidden) * options["num_layers"] * steps * 4
    return bench.module(getattr(nn, name)(width, hidden, **options)), bench.normal(steps, few(bench, work, 64), width)


PROBES: dict[str, Probe] = {
    "conv.fwd": Probe(_forward, dtypes=HALVES, devices=CUDA),
    "conv.bwd": Probe(_gradient, dtypes=HALVES, devices=CUDA),
    "conv_transpose.fwd": Probe(_forward, {"transposed": True}, dtypes=HALVES, devices=CUDA),
    "conv_transpose.bwd": Probe(_gradient, {"transposed": True}, dtypes=HALVES, devices=CUDA),
    "rnn.fwd": Probe(_recurrent_forward, dtypes=HALVES, devices=CUDA),
    "rnn.bwd": Probe(_recurrent_gradient, dtypes=HALVES, devices=CUDA),
}
