"""Probes of running sums and products of one long row, and of gradients that reduce to one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Probe, Run
from detlint.verify.probes.calls import CUDA, function_of, name_of
from detlint.verify.probes.sizes import HALVES, along

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from detlint.verify.bench import Bench

_LONG = 1 << 22
_MANY = 1 << 20


def _scan(bench: Bench, name: str, masked: bool = False) -> Run:
    scan, dim, values = _scan_of(bench, name, masked)
    return lambda: scan(values, dim=dim)


def _scan_gradient(bench: Bench, name: str) -> Run:
    scan, dim, values = _scan_of(bench, name)
    return bench.gradients(lambda leaf: scan(leaf, dim=dim), values)


def _scan_of(bench: Bench, default: str, masked: bool = False) -> tuple[Callable[..., Any], int, Tensor]:
    import torch

    name = name_of(bench, default)
    dim = bench.given("dim", -1 if name == "cumulative_trapezoid" else 0)
    draw = bench.factors if name == "cumprod" else bench.normal if name == "logcumsumexp" else bench.addends
    return getattr(torch.masked if masked else torch, name), dim, draw(*along(dim, _LONG))


def _product_gradient(bench: Bench) -> Run:
    import torch

    values = bench.factors(_LONG)
    values[_LONG // 2] = 0
    return bench.gradients(torch.prod, values)


def _powers(bench: Bench) -> Run:
    import torch

    base = bench.ones(1) * (1 + 1e-6)
    if name_of(bench, "vander") == "vander":
        return lambda: torch.linalg.vander(base, N=_LONG)
    values = bench.factors(_LONG)
    return lambda: torch.masked.prod(values, dim=0)


def _extreme_gradient(bench: Bench) -> Run:
    function = function_of(bench, "cummax")
    dim = bench.given("dim", 0)
    values = bench.zeros(_MANY)
    values[0] = -1 if name_of(bench, "cummax") == "cummin" else 1
    return bench.gradients(lambda leaf: function(leaf, dim=dim), values.reshape(along(dim, _MANY)))


def _quantile_gradient(bench: Bench) -> Run:
    import torch

    function = function_of(bench, "quantile")
    dim, at = bench.given("dim", 0), bench.given("q", None)
    how = bench.given("interpolation", "linear")
    q = torch.tensor((0.5,) * 4096 if at is None else at, dtype=bench.dtype, device=bench.device)
    values = bench.normal(*along(0 if dim is None else dim, 1 << 16))
    return bench.gradients(lambda leaf: function(leaf, q, dim=dim, interpolation=how), values)


def _draws(bench: Bench) -> Run:
    import torch

    weights = bench.uniform(_MANY)
    count = 1 if bench.given("num_samples", 1 << 16) == 1 else 1 << 16
    replacement = bench.given("replacement", True)
    return lambda: torch.multinomial(weights, count, replacement=replacement)


def _categorical(bench: Bench) -> Run:
    import torch

    categories = torch.distributions.Categorical(probs=bench.uniform(_MANY))
    return lambda: categories.sample((1 << 16,))  # type: ignore[no-untyped-call]


def _masked_median(bench: Bench) -> Run:
    import torch

    dim = bench.given("dim", 1)
    values = bench.integers(8, *along(dim, _MANY)).to(bench.dtype)
    mask = torch.ones_like(values, dtype=torch.bool)
    return lambda: torch.masked.median(values, dim, mask=mask)


PROBES: dict[str, Probe] = {
    "cumsum.fwd": Probe(_scan, {"name": "cumsum"}, dtypes=HALVES, devices=CUDA),
    "cumsum.fwd.trapezoid": Probe(_scan, {"name": "cumulative_trapezoid"}, dtypes=HALVES, devices=CUDA),
    "cumsum.bwd": Probe(_scan_gradient, {"name": "cumsum"}, dtypes=HALVES, devices=CUDA),
    "cumprod.fwd": Probe(_scan, {"name": "cumprod"}, dtypes=HALVES, devices=CUDA),
    "cumprod.fwd.prod": Probe(_product_gradient, devices=CUDA),
    "logcumsumexp.fwd": Probe(_scan, {"name": "logcumsumexp"}, dtypes=HALVES, devices=CUDA),
    "masked_cumsum.fwd": Probe(_scan, {"name": "cumsum", "masked": True}, dtypes=HALVES, devices=CUDA),
    "masked_cumprod.fwd": Probe(_scan, {"name": "cumprod", "masked": True}, dtypes=HALVES, devices=CUDA),
    "masked_cumprod.fwd.other": Probe(_powers, devices=CUDA),
    "cummaxmin.bwd": Probe(_extreme_gradient, dtypes=HALVES, devices=CUDA),
    "quantile.bwd": Probe(_quantile_gradient, devices=CUDA),
    "multinomial_replacement.fwd": Probe(_draws, devices=CUDA),
    "multinomial_replacement.fwd.categorical": Probe(_categorical, devices=CUDA),
    "masked_median.fwd": Probe(_masked_median, dtypes=HALVES, devices=CUDA),
}
