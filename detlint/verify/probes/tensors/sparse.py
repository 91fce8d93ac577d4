"""Probes of sparse tensors: their products, and the sums of entries with the same indices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Probe, Run
from detlint.verify.probes.calls import CUDA, name_of
from detlint.verify.probes.sizes import HALVES

if TYPE_CHECKING:
    from torch import Tensor

    from detlint.verify.bench import Bench

_SIZE = 1024


def _size(bench: Bench) -> int:
    return _SIZE if bench.device.type == "cuda" else _SIZE // 4  # a CPU takes 1.6 s for what a GPU does in 1 ms


def _thinned(bench: Bench, *shape: int) -> Tensor:
    """Return a dense matrix with about three zeros in four elements."""
    return bench.addends(*shape) * (bench.uniform(*shape) < 0.25)


def _batched_product(bench: Bench) -> Run:
    import torch

    one, other = _thinned(bench, 8, 512, 512).to_sparse(), bench.addends(8, 512, 256)
    return lambda: torch.bmm(one, other)


def _add_to_dense(bench: Bench) -> Run:
    import torch

    places, values = bench.integers(4, 2, 1 << 18), bench.addends(1 << 18)
    entries = torch.sparse_coo_tensor(places, values, (4, 4))
    if name_of(bench, "to_dense") == "to_dense":
        return entries.to_dense
    dense = bench.zeros(4, 4)
    return lambda: torch.add(dense, entries)


def _product(bench: Bench) -> Run:
    """Return products of a sparse matrix, plain and transposed, with dense ones and with itself."""
    import torch

    name, size = name_of(bench, "mm"), _size(bench)
    matrix, other = _thinned(bench, size, size).to_sparse_csr(), bench.addends(size, 256)
    result = bench.ones(size, 256)
    if name == "addmm":
        return lambda: torch.sparse.addmm(result, matrix, other)
    if name == "sampled_addmm":
        wide = bench.addends(256, size)
        return lambda: torch.sparse.sampled_addmm(matrix, other, wide)
    wide = other.t().contiguous()
    return lambda: (torch.sparse.mm(matrix, other), matrix.t() @ other, wide @ matrix, torch.sparse.mm(matrix, matrix))


def _product_gradient(bench: Bench) -> Run:
    import torch

    size = _size(bench)
    places, values = _entries(_thinned(bench, size, size))

    def call(entries: Tensor, other: Tensor) -> Any:
        return torch.sparse.mm(torch.sparse_coo_tensor(places, entries, (size, size)), other)

    return bench.gradients(call, values, bench.addends(size, 256))


def _entries(dense: Tensor) -> tuple[Tensor, Tensor]:
    entries = dense.to_sparse()
    return entries.indices(), entries.values()


def _semi_structured(bench: Bench) -> Run:
    import torch

    bench.needs_cuda()
    compress = bench.package("torch.sparse").to_sparse_semi_structured
    pattern = torch.tensor([0, 0, 1, 1], device=bench.device).repeat(_SIZE, _SIZE // 4)
    matrix, other = compress(bench.normal(_SIZE, _SIZE) * pattern), bench.normal(_SIZE, _SIZE)
    return lambda: torch.mm(matrix, other)


PROBES: dict[str, Probe] = {
    "sparse_bmm.fwd": Probe(_batched_product, devices=CUDA),
    "sparse_add_dense.fwd": Probe(_add_to_dense, dtypes=HALVES, devices=CUDA),
    "sparse_mm.fwd.fwd": Probe(_product, devices=CUDA),
    "sparse_mm.fwd.bwd": Probe(_product_gradient, devices=CUDA),
    "cusparselt": Probe(_semi_structured, dtypes=("float16", "bfloat16"), devices=CUDA),
}
