"""The addends of operations that add, multiply or write where an index points."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from detlint.verify.orders.addends import Addends

if TYPE_CHECKING:
    from torch import Tensor

    from detlint.verify.bench import Bench

_MANY = 512
_SLOTS = 4
_WIDTH = 3
_BLOCKS = 16
_BLOCK = 1024
_LARGEST = 1 << 16  # places of a literal index


def scattered(bench: Bench, call: Callable[[Tensor, Tensor, Tensor], Tensor], combine: str = "add") -> Addends:
    """Return the addends of `call(target, index, values)`, all 1-D, which puts each value where `index` says."""
    index = _index(bench)
    target, values = _target(bench, index, combine), _values(bench, combine, index.numel())
    return Addends(index, values, target, call(target, index, values), combine)


def rows(bench: Bench, call: Callable[[Tensor, Tensor, Tensor], Tensor], combine: str = "add") -> Addends:
    """Return the addends of `call(target, index, values)` on matrices, which puts each row where `index` says."""
    import torch

    index = _index(bench)
    target = _target(bench, index, combine)[:, None].expand(-1, _WIDTH).contiguous()
    values = _values(bench, combine, index.numel() * _WIDTH).view(-1, _WIDTH)
    places = (index[:, None] * _WIDTH + torch.arange(_WIDTH)).reshape(-1)
    return Addends(places, values.reshape(-1), target.view(-1), call(target, index, values).reshape(-1), combine)


def weighed(bench: Bench) -> Addends:
    """Return the addends of a count that adds a weight for each element to its bin."""
    import torch

    index = _index(bench)
    values = _values(bench, "add", index.numel())
    kept = torch.float64 if values.dtype is torch.float64 else torch.float32  # the dtype in which bincount adds
    expected = torch.bincount(index, values.to(kept)).to(kept)
    return Addends(index, values.to(kept), torch.zeros_like(expected), expected)


def losses(bench: Bench) -> Addends:
    """Return the addends of a sum to which blocks add, each after summing its own part in a fixed order."""
    import torch
    from torch.nn import functional

    scores, classes = bench.normal(1, 3, _BLOCKS, _BLOCK), bench.integers(3, 1, _BLOCKS, _BLOCK)
    bench.assumed["blocks"] = _BLOCKS
    parts = -scores.gather(1, classes[:, None]).view(_BLOCKS, _BLOCK).sum(1)
    total = functional.nll_loss(scores, classes, reduction="sum")[None]
    return Addends(torch.zeros(_BLOCKS, dtype=torch.int64), parts, torch.zeros_like(total), total)


def _index(bench: Bench) -> Tensor:
    """Return the index of the call if the code gives its numbers, else one that repeats few numbers."""
    import torch

    for name in (f"@values.{parameter}" for parameter in _PARAMETERS):
        known: Any = bench.literal(name)
        if known and min(known) >= 0 and max(known) < _LARGEST:
            return torch.tensor(bench.given(name, None), dtype=torch.int64)
    bench.assumed["index"] = f"{_MANY} numbers below {_SLOTS}"
    return bench.integers(_SLOTS, _MANY)


ZEROS = "@zeros"  # set if the tensor that is changed is all zeros
_PARAMETERS = ("index", "indices", "input")


def _target(bench: Bench, index: Tensor, combine: str) -> Tensor:
    """Return the initial values of the target.

    They are zeros (ones for a product) for writes, in a sweep, and if the code says that the target is zeros, which
    makes the sum of two addends the same in either order. Otherwise they are drawn.
    """
    size = int(index.max()) + 1
    if combine == "write" or not bench.called or bench.literal(ZEROS):
        return bench.ones(size) if combine == "multiply" else bench.zeros(size)
    return _values(bench, combine, size)


def _values(bench: Bench, combine: str, count: int) -> Tensor:
    if not bench.dtype.is_floating_point:
        return bench.integers(100, count).to(bench.dtype)
    return bench.factors(count) if combine == "multiply" else bench.normal(count)


def reduced(bench: Bench, name: str) -> str:
    """Return how a call combines, by its literal or by the default of its row; "" for another name."""
    found = str(bench.given("reduce", name))
    return {
        "prod": "multiply",
        "mul": "multiply",
        "multiply": "multiply",
        "sum": "add",
        "add": "add",
        "mean": "add",
    }.get(found, "")
