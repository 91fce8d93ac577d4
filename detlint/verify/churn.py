"""Churn between two runs of a probe: it disturbs the schedule, so that it may differ, but never the computation."""

from __future__ import annotations

import random
from typing import Any

_CACHE = 64 << 20  # bytes: larger than the last-level cache of today's CPUs and GPUs
_TEAMS = (1, 2, 3, 5)


class Churn:
    """A source of disturbance: thread teams, the allocator, the caches, and on CUDA work on another stream.

    It draws from its own seeded generator and restores what it sets. When a probe runs, the number of threads is the
    original one: another number would be another computation.
    """

    def __init__(self, device: str, process: int) -> None:
        import torch

        self._cuda = torch.device(device).type == "cuda"
        self._device = device
        self._source = random.Random(process)
        self._held: list[Any] = []
        self._cache = torch.ones(_CACHE // 16)

    def shake(self) -> None:
        """Disturb once, between two runs."""
        import torch

        threads = torch.get_num_threads()
        torch.set_num_threads(self._source.choice(_TEAMS))
        self._cache[: 1 << 16].sum()
        torch.set_num_threads(threads)
        self._cache.neg_()
        self._held.append(torch.ones(self._source.randrange(1, 1 << 16) | 1))
        del self._held[: -self._source.randrange(1, 8)]
        if self._cuda:
            self._shake_cuda()

    def _shake_cuda(self) -> None:
        import torch

        torch.ones(_CACHE, dtype=torch.uint8, device=self._device).add_(1)
        self._held.append(torch.empty(self._source.randrange(1, 1 << 20) | 1, device=self._device))
        if self._source.random() < 0.25:
            torch.cuda.empty_cache()
        torch.cuda.synchronize(self._device)
        stream = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]
        with torch.cuda.stream(stream):
            torch.cuda._sleep(self._source.randrange(1, 200_000))  # type: ignore[no-untyped-call]
            side = torch.ones(512, 512, device=self._device)
            self._held.append(side @ side)
