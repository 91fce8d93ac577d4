"""Probes of operations that write or add where an index points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.verify.probe import Probe, Run
from detlint.verify.probes.sizes import HALVES, along, last, options

if TYPE_CHECKING:
    from torch import Tensor

    from detlint.verify.bench import Bench

_MANY = 1 << 20
_PRODUCTS = 1 << 16  # factors: atomic products retry when they collide
_ROWS = 1 << 13
_SLOTS = 1 << 10  # destinations of writes: it is enough if one of them differs
_WIDTH = 64


def _terms(bench: Bench, reduce: str, *lengths: int) -> Tensor:
    return bench.factors(*lengths) if reduce in ("prod", "multiply") else bench.addends(*lengths)


def _scatter_add(bench: Bench) -> Run:
    dim = bench.given("dim", 0)
    many = along(dim, _MANY)
    target, index, source = bench.zeros(*along(dim, 4)), bench.integers(4, *many), bench.addends(*many)
    return lambda: target.scatter_add(dim, index, source)


def _scatter_reduce(bench: Bench, reduce: str, gradient: bool = False) -> Run:
    dim, reduce = bench.given("dim", 0), bench.given("reduce", reduce)
    include_self = bench.given("include_self", True)
    many = along(dim, _PRODUCTS if reduce == "prod" else _MANY)
    target, index, source = bench.ones(*along(dim, 4)), bench.integers(4, *many), _terms(bench, reduce, *many)

    def call(target: Tensor, source: Tensor) -> Tensor:
        return target.scatter_reduce(dim, index, source, reduce, include_self=include_self)

    return bench.gradients(call, target, source) if gradient else lambda: call(target, source)


def _scatter_ties(bench: Bench) -> Run:
    dim, reduce = bench.given("dim", 0), bench.given("reduce", "amax")
    include_self = bench.given("include_self", True)
    many = along(dim, _MANY)
    target, index = bench.integers(3, *along(dim, _WIDTH)).to(bench.dtype), bench.integers(_WIDTH, *many)
    source = bench.integers(3, *many).to(bench.dtype)
    return bench.gradients(
        lambda target, source: target.scatter_reduce(dim, index, source, reduce, include_self=include_self),
        target,
        source,
    )


def _scatter_writes(bench: Bench) -> Run:
    dim = bench.given("dim", 0)
    many = along(dim, _MANY)
    target, index, source = bench.zeros(*along(dim, _SLOTS)), bench.integers(_SLOTS, *many), bench.normal(*many)
    return lambda: target.scatter(dim, index, source)


def _scatter_legacy(bench: Bench, reduce: str) -> Run:
    dim, reduce = bench.given("dim", 0), bench.given("reduce", reduce)
    many = along(dim, _PRODUCTS if reduce == "multiply" else _MANY)
    target, index, source = bench.ones(*along(dim, 4)), bench.integers(4, *many), _terms(bench, reduce, *many)
    return lambda: target.scatter(dim, index, source, reduce=reduce)


def _one_value(bench: Bench) -> Run:
    import torch

    name = last(bench)
    if name == "one_hot":
        classes, number = bench.integers(_WIDTH, _ROWS), bench.given("num_classes", -1)
        return lambda: torch.nn.functional.one_hot(classes, number)
    dim = bench.given("dim", 0)
    target = bench.zeros(*along(dim, _SLOTS, _WIDTH))
    if name.startswith("index_fill"):
        rows = bench.integers(_SLOTS, _ROWS)
        return lambda: target.index_fill(dim, rows, 1.5)
    index = bench.integers(_SLOTS, *along(dim, _ROWS, _WIDTH))
    reduce = bench.given("reduce", None)
    if reduce is None:
        return lambda: target.scatter(dim, index, 1.5)
    return lambda: target.scatter(dim, index, 1.5, reduce=reduce)


def _index_add(bench: Bench) -> Run:
    dim, alpha = bench.given("dim", 0), bench.given("alpha", 1)
    target, index = bench.zeros(*along(dim, 4, _WIDTH)), bench.integers(4, _ROWS)
    source = bench.addends(*along(dim, _ROWS, _WIDTH))
    return lambda: target.index_add(dim, index, source, alpha=alpha)


def _index_reduce(bench: Bench, reduce: str, gradient: bool = False) -> Run:
    dim, reduce = bench.given("dim", 0), bench.given("reduce", reduce)
    include_self = bench.given("include_self", True)
    target, index = bench.ones(*along(dim, 4, _WIDTH)), bench.integers(4, _ROWS)
    source = _terms(bench, reduce, *along(dim, _ROWS, _WIDTH))

    def call(target: Tensor, source: Tensor) -> Tensor:
        return target.index_reduce(dim, index, source, reduce, include_self=include_self)

    return bench.gradients(call, target, source) if gradient else lambda: call(target, source)


def _index_copy(bench: Bench) -> Run:
    dim = bench.given("dim", 0)
    target, index = bench.zeros(*along(dim, _SLOTS)), bench.integers(_SLOTS, _MANY)
    source = bench.normal(*along(dim, _MANY))
    return lambda: target.index_copy(dim, index, source)


def _index_put(bench: Bench, accumulate: bool) -> Run:
    slots = 4 if accumulate else _SLOTS
    target, index = bench.zeros(slots), bench.integers(slots, _MANY)
    values = bench.addends(_MANY) if accumulate else bench.normal(_MANY)
    return lambda: target.index_put((index,), values, accumulate=accumulate)


def _put(bench: Bench, accumulate: bool) -> Run:
    slots = 4 if accumulate else _SLOTS
    target, index = bench.zeros(slots), bench.integers(slots, _MANY)
    source = bench.addends(_MANY) if accumulate else bench.normal(_MANY)
    return lambda: target.put(index, source, accumulate=accumulate)


def _put_once(bench: Bench) -> Run:
    import torch

    target, source = bench.zeros(_MANY), bench.normal(_MANY)
    index = torch.arange(_MANY, device=bench.device).flip(0)
    return lambda: target.put(index, source)


def _overlapping_target(bench: Bench) -> Run:
    import torch

    rows, values = torch.arange(_ROWS, device=bench.device), bench.normal(_ROWS, _WIDTH)

    def run() -> Tensor:
        base = bench.zeros(1, _WIDTH)
        overlapping = (
            base.as_strided((_ROWS, _WIDTH), (0, 1)) if last(bench) == "as_strided" else base.expand(_ROWS, -1)
        )
        overlapping.index_put_((rows,), values)
        return base

    return run


def _segment_reduce(bench: Bench, gradient: bool = False) -> Run:
    import torch

    arguments = options(bench, reduce="sum", axis=0)
    data, lengths = bench.addends(_ROWS, _WIDTH), bench.colliding(4) + _ROWS // 4

    def call(data: Tensor) -> Tensor:
        reduced: Tensor = torch.segment_reduce(data, lengths=lengths, unsafe=True, **arguments)
        return reduced

    return bench.gradients(call, data) if gradient else lambda: call(data)


PROBES: dict[str, Probe] = {
    "scatter_add.fwd": Probe(_scatter_add, dtypes=HALVES),
    "scatter_reduce_sum_mean.fwd": Probe(_scatter_reduce, {"reduce": "sum"}, dtypes=HALVES),
    "scatter_reduce_prod.fwd": Probe(_scatter_reduce, {"reduce": "prod"}, dtypes=HALVES),
    "scatter_reduce_prod.fwd.any": Probe(_scatter_reduce, {"reduce": "prod"}, dtypes=("int64",)),
    "scatter_reduce_prod.bwd": Probe(_scatter_reduce, {"reduce": "prod", "gradient": True}, dtypes=HALVES),
    "scatter_reduce_amaxmin.fwd": Probe(_scatter_reduce, {"reduce": "amax"}, dtypes=HALVES),
    "scatter_reduce_amaxmin.fwd.old": Probe(_scatter_reduce, {"reduce": "amax"}),
    "scatter_reduce_amaxmin.bwd": Probe(_scatter_ties),
    "scatter_src.fwd": Probe(_scatter_writes),
    "scatter_reduce_legacy.fwd": Probe(_scatter_legacy, {"reduce": "multiply"}, dtypes=HALVES),
    "scatter_reduce_legacy.fwd.any": Probe(_scatter_legacy, {"reduce": "multiply"}, dtypes=("int64",)),
    "scatter_reduce_legacy.fwd.add": Probe(_scatter_legacy, {"reduce": "add"}, dtypes=HALVES),
    "scatter_value.fwd": Probe(_one_value),
    "index_add.fwd": Probe(_index_add, dtypes=HALVES),
    "index_add.fwd.repeats": Probe(_index_add, dtypes=HALVES),
    "index_reduce.fwd": Probe(_index_reduce, {"reduce": "prod"}, dtypes=HALVES),
    "index_reduce.fwd.any": Probe(_index_reduce, {"reduce": "amax"}, dtypes=HALVES),
    "index_reduce.bwd": Probe(_index_reduce, {"reduce": "prod", "gradient": True}, dtypes=HALVES),
    "index_copy.fwd": Probe(_index_copy),
    "index_put_noacc.fwd": Probe(_index_put, {"accumulate": False}),
    "index_put_acc.cpu": Probe(_index_put, {"accumulate": True}, devices=("cpu",)),
    "index_put_acc.cuda": Probe(_index_put, {"accumulate": True}, dtypes=HALVES, devices=("cuda",)),
    "put_noacc.fwd": Probe(_put, {"accumulate": False}),
    "put_noacc.fwd.unique": Probe(_put_once),
    "put_acc.fwd": Probe(_put, {"accumulate": True}, dtypes=HALVES, devices=("cuda",)),
    "put_acc.fwd.any": Probe(_put, {"accumulate": True}, dtypes=("int64",), devices=("cuda",)),
    "put_acc.cpu": Probe(_put, {"accumulate": True}, devices=("cpu",)),
    "overlap_inplace": Probe(_overlapping_target),
    "segment_reduce.fwd": Probe(_segment_reduce),
    "segment_reduce.bwd": Probe(_segment_reduce, {"gradient": True}),
}
