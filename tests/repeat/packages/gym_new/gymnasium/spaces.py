"""Spaces of actions and observations, each with a generator of its own that starts from entropy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .utils import seeding


class Space:
    """A set to draw from."""

    shape: tuple[int, ...] = ()
    dtype: Any = None

    def __init__(self) -> None:
        self.seed()

    def seed(self, seed: int | None = None) -> list[int]:
        self.np_random, seed = seeding.np_random(seed)
        return [seed]

    def sample(self) -> Any:
        raise NotImplementedError


class Discrete(Space):
    """Whole numbers below `n`."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.dtype = np.int64
        super().__init__()

    def sample(self) -> int:
        return int(self.np_random.integers(self.n))


class Box(Space):
    """Arrays between two bounds."""

    def __init__(
        self,
        low: float | np.ndarray[Any, Any],
        high: float | np.ndarray[Any, Any],
        shape: Sequence[int] | None = None,
        dtype: Any = np.float32,
    ) -> None:
        self.shape = tuple(np.shape(low) if shape is None else shape)
        self.dtype = dtype
        self.low = np.full(self.shape, low, dtype=dtype)
        self.high = np.full(self.shape, high, dtype=dtype)
        super().__init__()

    def sample(self) -> Any:
        return self.np_random.uniform(self.low, self.high).astype(self.dtype)
