"""Probes that go wrong, for the tests of what may cost a row and not the run."""

from __future__ import annotations

import os
import random
import time
import warnings
from itertools import count
from typing import Any

from detlint.verify.bench import Bench
from detlint.verify.probe import Kind, Probe, Run, UnavailableError


def _hangs(bench: Bench) -> Run:
    return lambda: time.sleep(600)


def _crashes(bench: Bench) -> Run:
    return lambda: os.kill(os.getpid(), 11)


def _leaves(bench: Bench) -> Run:
    return lambda: os._exit(7)


def _eats(bench: Bench) -> Run:
    def eat() -> None:
        held = []
        while True:
            held.append(bytes(64 << 20))  # takes no time: nothing is written

    return eat


def _device_assert(bench: Bench) -> Run:
    """An index out of bounds, which a GPU reports by ending all that the process can do with it."""
    values = bench.normal(4)
    return lambda: values[bench.integers(9, 64, low=8)]


def _raises(bench: Bench) -> Run:
    def fail() -> None:
        raise ValueError("of no use\nat all")

    return fail


def _missing(bench: Bench) -> Run:
    bench.package("no_such_package.part")
    raise AssertionError


def _unavailable(bench: Bench) -> Run:
    raise UnavailableError("not here")


def _prints(bench: Bench) -> Run:
    print("this is not an answer")
    return lambda: print("neither is this")


def _counts(bench: Bench) -> Run:
    """Another result each run, and never the same in two processes."""
    turns = count(os.getpid() << 10)
    return lambda: next(turns)


def _process(bench: Bench) -> Run:
    return os.getpid


def _draws(bench: Bench) -> Run:
    return lambda: (random.random(), bench.normal(3))


def _memory(bench: Bench) -> Run:
    return lambda: bench.pattern


def _drifts(bench: Bench) -> Run:
    """0, 1, 3, 2 more than in the first run."""
    steps = iter((0.0, 1.0, 3.0, 2.0))
    return lambda: bench.ones(1) + next(steps)


def _warns(bench: Bench) -> Run:
    def warn() -> int:
        warnings.warn("it does not have a deterministic implementation", stacklevel=1)
        return 1

    return warn


def _literals(bench: Bench) -> Run:
    def read() -> tuple[Any, ...]:
        return bench.given("kernel_size", 3), bench.given("stride", 1), bench.called

    return read


PROBES = {
    "hangs": Probe(_hangs),
    "crashes": Probe(_crashes),
    "leaves": Probe(_leaves),
    "eats": Probe(_eats),
    "device_assert": Probe(_device_assert),
    "raises": Probe(_raises),
    "missing": Probe(_missing),
    "unavailable": Probe(_unavailable),
    "prints": Probe(_prints),
    "counts": Probe(_counts),
    "process": Probe(_process, kind=Kind.PROCESSES),
    "draws": Probe(_draws, kind=Kind.DRAWS),
    "memory": Probe(_memory, kind=Kind.MEMORY),
    "drifts": Probe(_drifts),
    "warns": Probe(_warns),
    "literals": Probe(_literals),
}
