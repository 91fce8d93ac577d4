"""The process that forks: `serve` has imported torch, and comes back once in each fork.

A fork has the streams and the session of its own that a fresh process would have. What Python and the C library read as
they start is that of the process it comes from: the hash seed, addresses.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import random
import select
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from typing import Any

WIDTH = 12
"""Bytes in which a number is told."""
_STREAMS = 3
_PERTURB = -6  # M_PERTURB of mallopt


def serve(number: int, modules: Sequence[str]) -> dict[str, Any]:
    """Import torch and some modules, and fork for each job that the socket brings; gives back, in each fork, the job.

    The modules that a job names in `imports` are imported before the fork is made.
    """
    running: dict[int, int] = {}
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    with socket.socket(fileno=number) as jobs:
        jobs.sendall(f"{_warm(modules)}\n".encode())
        while True:
            if woken in select.select([jobs.fileno(), woken], [], [])[0]:
                os.read(woken, 4096)
                _reap(running)
                continue
            line, passed, *_ = socket.recv_fds(jobs, 1, _STREAMS + 2)
            if not line:
                os._exit(0)
            job = _read(passed.pop())
            _import(job.get("imports", ()))
            if (pid := os.fork()) == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for one in (woken, waking, *running.values()):
                    os.close(one)
                jobs.close()
                _begin(passed[:_STREAMS], passed[_STREAMS])
                return job
            *streams, running[pid] = passed
            for one in streams:
                os.close(one)


def renew() -> None:
    """Give generators and memory what a process on its own would begin with, by the environment as it is now."""
    import torch

    torch.seed()
    random.seed()
    with contextlib.suppress(ImportError):
        import numpy

        numpy.random.seed()
    with contextlib.suppress(AttributeError, OSError, ValueError):  # another C library than glibc has none
        ctypes.CDLL(None).mallopt(_PERTURB, int(os.environ.get("MALLOC_PERTURB_", "0")))


def _reap(running: dict[int, int]) -> None:
    """Tell of forks that have ended how they did."""
    with contextlib.suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            ended = running.pop(found[0])
            with contextlib.suppress(OSError):  # nobody waits for it any more
                os.write(ended, f"{os.waitstatus_to_exitcode(found[1]):{WIDTH}}".encode())
            os.close(ended)


def _begin(streams: Sequence[int], ended: int) -> None:
    """Tell the number of this process, and take the streams that it was given."""
    os.setsid()
    os.write(ended, f"{os.getpid():{WIDTH}}".encode())
    os.close(ended)
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
        os.close(stream)


def _warm(modules: Sequence[str]) -> str:
    """Import torch and the modules; why there can be no forks, or ""."""
    try:
        import torch

        for name in modules:
            importlib.import_module(name)
    except Exception as error:
        return f"torch cannot be imported ({type(error).__name__})"
    if threading.active_count() > 1 or torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return "importing torch starts threads, or a device"
    gc.collect()
    gc.freeze()  # what is never looked at is never copied
    return ""


def _import(names: Sequence[str]) -> None:
    """Import what an earlier fork has had beyond what there is."""
    for name in names:
        if name not in sys.modules:
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def _read(number: int) -> dict[str, Any]:
    with open(number, "rb") as file:
        found: dict[str, Any] = json.load(file)
        return found
