"""What a probe is: a small program around one operation, to be run again and again on the same inputs."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from detlint.verify.bench import Bench

Run = Callable[[], Any]  # returns tensors, arrays, strings, numbers, or nested tuples and lists of them


class UnavailableError(Exception):
    """What a probe needs is not here: a device, a package, a kernel, an operation of a later version."""


class Kind(enum.Enum):
    """What the results of a probe are compared over."""

    REPEATS = "repeats"  # the runs of some processes, all generators seeded alike before each run
    PROCESSES = "processes"  # the first run of fresh processes, all generators seeded alike
    DRAWS = "draws"  # the first run of fresh processes, seeded in the mode "seeded" only
    BATCHES = "batches"  # as REPEATS, of one row in a batch of another size in each run: batch invariance
    MEMORY = "memory"  # the runs of some processes, fresh memory filled with another pattern before each run


@dataclass(frozen=True, slots=True)
class Probe:
    """How to measure a row of the catalogue.

    `make` builds the inputs on the bench's device, once a process, and returns what is repeated. It takes the literal
    arguments of the call that it measures from `Bench.given`, and `settings` as keyword arguments. `devices` are the
    types of device that the row speaks of, none of them: all; elsewhere the probe runs too, but nothing is expected.
    `dtypes` are the ones that a sweep over the catalogue takes; a probe without any has no choice of dtype.
    """

    make: Callable[..., Run]
    settings: Mapping[str, Any] = field(default_factory=dict)
    kind: Kind = Kind.REPEATS
    dtypes: tuple[str, ...] = ("float32",)
    devices: tuple[str, ...] = ()

    def build(self, bench: Bench) -> Run:
        """What is repeated, with its inputs made. Raises UnavailableError, or whatever the operation raises."""
        run: Run = self.make(bench, **self.settings)
        return run
