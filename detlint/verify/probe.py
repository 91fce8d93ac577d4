"""The definition of a probe: a small program around one operation, run repeatedly on the same inputs."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from detlint.verify.bench import Bench

Run = Callable[[], Any]  # returns tensors, arrays, strings, numbers, or nested tuples and lists of them


class UnavailableError(Exception):
    """A requirement of a probe that is missing: a device, a package, a kernel, an operation of a later version."""


class Kind(enum.Enum):
    """The runs over which the results of a probe are compared."""

    REPEATS = "repeats"  # the runs of several processes, all generators seeded alike before each run
    PROCESSES = "processes"  # the first run of fresh processes, all generators seeded alike
    DRAWS = "draws"  # the first run of fresh processes, seeded in the mode "seeded" only
    BATCHES = "batches"  # as REPEATS, for one row in a batch whose size changes from run to run: batch invariance
    MEMORY = "memory"  # the runs of several processes, fresh memory filled with another pattern before each run


@dataclass(frozen=True, slots=True)
class Probe:
    """A probe: how to measure a row of the catalogue.

    `make` builds the inputs on the bench's device, once per process, and returns the run to repeat. It takes the
    literal arguments of the call under test from `Bench.given`, and `settings` as keyword arguments. `devices` are the
    device types that the row is about; empty means all. The probe runs on other devices too, but nothing is expected
    there. `dtypes` are those of a sweep over the catalogue; a probe with none has no choice of dtype.
    """

    make: Callable[..., Run]
    settings: Mapping[str, Any] = field(default_factory=dict)
    kind: Kind = Kind.REPEATS
    dtypes: tuple[str, ...] = ("float32",)
    devices: tuple[str, ...] = ()

    def build(self, bench: Bench) -> Run:
        """Build the inputs and return the run to repeat. Raises UnavailableError, or anything the operation raises."""
        run: Run = self.make(bench, **self.settings)
        return run
