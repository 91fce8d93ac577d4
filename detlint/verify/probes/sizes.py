"""Sizes of inputs: small enough for any machine, and fitting the literal arguments of the call under test."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.verify.bench import Bench

SHAPE = "@shape"  # of the tensor that the call is about, where the code tells it
HALVES = ("float32", "float16", "bfloat16")
BUDGET = 1 << 20  # elements of an input, and of an output


def each(value: Any, rank: int) -> tuple[Any, ...]:
    """One value per dimension: torch takes a number for all of them."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * rank


def planes(bench: Bench, *sides: int, output: Sequence[int] = ()) -> tuple[int, ...]:
    """The shape of the code's own input where it is known and of as many dimensions, else that of `budgeted`."""
    known = bench.literal(SHAPE)
    if known is not None and len(known) == len(sides) + 2 and 0 < math.prod(known) <= 16 * BUDGET:
        return tuple(bench.given(SHAPE, known))
    return budgeted(*sides, output=output)


def budgeted(*sides: int, output: Sequence[int] = ()) -> tuple[int, ...]:
    """The shape of a batch of two with these sides, and as many channels as the budget allows it and its output."""
    largest = max(math.prod(sides), math.prod(output))
    return (2, max(1, min(BUDGET // (2 * largest), 1 << 10)), *sides)


def options(bench: Bench, **defaults: Any) -> dict[str, Any]:
    """The literals of the call under test for these parameters, and the defaults of the others."""
    return {name: bench.given(name, default) for name, default in defaults.items()}


def last(bench: Bench) -> str:
    """The name that the call under test has in its module or class, "" in a sweep."""
    return bench.called.rpartition(".")[2]


def rank(bench: Bench, default: int) -> int:
    """How many spatial dimensions the name of the call speaks of: 2 for nn.MaxPool2d."""
    found = re.search(r"([123])d(_with_indices)?$", last(bench))
    return int(found[1]) if found else default


def along(dim: int, length: int, others: int = 1) -> tuple[int, ...]:
    """The least shape that has a dimension `dim`, of this length, and one next to it if `others` is not 1."""
    lengths = [1] * max(2 if others > 1 else 1, dim + 1 if dim >= 0 else -dim)
    lengths[(dim - 1) % len(lengths)] = others
    lengths[dim] = length
    return tuple(lengths)
