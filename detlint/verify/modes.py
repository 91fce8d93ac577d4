"""The modes in which a probe runs: the environment that a process needs, and the settings of torch."""

from __future__ import annotations

import importlib
import os
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from detlint.verify.probe import Kind

_REFUSALS = ("deterministic implementation", "use_deterministic_algorithms", "Deterministic behavior was enabled")
_PATTERNS = (0x00, 0x55, 0xAA, 0xF0)  # 0 included: code that reads memory may only test whether it is 0


def environment(mode: str, process: int) -> dict[str, str]:
    """Return the environment of a worker process: the current one without settings that would decide the result.

    MALLOC_PERTURB_ makes glibc fill fresh memory with a different byte in each process. With 0, that of the first
    process, memory is handed out as it was left, so that runs of one process can differ too.
    """
    inherited = {name: value for name, value in os.environ.items() if name != "CUBLAS_WORKSPACE_CONFIG"}
    inherited["PYTHONHASHSEED"] = "0" if mode == "seeded" else "random"
    inherited["MALLOC_PERTURB_"] = str(pattern(process))
    if mode in ("strict", "warn"):
        inherited["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    return inherited


@contextmanager
def in_force(mode: str, kind: Kind) -> Iterator[None]:
    """Set torch's deterministic algorithms as the mode says, for the duration of the block.

    The mode also fills uninitialised memory, which can make a result repeat although its order does not. That part is
    on only for probes of memory.
    """
    import torch
    from torch.utils import deterministic

    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    filling = deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    deterministic.fill_uninitialized_memory = kind is Kind.MEMORY  # type: ignore[attr-defined]
    _switch(mode in ("strict", "warn"), mode == "warn")
    try:
        yield
    finally:
        _switch(*before)
        deterministic.fill_uninitialized_memory = filling  # type: ignore[attr-defined]


def _switch(on: bool, warn_only: bool) -> None:
    """Do as torch.use_deterministic_algorithms does, without its import of Inductor, which takes as long as torch's."""
    import torch

    if "torch._inductor.config" in sys.modules:
        torch.use_deterministic_algorithms(on, warn_only=warn_only)
    else:
        torch.set_deterministic_debug_mode("default" if not on else "warn" if warn_only else "error")


def pattern(turn: int) -> int:
    """Return a byte to fill memory with before it is freed: a different one each turn."""
    return _PATTERNS[turn % len(_PATTERNS)]


def refuses(message: str) -> bool:
    """Return whether an error or a warning says that an operation has no deterministic implementation."""
    return any(words in message for words in _REFUSALS)


def seed_all() -> None:
    """Set all generators that probes draw from to one fixed state."""
    import torch

    random.seed(0)
    torch.manual_seed(0)
    numpy = _numpy()
    if numpy is not None:
        numpy.random.seed(0)


def fresh_state(device: str) -> Callable[[], None]:
    """Return a function that resets all generators to their current state: unseeded in a newly started process."""
    import torch

    cuda = torch.device(device).type == "cuda"
    numpy = _numpy()
    python, host, devices = random.getstate(), torch.get_rng_state(), torch.cuda.get_rng_state_all() if cuda else []
    legacy = None if numpy is None else numpy.random.get_state()

    def restore() -> None:
        random.setstate(python)
        torch.set_rng_state(host)
        if cuda:
            torch.cuda.set_rng_state_all(devices)
        if numpy is not None:
            numpy.random.set_state(legacy)

    return restore


def _numpy() -> Any:
    try:
        return importlib.import_module("numpy")
    except ImportError:
        return None
