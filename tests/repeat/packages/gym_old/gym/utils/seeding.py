"""Generators of environments and spaces."""

from __future__ import annotations

import os

import numpy as np


def np_random(seed: int | None = None) -> tuple[np.random.Generator, int]:
    """A generator and its seed, which comes from entropy where none is given."""
    seed = int.from_bytes(os.urandom(4), "little") if seed is None else seed
    return np.random.default_rng(seed), seed
