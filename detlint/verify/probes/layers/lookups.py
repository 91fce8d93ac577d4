"""Probes of the gradients of operations that read where an index points: lookups, embeddings, views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Probe, Run
from detlint.verify.probes.sizes import HALVES, along, last, options

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from detlint.verify.bench import Bench

_MANY = 1 << 20
_ROWS = 1 << 13
_WIDTH = 64
_WORDS = 8  # rows of an embedding: few rows, looked up often


def _getitem(bench: Bench) -> Run:
    index = bench.integers(4, _MANY)
    return bench.gradients(lambda source: source[index], bench.normal(4))


def _take(bench: Bench) -> Run:
    index = bench.integers(4, _MANY)
    return bench.gradients(lambda source: source.take(index), bench.normal(4))


def _take_once(bench: Bench) -> Run:
    import torch

    index = torch.arange(_MANY, device=bench.device).flip(0)
    return bench.gradients(lambda source: source.take(index), bench.normal(_MANY))


def _gather(bench: Bench) -> Run:
    dim, sparse = bench.given("dim", 0), bench.given("sparse_grad", False)
    index = bench.integers(64, *along(dim, _MANY))
    return bench.gradients(lambda source: source.gather(dim, index, sparse_grad=sparse), bench.normal(*along(dim, 64)))


def _take_along_dim(bench: Bench) -> Run:
    dim = bench.given("dim", 0)
    index = bench.integers(64, *along(dim or 0, _MANY))
    return bench.gradients(lambda source: source.take_along_dim(index, dim), bench.normal(*along(dim or 0, 64)))


def _index_select(bench: Bench) -> Run:
    dim = bench.given("dim", 0)
    index = bench.integers(4, _ROWS)
    return bench.gradients(lambda source: source.index_select(dim, index), bench.normal(*along(dim, 4, _WIDTH)))


def _repeat_interleave(bench: Bench) -> Run:
    dim = bench.given("dim", 0)
    source = bench.normal(4) if dim is None else bench.normal(*along(dim, 4, _WIDTH))
    repeats = bench.colliding(4) + _ROWS // 4
    return bench.gradients(lambda source: source.repeat_interleave(repeats, dim), source)


def _as_strided(bench: Bench) -> Run:
    return bench.gradients(lambda source: source.as_strided((_ROWS, _WIDTH), (1, 1)), bench.normal(_ROWS + _WIDTH))


def _masked(bench: Bench) -> Run:
    mask, source = bench.uniform(_MANY) > 0.5, bench.normal(_MANY)
    if last(bench).startswith("masked_scatter"):
        return bench.gradients(lambda target, source: target.masked_scatter(mask, source), bench.normal(_MANY), source)
    return bench.gradients(lambda source: source.masked_select(mask), source)


def _words(bench: Bench) -> tuple[Tensor, Tensor, int | None]:
    padding = bench.given("padding_idx", None)
    width = bench.given("embedding_dim", _WIDTH)
    weight = bench.normal(max(_WORDS, abs(padding or 0) + 1), width)
    return weight, bench.integers(_WORDS, max(1 << 12, (1 << 19) // width * 8)), padding


def _embedding(bench: Bench) -> Run:
    from torch.nn import functional

    weight, ids, padding = _words(bench)
    frequency = bench.given("scale_grad_by_freq", False)
    return bench.gradients(
        lambda weight: functional.embedding(ids, weight, padding_idx=padding, scale_grad_by_freq=frequency), weight
    )


def _sparse_embedding(bench: Bench) -> Run:
    from torch.nn import functional

    weight, ids, padding = _words(bench)
    run = bench.gradients(lambda weight: functional.embedding(ids, weight, padding_idx=padding, sparse=True), weight)
    return lambda: run()[0].to_dense()


def _embedding_bag(bench: Bench) -> Run:
    from torch.nn import functional

    weight, ids, padding = _words(bench)
    bags = ids.view(-1, 8)
    return bench.gradients(
        lambda weight: functional.embedding_bag(bags, weight, mode="max", padding_idx=padding), weight
    )


def _renormalised(bench: Bench) -> Run:
    from torch.nn import functional

    arguments = options(bench, max_norm=1.0, norm_type=2.0)
    weight, ids, padding = _words(bench)
    call: Callable[..., Any] = functional.embedding
    if last(bench) == "EmbeddingBag":
        ids, call = ids.view(-1, 8), functional.embedding_bag
        arguments |= options(bench, mode="mean")

    def run() -> tuple[Tensor, Tensor]:
        changed = weight.clone()
        return call(ids, changed, padding_idx=padding, **arguments), changed

    return run


PROBES: dict[str, Probe] = {
    "getitem.bwd.cpu": Probe(_getitem, devices=("cpu",)),
    "take.bwd": Probe(_take, dtypes=HALVES, devices=("cuda",)),
    "take.bwd.any": Probe(_take_once, devices=("cuda",)),
    "take.bwd.cpu": Probe(_take, devices=("cpu",)),
    "gather.bwd": Probe(_gather, dtypes=HALVES),
    "take_along_dim.bwd": Probe(_take_along_dim, dtypes=HALVES),
    "index_select.bwd": Probe(_index_select, dtypes=HALVES),
    "repeat_interleave.bwd": Probe(_repeat_interleave, dtypes=HALVES),
    "as_strided_overlap.bwd": Probe(_as_strided, dtypes=HALVES),
    "masked_select.bwd": Probe(_masked),
    "embedding.bwd": Probe(_embedding, dtypes=HALVES),
    "sparse_embedding.bwd": Probe(_sparse_embedding, dtypes=HALVES),
    "embedding_bag_max.bwd": Probe(_embedding_bag, dtypes=HALVES),
    "embedding_max_norm.fwd": Probe(_renormalised),
}
