"""The addends of gradients: what each element of the result contributes to one element of the input.

A gradient is linear in the upstream gradient: for each element of the result that depends on an element of the input,
the kernel adds `weight * gradient`, with atomics in any order. The weights are the derivatives of the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from detlint.verify.bench import Bench
from detlint.verify.orders.addends import Addends, UnlikeError
from detlint.verify.probe import Probe, Run, UnavailableError
from detlint.verify.probes.sizes import SHAPE

if TYPE_CHECKING:
    from torch import Tensor

_PLACES = 6  # elements of the input that are examined
_MOST = 128  # addends of each element


class Gathering(Bench):
    """A bench that records the function whose gradient a probe would measure, instead of measuring it."""

    asked: tuple[Callable[..., Any], tuple[Tensor, ...]] | None = None

    def gradients(self, function: Callable[..., Any], *leaves: Tensor, upstream: str = "addends") -> Run:
        """Record the first function that is passed, with its leaves, and return a run that does nothing."""
        self.asked = self.asked or (function, leaves)
        if SHAPE not in self.taken:
            self.assumed[SHAPE] = tuple(self.asked[1][0].shape)
        return lambda: None


def of(probe: Probe, bench: Gathering) -> Addends:
    """Return the addends of the gradient that a probe measures, at a few elements of its first leaf.

    Raises UnlikeError if they do not add up to torch's own gradient, and UnavailableError if the probe takes none.
    """
    probe.build(bench)
    if bench.asked is None:
        raise UnavailableError("the probe takes no gradient")
    function, leaves = bench.asked
    leaf = leaves[0].detach().requires_grad_()
    output = _first(function(leaf, *leaves[1:]))
    above = bench.normal(*output.shape).to(output.dtype)
    found, places = None, _places(leaf, output)
    for columns in _WAYS:
        try:
            weights = list(columns(function, leaf, leaves[1:], output, places))
            found = _gathered(leaf, output, above, weights)
            if not found.most:
                raise UnlikeError("nothing of the result comes from these elements")
            found.check(next(found.results()))
        except (UnlikeError, RuntimeError):
            if columns is _WAYS[-1]:
                raise
        else:
            break
    assert found is not None
    return found


def _first(result: Any) -> Tensor:
    """Return the first tensor of a result that requires a gradient."""
    import torch

    several = result if isinstance(result, (tuple, list)) else (result,)
    return next(one for one in several if isinstance(one, torch.Tensor) and one.requires_grad)


def _places(leaf: Tensor, output: Tensor) -> list[int]:
    """Return the indices of the input elements with the largest effect on the result."""
    import torch

    (parts,) = torch.autograd.grad(output, leaf, torch.ones_like(output), retain_graph=True)
    return [int(place) for place in parts.reshape(-1).abs().topk(min(_PLACES, parts.numel())).indices]


def _by_linearity(
    function: Callable[..., Any], leaf: Tensor, others: tuple[Tensor, ...], output: Tensor, places: list[int]
) -> Iterator[tuple[int, Tensor]]:
    """Yield the result of an operation, taken to be linear, for a one among zeros at each place."""
    import torch

    for place in places:
        one = torch.zeros_like(leaf).detach()
        one.view(-1)[place] = 1
        yield place, _first(function(one.requires_grad_(), *others)).detach().reshape(-1)


def _by_second_derivative(
    function: Callable[..., Any], leaf: Tensor, others: tuple[Tensor, ...], output: Tensor, places: list[int]
) -> Iterator[tuple[int, Tensor]]:
    """Yield, for each place, the derivative of its gradient by the upstream gradient, in which it is linear."""
    import torch

    above = torch.zeros_like(output).detach().requires_grad_()
    (gradient,) = torch.autograd.grad(output, leaf, above, create_graph=True)
    for place in places:
        one = torch.zeros_like(leaf).detach()
        one.view(-1)[place] = 1
        (weights,) = torch.autograd.grad(gradient, above, one, retain_graph=True)
        yield place, weights.detach().reshape(-1)


def _by_rank(
    function: Callable[..., Any], leaf: Tensor, others: tuple[Tensor, ...], output: Tensor, places: list[int]
) -> Iterator[tuple[int, Tensor]]:
    """Yield which elements of the result are the input's element, if the operation selects by size, like a maximum."""
    import torch

    ranks = torch.empty(leaf.numel())
    ranks[leaf.detach().reshape(-1).argsort()] = torch.arange(leaf.numel(), dtype=torch.float32)
    selected = _first(function(ranks.view(leaf.shape).requires_grad_(), *others)).detach().reshape(-1)
    for place in places:
        yield place, (selected == ranks[place]).to(output.dtype)


_WAYS = (_by_linearity, _by_second_derivative, _by_rank)


def _gathered(leaf: Tensor, output: Tensor, above: Tensor, weights: list[tuple[int, Tensor]]) -> Addends:
    """Return the addends, for the elements of the result examined, and torch's own gradient from these alone."""
    import torch

    kept = torch.zeros(output.numel(), dtype=torch.bool)
    for _, column in weights:
        kept[column.nonzero()[:_MOST, 0]] = True
    above = torch.where(kept.view(output.shape), above, 0)
    (gradient,) = torch.autograd.grad(output, leaf, above, retain_graph=True)
    flat, places, values = above.reshape(-1), [], []
    for number, (_, column) in enumerate(weights):
        touching = column.nonzero()[:, 0]
        touching = touching[kept[touching]]
        values.append(column[touching] * flat[touching])
        places.append(torch.full_like(touching, number))
    start = torch.zeros(len(weights), dtype=leaf.dtype)
    chosen = gradient.reshape(-1)[[place for place, _ in weights]]
    return Addends(torch.cat(places), torch.cat(values), start, chosen)
