"""The options of a marker `reproducible`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

_NAMES = ("runs", "seed", "processes", "hash_seeds")
_MOST = 2**32 - 1  # the largest seed of NumPy, and of PYTHONHASHSEED


@dataclass(frozen=True)
class Options:
    """How often a test runs, from which seed, and for processes of their own the PYTHONHASHSEED of each."""

    runs: int
    seed: int
    hash_seeds: tuple[int, ...] = ()

    @staticmethod
    def of(marker: pytest.Mark, default_seed: int | None) -> Options:
        """Return what a marker asks for; raises ValueError if that makes no sense."""
        given: dict[str, Any] = dict(marker.kwargs)
        unknown = sorted(set(given) - set(_NAMES))
        if marker.args or unknown:
            wrong = unknown[0] if unknown else repr(marker.args[0])
            raise ValueError(f"{wrong} is none of its options, which are {', '.join(_NAMES)}")
        seed = given.get("seed")
        seed = (default_seed or 0) if seed is None else _number("seed", seed, 0)
        if not given.get("processes", False):
            if given.get("hash_seeds") is not None:
                raise ValueError("hash_seeds needs processes=True: Python reads PYTHONHASHSEED when it starts")
            return Options(_number("runs", given.get("runs", 2), 2), seed)
        hash_seeds = given.get("hash_seeds")
        if hash_seeds is None:
            hash_seeds = range(_number("runs", given.get("runs", 2), 2))
        elif "runs" in given or not isinstance(hash_seeds, (list, tuple)) or len(hash_seeds) < 2:
            raise ValueError("hash_seeds must be a list of at least two integers, one for each run, not runs")
        checked = tuple(_number("each of hash_seeds", one, 0) for one in hash_seeds)
        return Options(len(checked), seed, checked)


def _number(name: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST:
        raise ValueError(f"{name} must be an integer from {least} to {_MOST}, not {value!r}")
    return value


def seed_option(config: pytest.Config) -> int | None:
    """Return the seed on the command line or in the settings, or None; raises UsageError if it is not a seed."""
    given = config.getoption("detlint_seed")
    given = config.getini("detlint_seed") if given is None else given
    if given == "":
        return None
    if not given.isdecimal() or int(given) > _MOST:
        raise pytest.UsageError(f"detlint_seed must be an integer from 0 to {_MOST}, not {given!r}")
    return int(given)
