"""The values that a kernel combines at each place, and the results of combining them in other orders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_ORDERS = 8
_ROOM = 4  # times the bound on rounding: torch and the reference each keep within it, with other weights


class UnlikeError(Exception):
    """A reference that does not compute what torch does. The message says by how much."""


@dataclass(frozen=True, slots=True)
class Addends:
    """The values that a kernel combines: `values[i]` goes to `places[i]`, on top of `start`, in any order per place.

    `combine` is "add", "multiply" or "write", where the last write stays. `expected` is the result of torch's own CPU
    kernel. The tensors are one-dimensional; `start` and `expected` have one element per place. The result is `rounded`
    to another dtype at the end if one is given.
    """

    places: Tensor
    values: Tensor
    start: Tensor
    expected: Tensor
    combine: str = "add"
    rounded: torch.dtype | None = None

    @property
    def most(self) -> int:
        """The largest number of values that reach one place."""
        import torch

        return int(torch.bincount(self.places).max()) if self.places.numel() else 0

    @property
    def permuted(self) -> str:
        """A phrase that says what is permuted."""
        noun = {"add": "addends of", "multiply": "factors of", "write": "values written to"}[self.combine]
        return f"the {self.most} {noun} a place"

    def results(self) -> Iterator[Tensor]:
        """Yield the result in the order of the values, then in the reverse order, then in random orders."""
        import torch

        source = torch.Generator().manual_seed(0)
        count = self.places.numel()
        yield self._in_order(torch.arange(count))
        yield self._in_order(torch.arange(count).flip(0))
        for _ in range(_ORDERS - 2):
            yield self._in_order(torch.randperm(count, generator=source))

    def check(self, result: Tensor) -> None:
        """Raise UnlikeError if a result differs from torch's own by more than rounding in another order can cause."""
        import torch

        if not result.is_floating_point() or self.combine == "write":
            wrong = result != self.expected
            if self.combine == "write":  # torch itself may write them in another order
                given = torch.full_like(wrong, False).index_put((self.places,), torch.ones_like(self.places).bool())
                wrong &= ~given
            if wrong.any():
                raise UnlikeError(f"{int(wrong.sum())} of {wrong.numel()} elements differ from torch's own result")
            return
        size = torch.zeros(self.start.shape, dtype=torch.float64)
        if self.combine == "add":
            size = self.start.double().abs().index_add(0, self.places, self.values.double().abs())
        else:
            size = self.expected.double().abs()
        allowed = _ROOM * (self.most + 2) * torch.finfo(result.dtype).eps * size
        over = ((result.double() - self.expected.double()).abs() > allowed).sum()
        if over:
            raise UnlikeError(f"{int(over)} of {result.numel()} elements are further than rounding from torch's own")

    def fixed(self) -> str:
        """Return why no order can change a bit, or ""."""
        import torch

        if self.most <= 1:
            return "each place gets one value"
        if self.combine == "write":
            lowest = torch.full(self.start.shape, float("inf"), dtype=torch.float64)
            lowest = lowest.index_reduce(0, self.places, self.values.double(), "amin")
            return "all values of a place are equal" if (lowest[self.places] == self.values.double()).all() else ""
        if not self.values.is_floating_point():
            return "whole numbers give the same in any order"
        if self.combine == "add" and self.most == 2 and not self.start.any():
            return "two addends at most reach a place, whose sum is the same either way"
        return "every partial sum is exact" if self.combine == "add" and self._is_exact() else ""

    def _is_exact(self) -> bool:
        """Return whether all sums of a place's addends are multiples of a power of two that the dtype can hold."""
        import torch

        values, start = self.values.double(), self.start.double()
        if not values.isfinite().all():
            return False
        digits = {torch.float64: 53, torch.float32: 24, torch.float16: 11, torch.bfloat16: 8}[self.values.dtype]
        sums = start.abs().index_add(0, self.places, values.abs())
        largest = float(sums.max())
        unit = 2.0 ** (torch.frexp(torch.tensor(largest)).exponent.item() - digits) if largest else 1.0
        every = torch.cat([values, start])
        return largest < 2.0**60 and bool((torch.remainder(every, unit) == 0).all())

    def _in_order(self, order: Tensor) -> Tensor:
        import torch

        order = order[torch.argsort(self.places[order], stable=True)]
        places, values = self.places[order], self.values[order]
        counts = torch.bincount(places, minlength=self.start.numel())
        turn = torch.arange(places.numel()) - (counts.cumsum(0) - counts)[places]
        by_turn = torch.argsort(turn, stable=True)
        result = self.start.clone()
        for part in torch.split(by_turn, torch.bincount(turn).tolist()):  # each place occurs once in a part
            at, given = places[part], values[part]
            if self.combine == "add":
                given = result[at] + given
            elif self.combine == "multiply":
                given = result[at] * given
            result[at] = given
        return result
