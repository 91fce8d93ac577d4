"""Probes of bitsandbytes, FBGEMM and CuPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Probe, Run
from detlint.verify.probes.named import named

if TYPE_CHECKING:
    from detlint.verify.bench import Bench

_MANY = 1 << 18
_CUDA = ("cuda",)


def _update_norm(bench: Bench) -> Run:
    """Return one step from a fixed state with a bound on the norm of the update, which LAMB and LARS have."""
    weights, gradient = bench.normal(_MANY), bench.addends(_MANY)

    def step(optimizer: Any, **options: Any) -> Any:
        leaf = weights.clone().requires_grad_()
        leaf.grad = gradient.clone()
        optimizer([leaf], lr=1e-2, **options).step()
        return leaf.detach()

    return named(
        bench,
        "bitsandbytes.optim",
        {"LAMB": lambda optimizer: step(optimizer), "LARS": lambda optimizer: step(optimizer, momentum=0.9)},
    )


def _table_batched(bench: Bench) -> Run:
    """Return a step of the fused optimizer where all lookups hit one row."""
    tables = bench.package("fbgemm_gpu.split_table_batched_embeddings_ops_training")
    common = bench.package("fbgemm_gpu.split_table_batched_embeddings_ops_common")
    cuda = bench.device.type == "cuda"
    place = common.EmbeddingLocation.DEVICE if cuda else common.EmbeddingLocation.HOST
    unit = tables.ComputeDevice.CUDA if cuda else tables.ComputeDevice.CPU
    table = tables.SplitTableBatchedEmbeddingBagsCodegen([(4, 64, place, unit)], device=bench.device)
    start, above = bench.normal(4, 64), bench.addends(_MANY // 4, 64)
    rows, bags = bench.colliding(_MANY // 4), bench.integers(1, 1).new_tensor(range(_MANY // 4 + 1))

    def run() -> Any:
        (weight,) = table.split_embedding_weights()
        weight.detach().copy_(start)
        table(rows, bags).backward(above)
        return weight.detach().clone()

    return run


def _cupy_add(bench: Bench) -> Run:
    bench.needs_cuda()
    arrays = bench.package("cupy")
    index, source = arrays.asarray(bench.integers(4, _MANY)), arrays.asarray(bench.addends(_MANY))
    package = "cupyx" if bench.called.startswith("cupyx") else "cupy"

    def add(function: Any) -> Any:
        target = arrays.zeros(4, dtype="float32")
        function(target, index, source)
        return target.get()

    return named(bench, package, {"scatter_add" if package == "cupyx" else "add.at": add})


def _cupy_sparse(bench: Bench) -> Run:
    bench.needs_cuda()
    arrays = bench.package("cupy")
    rows, columns, values, dense = (
        arrays.asarray(part)
        for part in (bench.integers(4, _MANY), bench.integers(64, _MANY), bench.addends(_MANY), bench.normal(64, 8))
    )

    def product(kind: Any) -> Any:
        return (kind((values, (rows, columns)), shape=(4, 64)) @ dense).get()

    return named(bench, "cupyx.scipy.sparse", dict.fromkeys(("csr_matrix", "csc_matrix", "coo_matrix"), product))


PROBES: dict[str, Probe] = {
    "bnb.adam": Probe(_update_norm),
    "tbe": Probe(_table_batched),
    "cupy.sparse": Probe(_cupy_add, devices=_CUDA),
    "cupy.sparse.matrix": Probe(_cupy_sparse, devices=_CUDA),
}
NOT_PROBED: dict[str, str] = {
    "triton.atomic": "what a kernel adds to, and where, is the program's own",
    "triton.autotune": "what varies is the choice among the configurations of the program's own kernel",
}
