"""The process that runs are forked from: `serve` has imported torch, and comes back once in each fork.

A fork has the environment, the folder, the streams and the session of its own that a fresh process would have, and
generators in a new state. What Python and the C library read as they start is that of the process it comes from: the
hash seed, addresses.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import multiprocessing.process
import os
import random
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from detlint.bisect import child, hidden

WIDTH = 12
"""Bytes in which a number is told."""
UNLIKE = "unlike.txt"
"""In the folder of a trace: why the run was of no use, and has to be done in a fresh process."""
IMPORTED = "imported.txt"
"""In the folder of a trace: what of torch the program has imported beyond torch itself."""
_RECORDING = ("recorder", "hooks_torch", "hooks_loader", "keeping", "compiling", "fingerprint")
_PERTURB = -6  # M_PERTURB of mallopt


def serve(number: int) -> Callable[[], None]:
    """Fork for each job that the socket brings; gives back, in each fork, what runs its program."""
    before = dict(sys.modules)
    running: dict[int, int] = {}
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    with socket.socket(fileno=number) as jobs:
        jobs.sendall(f"{_warm()}\n".encode())
        while True:
            if woken in select.select([jobs.fileno(), woken], [], [])[0]:
                os.read(woken, 4096)
                _reap(running)
                continue
            line, passed, *_ = socket.recv_fds(jobs, 1, 4)
            if not line:
                os._exit(0)
            job = _read(passed.pop())
            _import(job["imports"])
            if (pid := os.fork()) == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for one in (woken, waking, *running.values()):
                    os.close(one)
                jobs.close()
                _begin(*passed)
                return lambda: _run(job, before)
            *streams, running[pid] = passed
            for one in streams:
                os.close(one)


def _reap(running: dict[int, int]) -> None:
    """Tell of runs that have ended how they did."""
    with contextlib.suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            ended = running.pop(found[0])
            os.write(ended, f"{os.waitstatus_to_exitcode(found[1]):{WIDTH}}".encode())
            os.close(ended)


def _begin(out: int, errors: int, ended: int) -> None:
    """Tell the number of this process, and take the streams that it was given."""
    os.setsid()
    os.write(ended, f"{os.getpid():{WIDTH}}".encode())
    os.close(ended)
    for target, stream in ((1, out), (2, errors)):
        os.dup2(stream, target)
        os.close(stream)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def _warm() -> str:
    """Import what a recorded program of torch's needs; why there can be no forks, or ""."""
    try:
        import torch

        for name in _RECORDING:
            importlib.import_module(f"detlint.bisect.{name}")
    except Exception as error:
        return f"torch cannot be imported ({type(error).__name__})"
    if threading.active_count() > 1 or torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return "importing torch starts threads, or a device"
    gc.collect()
    gc.freeze()  # what is never looked at is never copied
    return ""


def _import(names: Sequence[str]) -> None:
    """Import what an earlier run has had of torch beyond torch itself."""
    for name in names:
        if name not in sys.modules:
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def _read(number: int) -> dict[str, Any]:
    with open(number, "rb") as file:
        found: dict[str, Any] = json.load(file)
        return found


def _run(job: Mapping[str, Any], before: Mapping[str, ModuleType]) -> None:
    """Become the process of a job."""
    os.chdir(job["cwd"])
    vars(multiprocessing.process)["ORIGINAL_DIR"] = job["cwd"]  # where a spawned process finds the script
    os.environ.clear()
    os.environ.update(job["environment"])
    folder = Path(job["argv"][0])
    _renew()
    pid, end = os.getpid(), os._exit
    warm = set(sys.modules)

    def unlike(reason: str) -> None:
        if os.getpid() == pid:
            (folder / UNLIKE).write_text(reason)
            end(1)

    script = job["script"]
    found = hidden.shadows(script) if script else ""
    if found:
        unlike(f"the program may mean its own {found} by a name that torch imports, too")
    hidden.hide(before, unlike)
    atexit.register(_tell, folder, warm)
    child.main(job["argv"])


def _renew() -> None:
    """Give generators and memory what a process on its own would begin with."""
    import torch

    torch.seed()
    random.seed()
    with contextlib.suppress(ImportError):
        import numpy

        numpy.random.seed()
    with contextlib.suppress(AttributeError, OSError, ValueError):  # another C library than glibc has none
        ctypes.CDLL(None).mallopt(_PERTURB, int(os.environ.get("MALLOC_PERTURB_", "0")))


def _tell(folder: Path, warm: set[str]) -> None:
    """Tell what of torch has been imported beyond what was."""
    found = {".".join(name.split(".")[:2]) for name in sys.modules if name.startswith("torch.") and name not in warm}
    (folder / IMPORTED).write_text("\n".join(sorted(found)))
