"""Probes of losses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from detlint.verify.probe import Probe, Run
from detlint.verify.probes.sizes import each, last, options

if TYPE_CHECKING:
    from detlint.verify.bench import Bench

_LOGITS = 1 << 20


def _nll_loss2d(bench: Bench, log: bool = False) -> Run:
    from torch.nn import functional

    arguments = options(bench, reduction="mean", ignore_index=-100)
    scores, target = bench.addends(512, 4, 32, 32), bench.integers(4, 512, 32, 32)
    if log or last(bench).lower().startswith("nll"):
        return lambda: functional.nll_loss(scores, target, **arguments)
    arguments |= options(bench, label_smoothing=0.0)
    return lambda: functional.cross_entropy(scores, target, **arguments)


def _ctc_loss(bench: Bench) -> Run:
    """Use long inputs, since small problems have a kernel without atomics, and few labels, whose repeats collide."""
    import torch
    from torch.nn import functional

    arguments = options(bench, blank=0, reduction="mean", zero_infinity=False)
    steps, batch, length = 400, 16, 160
    labels = bench.integers(4, batch, length)
    labels += labels >= arguments["blank"]
    probabilities = bench.normal(steps, batch, max(20, arguments["blank"] + 1)).log_softmax(-1)
    lengths = torch.full((batch,), steps), torch.full((batch,), length)
    return bench.gradients(lambda source: functional.ctc_loss(source, labels, *lengths, **arguments), probabilities)


def _linear_cross_entropy(bench: Bench) -> Run:
    from torch.nn import functional

    arguments = options(bench, reduction="mean", ignore_index=-100, label_smoothing=0.0)
    source, weight, target = bench.normal(256, 32), bench.addends(16, 256, 32), bench.integers(16, 256, 256)
    return lambda: functional.linear_cross_entropy(source, weight, target, **arguments)


def _linear_cross_entropy_layer(bench: Bench) -> Run:
    import torch

    arguments = options(
        bench,
        in_features=32,
        num_classes=16,
        out_features=(256,),
        bias=False,
        reduction="mean",
        label_smoothing=0.0,
    )
    outputs = each(arguments["out_features"], 1)
    count = max(2, _LOGITS // (arguments["num_classes"] * math.prod(outputs)))
    layer = bench.module(torch.nn.LinearCrossEntropyLoss(**arguments))
    source = bench.addends(count, arguments["in_features"])
    target = bench.integers(arguments["num_classes"], count, *outputs)
    return lambda: layer(source, target)


def _chunked_linear_cross_entropy(bench: Bench) -> Run:
    import torch
    from torch.nn import functional

    arguments = options(bench, reduction="none", ignore_index=-100, label_smoothing=0.0)
    chunks = torch.nn.LinearCrossEntropyOptions()
    target = bench.integers(1 << 11, 1 << 11)
    return bench.gradients(
        lambda source, weight: functional.linear_cross_entropy(source, weight, target, options=chunks, **arguments),
        bench.normal(1 << 11, 64),
        bench.normal(1 << 11, 64),
    )


PROBES: dict[str, Probe] = {
    "nll_loss2d.fwd": Probe(_nll_loss2d),
    "nll_loss2d.fwd.nllloss2d": Probe(_nll_loss2d, {"log": True}),
    "nll_loss2d.fwd.module": Probe(_nll_loss2d),
    "ctc_loss.bwd": Probe(_ctc_loss),
    "linear_cross_entropy.fwd": Probe(_linear_cross_entropy),
    "linear_cross_entropy.fwd.module": Probe(_linear_cross_entropy_layer),
    "linear_cross_entropy.bwd": Probe(_chunked_linear_cross_entropy),
}
