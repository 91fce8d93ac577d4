"""Probes of matrix products, of distances, and of the effect that the rest of a batch has on one row.

An operation of the batch-invariance kind repeats from run to run like any other product. Its probe varies the batch
around one row from run to run. The results are those of that row, so they differ if the batch affects its bits.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Kind, Probe, Run, UnavailableError
from detlint.verify.probes.calls import CUDA, few, function_of, name_of, on_two_streams
from detlint.verify.probes.sizes import HALVES

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from detlint.verify.bench import Bench

_LONG = 4096  # the sums are long, so that it pays to split them
_SHAPES = {
    "bmm": "bik bkj",
    "addmm": "ij ik kj",
    "addbmm": "ij bik bkj",
    "baddbmm": "bij bik bkj",
    "mv": "ik k",
    "linear": "ik jk j",
}
_BATCHES = (2048, 1, 7, 64, 512)  # sizes that call for different kernels


def _forward(bench: Bench) -> Run:
    product, factors = _product(bench)
    return on_two_streams(bench, lambda: product(*factors))


def _gradient(bench: Bench) -> Run:
    product, factors = _product(bench)
    run = bench.gradients(product, *factors)
    run()
    return on_two_streams(bench, run)


def _product(bench: Bench) -> tuple[Callable[..., Tensor], list[Tensor]]:
    import torch

    name = name_of(bench, "mm").lower()
    rows = few(bench, 4 * 512 * _LONG, 512)
    sizes = {"b": 4, "i": rows, "j": 512, "k": _LONG}
    factors = [bench.addends(*(sizes[axis] for axis in axes)) for axes in _SHAPES.get(name, "ik kj").split()]
    if name == "einsum":
        return lambda one, other: torch.einsum("ik,kj->ij", one, other), factors
    product: Callable[..., Tensor] = getattr(torch.nn.functional if name == "linear" else torch, name)
    return product, factors


def _scaled(bench: Bench) -> Run:
    import torch

    name = name_of(bench, "_grouped_mm")
    multiply: Callable[..., Tensor] | None = getattr(torch, name, None)
    if multiply is None:
        raise UnavailableError(f"this torch has no torch.{name}")
    ends = torch.tensor([128, 256, 384, 512], dtype=torch.int32, device=bench.device)
    rows, columns = bench.normal(512, 1024), bench.normal(4, 2048, 1024)
    if name == "_grouped_mm":
        one, other = rows.to(torch.bfloat16), columns.to(torch.bfloat16).mT

        def run() -> Tensor:
            one / (one.abs().amax(-1, keepdim=True) / 448)  # a preceding kernel that changed a result in PyTorch
            return multiply(one, other, offs=ends)

        return run
    bench.needs_cuda()
    one, other = rows.to(torch.float8_e4m3fn), columns.to(torch.float8_e4m3fn).mT
    if name == "_scaled_mm":
        scale = torch.ones((), device=bench.device)
        return lambda: multiply(one, other[0], scale_a=scale, scale_b=scale, out_dtype=torch.bfloat16)
    scales = torch.ones(512, device=bench.device), torch.ones(4, 2048, device=bench.device)
    return lambda: multiply(one, other, *scales, offs=ends, out_dtype=torch.bfloat16)


def _grouped_rest(bench: Bench) -> Run:
    """Return a grouped product whose last group ends before the last row: nothing writes the rows after it."""
    import torch

    multiply: Callable[..., Tensor] | None = getattr(torch, "_grouped_mm", None)
    if multiply is None:
        raise UnavailableError("this torch has no torch._grouped_mm")
    ends = torch.tensor([4, 8], dtype=torch.int32, device=bench.device)
    rows, columns = bench.normal(16, 64).to(torch.bfloat16), bench.normal(2, 64, 64).to(torch.bfloat16)

    def run() -> Tensor:
        bench.dirty(16, 64, dtype=torch.bfloat16)
        return multiply(rows, columns, offs=ends)

    return run


def _distances_gradient(bench: Bench) -> Run:
    import torch

    p, name = bench.given("p", 2.0), name_of(bench, "cdist")
    points = bench.normal(512, 64)
    if name == "pdist":
        return bench.gradients(lambda one: torch.nn.functional.pdist(one, p), points)
    return bench.gradients(lambda one, other: torch.cdist(one, other, p), points, bench.normal(512, 64))


def _row_of_product(bench: Bench) -> Run:
    import torch

    name = name_of(bench, "mm")
    columns = few(bench, max(_BATCHES) * 2048, 1024)
    rows, other, bias = bench.normal(max(_BATCHES), 2048), bench.normal(2048, columns), bench.normal(columns)
    if name == "addmm":
        return _one_row(lambda batch: torch.addmm(bias, batch, other), rows)
    if name == "linear":
        return _one_row(lambda batch: torch.nn.functional.linear(batch, other.t(), bias), rows)
    return _one_row(lambda batch: torch.mm(batch, other), rows)


def _row_of_reduction(bench: Bench) -> Run:
    from torch import nn

    name, rows = name_of(bench, "mean"), bench.addends(max(_BATCHES), 4096)
    if name in ("RMSNorm", "LayerNorm"):
        return _one_row(bench.module(getattr(nn, name)(4096)), rows)
    function = function_of(bench, "mean")
    return _one_row(lambda batch: function(batch, -1), rows)


def _one_row(function: Callable[[Tensor], Any], rows: Tensor) -> Run:
    """Return the result of the first row, in a batch of another size in each run."""
    sizes = itertools.cycle(_BATCHES)

    def run() -> Any:
        return function(rows[: next(sizes)])[:1]

    return run


PROBES: dict[str, Probe] = {
    "matmul.fwd": Probe(_forward, dtypes=HALVES, devices=CUDA),
    "matmul.bwd": Probe(_gradient, dtypes=HALVES, devices=CUDA),
    "scaled_mm": Probe(_scaled, devices=CUDA),
    "grouped_mm.rest": Probe(_grouped_rest, kind=Kind.MEMORY),
    "cdist_pdist.bwd": Probe(_distances_gradient),
    "bi.matmul": Probe(_row_of_product, kind=Kind.BATCHES, dtypes=HALVES),
    "bi.reduce": Probe(_row_of_reduction, kind=Kind.BATCHES, dtypes=HALVES),
}
