"""Sizes of inputs: small enough for any machine, and fitting the literal arguments of the call under test."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.verify.bench import Bench

HALVES = ("float32", "float16", "bfloat16")
BUDGET = 1 << 20  # elements of an input, and of an output


def each(value: Any, rank: int) -> tuple[Any, ...]:
    """One value per dimension: torch takes a number for all of them."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * rank


def planes(*sides: int, output: Sequence[int] = ()) -> tuple[int, ...]:
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
