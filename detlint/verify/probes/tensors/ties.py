"""Probes of operations that choose among equal values, and of the order in which they leave them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Probe, Run
from detlint.verify.probes.calls import CUDA, function_of, name_of
from detlint.verify.probes.sizes import HALVES, along

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from detlint.verify.bench import Bench

_ROWS, _LONG = 64, 1 << 16


def _tied(bench: Bench, dim: int, length: int = _LONG, rows: int = _ROWS) -> Tensor:
    """Return rows of eight different values."""
    return bench.integers(8, *along(dim, length, rows)).to(bench.dtype)


def _median(bench: Bench) -> Callable[[Tensor], Any]:
    function, dim = function_of(bench, "median"), bench.given("dim", 1)
    return lambda values: function(values, dim=dim)


def _median_forward(bench: Bench) -> Run:
    median = _median(bench)
    values = _tied(bench, bench.given("dim", 1))
    return lambda: median(values)


def _median_gradient(bench: Bench) -> Run:
    return bench.gradients(_median(bench), _tied(bench, bench.given("dim", 1)))


def _kth_value(bench: Bench) -> Run:
    import torch

    dim, k = bench.given("dim", 1), bench.given("k", 100)
    dim = -1 if dim is None else dim
    values = _tied(bench, dim, max(_LONG, k))
    return lambda: torch.kthvalue(values, k, dim=dim)


def _largest(bench: Bench) -> Run:
    import torch

    dim, k = bench.given("dim", -1), bench.given("k", 256)
    largest, in_order = bench.given("largest", True), bench.given("sorted", True)
    values = _tied(bench, dim, max(1 << 14, k), 512)
    return lambda: torch.topk(values, k, dim=dim, largest=largest, sorted=in_order)


def _sort(bench: Bench) -> Run:
    function, name = function_of(bench, "sort"), name_of(bench, "sort")
    dim = 0 if name == "msort" else bench.given("dim", -1)
    options = {} if name == "msort" else {"dim": dim, "descending": bench.given("descending", False)}
    several = [_tied(bench, dim, length) for length in (32, 128, 4096, 1 << 15)]
    return lambda: [function(values, **options) for values in several]


def _extreme(bench: Bench) -> Run:
    function, dim = function_of(bench, "argmax"), bench.given("dim", 1)
    values = _tied(bench, 1 if dim is None else dim)
    return lambda: function(values) if dim is None else function(values, dim=dim)


def _unique(bench: Bench) -> Run:
    function, dim = function_of(bench, "unique"), bench.given("dim", None)
    values = bench.integers(8, 1 << 14, 2) if dim is not None else bench.integers(1000, 1 << 20)
    return lambda: function(values, return_inverse=True, return_counts=True, dim=dim)


def _selected_gradient(bench: Bench) -> Run:
    import torch

    name, dim = name_of(bench, "sort"), bench.given("dim", 0)
    values = _tied(bench, 1 if dim is None else dim, rows=16)
    choose: Callable[[Tensor], Any]
    if name in ("topk", "kthvalue"):
        k, along_dim = bench.given("k", 16), -1 if dim is None else dim
        choose = lambda leaf: getattr(torch, name)(leaf, k, dim=along_dim)  # noqa: E731
    elif name == "msort" or dim is None:
        choose = getattr(torch, name)
    else:
        choose = lambda leaf: getattr(torch, name)(leaf, dim=dim)  # noqa: E731
    return bench.gradients(choose, values)


PROBES: dict[str, Probe] = {
    "median_dim.fwd": Probe(_median_forward, dtypes=HALVES, devices=CUDA),
    "median_dim.bwd": Probe(_median_gradient, dtypes=HALVES, devices=CUDA),
    "kthvalue.fwd": Probe(_kth_value, dtypes=HALVES, devices=CUDA),
    "topk.fwd": Probe(_largest, dtypes=HALVES, devices=CUDA),
    "sort_unstable.fwd": Probe(_sort, dtypes=HALVES),
    "argmax_ties.fwd": Probe(_extreme, dtypes=HALVES),
    "unique_order": Probe(_unique),
    "value_selecting.bwd": Probe(_selected_gradient, dtypes=HALVES),
}
