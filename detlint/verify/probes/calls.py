"""What a call under test tells a probe: which function it names, and shapes that its literals fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from detlint.verify.bench import Bench
    from detlint.verify.probe import Run

HALVES = ("float32", "float16", "bfloat16")
CUDA = ("cuda",)


def name_of(bench: Bench, default: str) -> str:
    """The last part of the name in the code, without a trailing underscore; the default in a sweep."""
    return bench.called.rpartition(".")[2].rstrip("_") or default


def function_of(bench: Bench, default: str) -> Callable[..., Any]:
    """torch's function of that name."""
    import torch

    found: Callable[..., Any] = getattr(torch, name_of(bench, default))
    return found


def only_along(dim: int, length: int) -> list[int]:
    """A shape that has this length along `dim` and 1 elsewhere."""
    return along(dim, length, 1)


def along(dim: int, length: int, others: int) -> list[int]:
    """A shape of two dimensions or more, or what `dim` needs, with this length along it and so many `others`."""
    rank = max(2 if others > 1 else 1, dim + 1 if dim >= 0 else -dim)
    shape = [1] * rank
    shape[(dim - 1) % rank] = others
    shape[dim] = length
    return shape


def each(value: Any, rank: int) -> tuple[int, ...]:
    """The values of an argument that is one number for all dimensions, or one for each."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * rank


def few(bench: Bench, work: float, most: int) -> int:
    """How many items of so much work, in multiplications each, keep a run short: from 1 to `most`."""
    slow = bench.dtype.itemsize == 2  # few CPUs multiply halves
    total = 5e10 if bench.device.type != "cpu" else 1e8 if slow else 5e8
    return max(1, min(most, math.floor(total / work)))


def on_two_streams(bench: Bench, run: Run) -> Run:
    """On CUDA, the results of two runs that go on at the same time on streams of their own; elsewhere, `run`."""
    import torch

    if bench.device.type != "cuda":
        return run
    streams = [torch.cuda.Stream(bench.device) for _ in range(2)]  # type: ignore[no-untyped-call]

    def both() -> list[Any]:
        results = []
        for stream in streams:
            with torch.cuda.stream(stream):
                results.append(run())
        torch.cuda.synchronize(bench.device)
        return results

    return both
