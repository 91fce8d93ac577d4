"""How a probe calls: by the function that the code names, so many times, on so many streams."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from detlint.verify.probes.sizes import last

if TYPE_CHECKING:
    from detlint.verify.bench import Bench
    from detlint.verify.probe import Run

CUDA = ("cuda",)


def name_of(bench: Bench, default: str) -> str:
    """The last part of the name in the code, without a trailing underscore; the default in a sweep."""
    return last(bench).rstrip("_") or default


def function_of(bench: Bench, default: str) -> Callable[..., Any]:
    """torch's function of that name."""
    import torch

    found: Callable[..., Any] = getattr(torch, name_of(bench, default))
    return found


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
