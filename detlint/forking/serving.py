"""The process that forks: `serve` imports torch, and returns once in each fork.

A fork has streams and a session of its own, as a fresh process would. What Python and the C library read as they start
is inherited from the process that forks: the hash seed, addresses.
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
"""The bytes that a number takes."""
_STREAMS = 3
_PERTURB = -6  # M_PERTURB of mallopt


def serve(number: int, modules: Sequence[str]) -> dict[str, Any]:
    """Import torch and `modules`, and fork for each job that arrives on the socket; return the job in each fork.

    The modules that a job names in `imports` are imported before the fork. The process exits once the socket is closed.
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
    """Reset generators and memory to what a fresh process would begin with, according to the current environment."""
    import torch

    torch.seed()
    random.seed()
    with contextlib.suppress(ImportError):
        import numpy

        numpy.random.seed()
    with contextlib.suppress(AttributeError, OSError, ValueError):  # only glibc has it
        ctypes.CDLL(None).mallopt(_PERTURB, int(os.environ.get("MALLOC_PERTURB_", "0")))


def _reap(running: dict[int, int]) -> None:
    """Report the exit status of each fork that has ended."""
    with contextlib.suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            ended = running.pop(found[0])
            with contextlib.suppress(OSError):  # no process waits for it any more
                os.write(ended, f"{os.waitstatus_to_exitcode(found[1]):{WIDTH}}".encode())
            os.close(ended)


def _begin(streams: Sequence[int], ended: int) -> None:
    """Start a session, report the id of this process, and take over the streams that it was given."""
    os.setsid()
    os.write(ended, f"{os.getpid():{WIDTH}}".encode())
    os.close(ended)
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
        os.close(stream)


def _warm(modules: Sequence[str]) -> str:
    """Import torch and the modules; return why forks are impossible, or "" if they are possible."""
    try:
        import torch

        for name in modules:
            importlib.import_module(name)
    except Exception as error:
        return f"torch cannot be imported ({type(error).__name__})"
    if threading.active_count() > 1 or torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return "importing torch starts threads, or a device"
    gc.collect()
    gc.freeze()  # pages that the collector does not touch are not copied
    return ""


def _import(names: Sequence[str]) -> None:
    """Import the modules that are not imported yet; failures are ignored."""
    for name in names:
        if name not in sys.modules:
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def _read(number: int) -> dict[str, Any]:
    with open(number, "rb") as file:
        found: dict[str, Any] = json.load(file)
        return found
