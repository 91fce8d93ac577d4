"""Sizes of inputs: small enough for any machine, and compatible with the call's literal arguments."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.verify.bench import Bench

SHAPE = "@shape"  # of the tensor that the call operates on, if the code gives it
HALVES = ("float32", "float16", "bfloat16")
BUDGET = 1 << 20  # elements of an input, and of an output


def each(value: Any, rank: int) -> tuple[Any, ...]:
    """Return one value per dimension: a single number, as torch takes it, applies to all of them."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * rank


def planes(bench: Bench, *sides: int, output: Sequence[int] = ()) -> tuple[int, ...]:
    """Return the shape of the code's own input if it is known and fits in rank and size, else that of `budgeted`."""
    known = bench.literal(SHAPE)
    if known is not None and len(known) == len(sides) + 2 and 0 < math.prod(known) <= 16 * BUDGET:
        return tuple(bench.given(SHAPE, known))
    return budgeted(*sides, output=output)


def budgeted(*sides: int, output: Sequence[int] = ()) -> tuple[int, ...]:
    """Return the shape of a batch of two with these sides, and up to 1,024 channels within the element budget."""
    largest = max(math.prod(sides), math.prod(output))
    return (2, max(1, min(BUDGET // (2 * largest), 1 << 10)), *sides)


def options(bench: Bench, **defaults: Any) -> dict[str, Any]:
    """Return the literals of the call under test for these parameters, with `defaults` for the others."""
    return {name: bench.given(name, default) for name, default in defaults.items()}


def last(bench: Bench) -> str:
    """Return the name of the call under test in its module or class, "" in a sweep."""
    return bench.called.rpartition(".")[2]


def rank(bench: Bench, default: int) -> int:
    """Return the number of spatial dimensions in the name of the call, such as 2 for nn.MaxPool2d."""
    found = re.search(r"([123])d(_with_indices)?$", last(bench))
    return int(found[1]) if found else default


def along(dim: int, length: int, others: int = 1) -> tuple[int, ...]:
    """Return the smallest shape with `length` in dimension `dim`, and `others` in one next to it if that is not 1."""
    lengths = [1] * max(2 if others > 1 else 1, dim + 1 if dim >= 0 else -dim)
    lengths[(dim - 1) % len(lengths)] = others
    lengths[dim] = length
    return tuple(lengths)
