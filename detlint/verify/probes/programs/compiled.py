"""Probes of compiled functions and of kernels chosen by timing, which only fresh processes choose anew."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Kind, Probe, Run, UnavailableError
from detlint.verify.probes.calls import CUDA
from detlint.verify.probes.sizes import HALVES

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from detlint.verify.bench import Bench

_AUTOTUNE = "max-autotune-no-cudagraphs"
_LAYERS = ((3, 64, 7, 2), (64, 64, 3, 1), (64, 128, 3, 2), (128, 256, 1, 1), (256, 256, 3, 1), (512, 64, 5, 1))


def compiled(bench: Bench, function: Callable[..., Any], mode: str | None = None) -> Callable[..., Any]:
    """Return the function compiled by Inductor. Raises UnavailableError if a compiler is missing."""
    import torch

    if bench.device.type == "cuda":
        bench.package("triton")
    found = [name for name in (os.environ.get("CXX"), "g++", "clang++") if name and shutil.which(name)]
    if not found:
        raise UnavailableError("needs a C++ compiler")
    torch.compiler.reset()  # drop what this process compiled for another probe
    made: Callable[..., Any] = torch.compile(function, mode=mode, dynamic=False)
    return made


def _chosen_by_cudnn(bench: Bench) -> Run:
    """Return convolutions of several shapes and their gradients, each chosen by cuDNN's benchmark."""
    import torch

    bench.needs_cuda()
    runs = []
    for sources, targets, width, stride in _LAYERS:
        layer = bench.module(torch.nn.Conv2d(sources, targets, width, stride=stride, padding=width // 2))
        batch = bench.addends(8, sources, 56, 56)
        runs.append((layer, batch, bench.layer_gradients(layer, batch)))

    def run() -> Any:
        before = torch.backends.cudnn.benchmark
        torch.backends.cudnn.benchmark = True
        try:
            return [(layer(batch), gradients()) for layer, batch, gradients in runs]
        finally:
            torch.backends.cudnn.benchmark = before

    return run


def _chosen_by_inductor(bench: Bench, mode: str | None) -> Run:
    """Return products and reductions of several shapes, compiled anew in this process."""
    import torch

    if mode:
        bench.needs_cuda()  # elsewhere there is next to nothing to choose from
    shapes = ((512, 4096, 512), (37, 1111, 1023)) if bench.device.type == "cuda" else ((64, 512, 64),)
    inputs = [(bench.normal(rows, inner), bench.normal(inner, columns)) for rows, inner, columns in shapes]
    utils = bench.package("torch._inductor.utils")
    fresh = getattr(utils, "fresh_cache", None) or utils.fresh_inductor_cache

    def call(one: Tensor, other: Tensor) -> Any:
        product = torch.relu(one @ other)
        return product, product.softmax(-1).sum(0), one.square().mean(-1)

    made = compiled(bench, call, mode)

    def run() -> Any:
        with fresh():
            return [made(one, other) for one, other in inputs]

    return run


def _chosen_by_tunable_op(bench: Bench) -> Run:
    import torch

    bench.needs_cuda()
    tunable = bench.package("torch.cuda.tunable")
    inputs = [(bench.normal(n, k), bench.normal(k, m)) for n, k, m in ((512, 4096, 512), (37, 1111, 1023))]

    def run() -> Any:
        tunable.enable(True)
        tunable.tuning_enable(True)
        tunable.set_filename(os.devnull)
        try:
            return [torch.mm(one, other) for one, other in inputs]
        finally:
            tunable.enable(False)

    return run


def _scatter(bench: Bench) -> Run:
    import torch

    made = compiled(bench, lambda target, index, source: torch.scatter_add(target, 0, index, source))
    target, index, source = bench.zeros(4), bench.integers(4, 1 << 20), bench.addends(1 << 20)
    return lambda: made(target, index, source)


def _max_pool(bench: Bench) -> Run:
    import torch

    layer = torch.nn.MaxPool2d(3, stride=1)
    made = compiled(bench, lambda source: layer(source))
    return bench.gradients(made, bench.normal(8, 16, 64, 64))


def _scan(bench: Bench) -> Run:
    import torch

    made = compiled(bench, lambda values: torch.cumsum(values, 0))
    values = bench.addends(1_000_003)
    return lambda: made(values)


_CUDNN = Probe(_chosen_by_cudnn, kind=Kind.PROCESSES, dtypes=("float32", "float16"), devices=CUDA)
_INDUCTOR = Probe(
    _chosen_by_inductor, {"mode": _AUTOTUNE}, kind=Kind.PROCESSES, dtypes=("float32", "bfloat16"), devices=CUDA
)

PROBES: dict[str, Probe] = {
    "cudnn.benchmark": _CUDNN,
    "cudnn.flags-benchmark": _CUDNN,
    "cudnn.set-flags-benchmark": _CUDNN,
    "inductor.max-autotune": _INDUCTOR,
    "inductor.patch-max-autotune": _INDUCTOR,
    "torch.compile-max-autotune": _INDUCTOR,
    "torch.tunable-op": Probe(_chosen_by_tunable_op, kind=Kind.PROCESSES, dtypes=HALVES, devices=CUDA),
    "compile.default": Probe(_chosen_by_inductor, {"mode": None}, kind=Kind.PROCESSES, dtypes=("float32", "bfloat16")),
    "compile.scatter": Probe(_scatter, dtypes=HALVES),
    "compile.max_pool.bwd": Probe(_max_pool, devices=CUDA),
    "compile.cumsum": Probe(_scan, devices=CUDA),
}

_SAME = "sets the switch of another row through a package of its own"
NOT_PROBED: dict[str, str] = {
    "lightning.benchmark": _SAME,
    "torchtnt.benchmark": _SAME,
    "transformers.max-autotune": _SAME,
}
