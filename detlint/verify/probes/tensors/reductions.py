"""Probes of reductions, norms and sliding windows, which are repeatable: controls."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Probe, Run
from detlint.verify.probes.sizes import HALVES, last

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from detlint.verify.bench import Bench

_SHAPE = (8, 16, 64, 64)


def _calls() -> dict[str, tuple[Callable[..., Any], int]]:
    """Return functions of an image and a weight, with the weight's size (0: no weight), by lower-case name."""
    from torch.nn import functional

    *_, channels, height, width = _SHAPE
    return {
        "layernorm": (lambda x, w: functional.layer_norm(x, (width,), w), width),
        "rmsnorm": (lambda x, w: functional.rms_norm(x, (width,), w), width),
        "groupnorm": (lambda x, w: functional.group_norm(x, 4, w), channels),
        "batchnorm": (lambda x, w: functional.batch_norm(x, None, None, w, training=True), channels),
        "prelu": (functional.prelu, channels),
        "fold": (lambda x: functional.fold(x.flatten(2), height + 2, 3), 0),
        "unfold": (lambda x: (functional.unfold(x, 3), x.unfold(2, 3, 1)), 0),
        "softmax": (lambda x: functional.softmax(x, -1), 0),
        "sum": (lambda x: (x.sum(), x.sum(0)), 0),
        "mean": (lambda x: (x.mean(), x.mean(0)), 0),
        "var": (lambda x: (x.var(), x.var(0)), 0),
        "norm": (lambda x: (x.norm(), x.norm(dim=0)), 0),
    }


def _controls(bench: Bench, gradient: bool = False) -> Run:
    calls = _calls()
    name = re.sub(r"[123]d$", "", last(bench).replace("_", "").lower())
    runs: list[Run] = []
    for key in [name] if name in calls else calls:
        call, size = calls[key]
        # the blocks that fold adds up: nine for each channel, as many as there are places for them
        source = bench.normal(8, 9, *_SHAPE[2:]) if key == "fold" else bench.normal(*_SHAPE)
        inputs = (source, bench.normal(size)) if size else (source,)
        runs.append(bench.gradients(call, *inputs) if gradient else _forward(call, *inputs))
    return lambda: [run() for run in runs]


def _forward(call: Callable[..., Any], *inputs: Tensor) -> Run:
    return lambda: call(*inputs)


PROBES: dict[str, Probe] = {
    "fold_unfold.fwd": Probe(_controls, dtypes=HALVES),
    "fold_unfold.bwd": Probe(_controls, {"gradient": True}, dtypes=HALVES),
}
