"""The calls of probes: by the function that the code names, a number of times, on a number of streams."""

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
    """Return the last part of the name in the code, without trailing underscores; the default in a sweep."""
    return last(bench).rstrip("_") or default


def function_of(bench: Bench, default: str) -> Callable[..., Any]:
    """Return torch's function of the name that `name_of` returns."""
    import torch

    found: Callable[..., Any] = getattr(torch, name_of(bench, default))
    return found


def few(bench: Bench, work: float, most: int) -> int:
    """Return how many items of this work, in multiplications each, keep a run short: from 1 to `most`."""
    slow = bench.dtype.itemsize == 2  # few CPUs multiply half-precision numbers natively
    total = 5e10 if bench.device.type != "cpu" else 1e8 if slow else 5e8
    return max(1, min(most, math.floor(total / work)))


def on_two_streams(bench: Bench, run: Run) -> Run:
    """Return, on CUDA, a run that makes `run` concurrently on two streams and returns both results; else `run`."""
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
