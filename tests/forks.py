"""Python programs in forks of a process that has imported torch, for tests in which the import itself is no matter.

`forks` has detlint start its programs so. A fork has the environment, the folder, the path, the streams and the session
of its own that it would have, and generators in a new state. What Python and the C library read as they start is that
of the process it comes from: there is one for each environment that differs in that.
"""

from __future__ import annotations

import atexit
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import IO, Any
from unittest.mock import patch

_STARTING = ("PYTHONHASHSEED", "MALLOC_PERTURB_", "OMP_NUM_THREADS", "TORCHDYNAMO_DISABLE")
_MOST = 2  # processes that are kept: each holds torch in memory
_WIDTH = 12  # bytes in which a number is told


class Origin:
    """A process that forks, and ends with this one."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.socket, other = socket.socketpair()
        command = [sys.executable, "-c", "from tests.forks import main; main()", str(other.fileno())]
        path = os.pathsep.join([str(Path(__file__).parent.parent), environment.get("PYTHONPATH", "")])
        with other:
            self._process = subprocess.Popen(
                command, env={**environment, "PYTHONPATH": path}, pass_fds=[other.fileno()]
            )

    def stop(self) -> None:
        """Ends the process, not its forks."""
        self.socket.close()
        self._process.wait()


_ORIGINS: dict[tuple[str | None, ...], Origin] = {}


@atexit.register
def _stop() -> None:
    while _ORIGINS:
        _ORIGINS.popitem()[1].stop()


def _origin(environment: Mapping[str, str]) -> Origin:
    """The process for an environment, as the one that was used last."""
    key = tuple(environment.get(name) for name in _STARTING)
    found = _ORIGINS.pop(key, None) or Origin(environment)
    while len(_ORIGINS) >= _MOST:
        _ORIGINS.pop(next(iter(_ORIGINS))).stop()
    _ORIGINS[key] = found
    return found


class Fork:
    """What `subprocess.Popen` would be for `python -c`, as far as detlint asks for it."""

    def __init__(
        self,
        args: Sequence[str],
        *,
        stdin: int,
        stdout: int | None,
        stderr: IO[bytes],
        cwd: str | os.PathLike[str] | None,
        env: Mapping[str, str],
        start_new_session: bool,
        text: bool = False,
        encoding: str | None = None,
    ) -> None:
        assert list(args[:2]) == [sys.executable, "-c"] and start_new_session
        self.stdin: IO[Any] | None = None
        self.stdout: IO[Any] | None = None
        self.returncode: int | None = None
        job = {"argv": args[2:], "cwd": str(Path(cwd or "").resolve()), "environment": dict(env)}
        self._ended, ended = os.pipe()
        mode, buffering = ("", -1) if text else ("b", 0)
        if stdin == subprocess.PIPE:
            given, writing = os.pipe()
            self.stdin = os.fdopen(writing, f"w{mode}", buffering, encoding=encoding)
        else:
            given = os.open(os.devnull, os.O_RDONLY)
        if stdout == subprocess.PIPE:
            reading, told = os.pipe()
            self.stdout = os.fdopen(reading, f"r{mode}", buffering, encoding=encoding)
        else:
            told = os.dup(1) if stdout is None else os.open(os.devnull, os.O_WRONLY)
        with tempfile.TemporaryFile() as file:
            file.write(json.dumps(job).encode())
            file.seek(0)
            passed = (given, told, stderr.fileno(), ended, file.fileno())
            socket.send_fds(_origin(env).socket, [b"\n"], passed)
            for number in (given, told, ended):
                os.close(number)
            self.pid = int(os.read(self._ended, _WIDTH))

    def poll(self) -> int | None:
        """The exit status, once there is one."""
        if self.returncode is None and select.select([self._ended], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit status at the end. Raises TimeoutExpired."""
        if self.returncode is None:
            if not select.select([self._ended], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("a fork", timeout or 0)
            self.returncode = int(os.read(self._ended, _WIDTH))
            os.close(self._ended)
        return self.returncode


@contextmanager
def forks(*modules: ModuleType) -> Iterator[None]:
    """Have what these modules start as `python -c` be forked, where there are forks."""
    replaced = SimpleNamespace(**vars(subprocess) | {"Popen": Fork})
    patches = [patch.object(module, "subprocess", replaced) for module in modules if hasattr(os, "fork")]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()


# In the process that forks


def _serve(jobs: socket.socket) -> None:
    """Forks for each job until nobody sends any more."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # what watches over a fork ends by itself
    while True:
        told, passed, *_ = socket.recv_fds(jobs, 1, 5)
        if not told:
            return
        if os.fork() == 0:
            jobs.close()
            with open(passed.pop(), "rb") as file:  # noqa: PTH123 - it has no name
                job = json.load(file)
            _watch(job, passed)
        for number in passed:
            os.close(number)


def _watch(job: Mapping[str, Any], passed: Sequence[int]) -> None:
    """Forks once more, for the job, and tells the number of that process and how it ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *streams, ended = passed
    child = os.fork()
    if child == 0:
        os.close(ended)
        _run(job, streams)
    for number in streams:
        os.close(number)
    os.write(ended, f"{child:{_WIDTH}}".encode())
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.write(ended, f"{status:{_WIDTH}}".encode())
    os._exit(0)


def _run(job: Mapping[str, Any], streams: Sequence[int]) -> None:
    """Becomes `python -c` with the arguments of a job."""
    os.setsid()
    for target, number in enumerate(streams):
        os.dup2(number, target)
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["environment"])
    code, *arguments = job["argv"]
    before = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    sys.argv = ["-c", *arguments]
    sys.path[:] = ["", *before, *sys.path]
    _renew()
    status = 0
    try:
        exec(compile(code, "<string>", "exec"), vars(sys.modules["__main__"]))
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else bool(end.code)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _renew() -> None:
    """Gives the generators what a process on its own would begin with; a fork has what its parent has."""
    import numpy
    import torch

    torch.seed()
    random.seed()
    numpy.random.seed()


def main() -> None:
    """Serves the socket whose number is the argument."""
    import numpy  # noqa: F401
    import torch
    import torch._inductor.config  # noqa: F401 - what turning the deterministic mode on imports, for as long again

    del sys.path[0]
    own = {part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part}
    sys.path[:] = [part for part in sys.path if part not in own]
    sys.modules["__main__"] = ModuleType("__main__")
    with socket.socket(fileno=int(sys.argv[1])) as jobs:
        _serve(jobs)
