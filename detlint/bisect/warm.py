"""Processes that have imported torch, from which runs are forked: torch is imported once for all runs of a kind.

There are two, one for the first run and one for the second, so that what differs between two fresh processes differs
between these: how texts are hashed, and where things lie in memory. Runs from one origin agree in both.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import IO

from detlint.bisect import programs
from detlint.bisect.options import Options
from detlint.bisect.origin import IMPORTED, UNLIKE, WIDTH

_PACKAGE = Path(__file__).resolve().parents[2]
_SERVE = """\
import sys
if sys.path[:1] == [""]:
    del sys.path[0]
sys.path.insert(0, sys.argv.pop(1))
import detlint
sys.path.append(sys.path.pop(0))
from detlint.bisect.origin import serve
serve(int(sys.argv[1]))()
"""
_GRACE = 1.0  # seconds
_LAUNCHERS = ("torch.distributed.run", "torch.distributed.launch")


class Fork:
    """A run's process, as `subprocess.Popen` would be, as far as it is asked for."""

    def __init__(self, pid: int, ended: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = ended

    def poll(self) -> int | None:
        """The exit status, once there is one."""
        if self.returncode is None and select.select([self._ended], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit status at the end. Raises TimeoutExpired."""
        if self.returncode is None:
            if not select.select([self._ended], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("a run", timeout or 0)
            told = os.read(self._ended, WIDTH)
            self.returncode = int(told) if told.strip() else 1
            os.close(self._ended)
        return self.returncode


class Origin:
    """A process that forks. It is started at once and asked whether it can when the first run is."""

    def __init__(self, environment: Mapping[str, str], cwd: Path | None) -> None:
        self._jobs, other = socket.socketpair()
        self._told: str | None = None
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _SERVE, str(_PACKAGE), str(other.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=cwd,
                env=dict(environment),
                pass_fds=[other.fileno()],
                start_new_session=True,
            )

    def reason(self) -> str:
        """Why it cannot fork, or ""."""
        if self._told is None:
            with contextlib.suppress(OSError):
                self._told = self._jobs.makefile("r").readline()
            self._told = (self._told or "it ended\n")[:-1]
        return self._told

    def fork(self, job: Mapping[str, object], stdout: int, stderr: int) -> Fork | None:
        """Start a run; None where that fails."""
        reading, ended = os.pipe()
        with tempfile.TemporaryFile() as file:
            file.write(json.dumps(job).encode())
            file.seek(0)
            with contextlib.suppress(OSError):
                socket.send_fds(self._jobs, [b"\n"], [stdout, stderr, ended, file.fileno()])
        os.close(ended)
        told = os.read(reading, WIDTH)
        if not told.strip():
            os.close(reading)
            return None
        return Fork(int(told), reading)

    def stop(self) -> None:
        """End the process, not its forks."""
        self._jobs.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


class Origins:
    """The origins of the runs of a plan. `cold` says why runs are started in fresh processes instead, or is ""."""

    def __init__(self, cwd: Path | None = None) -> None:
        self.cold = _cannot_fork()
        self._cwd = cwd
        self._known: dict[tuple[str, str | None], Origin] = {}
        self._imports: list[str] = []

    def __enter__(self) -> Origins:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._known:
            self._known.popitem()[1].stop()

    def begin(self, command: Sequence[str], pairs: Sequence[tuple[str, Options, Mapping[str, str]]]) -> None:
        """Start the origins of some runs, side by side: name, options and environment of each."""
        for name, options, environment in pairs:
            if not self.cold and _may_fork(programs.check(list(command), self._cwd), options):
                self._origin(name, options, environment)

    def start(
        self,
        name: str,
        command: Sequence[str],
        folder: Path,
        options: Options,
        environment: Mapping[str, str],
        errors: IO[bytes],
        quiet: bool,
    ) -> Fork | None:
        """Fork a run from the origin of a name; None where it has to be started in a fresh process."""
        if self.cold or not _may_fork(command, options):
            return None
        origin = self._origin(name, options, environment)
        if origin.reason():
            self.cold = origin.reason()
            return None
        cwd = (self._cwd or Path()).resolve()
        script = cwd if command[0] == "-m" else (cwd / command[0]).parent
        job = {
            "argv": [str(folder.resolve()), options.dump(), *command],
            "cwd": str(cwd),
            "environment": dict(environment),
            "imports": self._imports,
            "script": str(script),
        }
        with open(os.devnull if quiet else 1, "wb", closefd=quiet) as shown:
            return origin.fork(job, shown.fileno(), errors.fileno())

    def ended(self, folder: Path) -> str:
        """Learn from a run that was forked; why it is of no use, or ""."""
        with contextlib.suppress(OSError):
            self._imports += [one for one in (folder / IMPORTED).read_text().split() if one not in self._imports]
            (folder / IMPORTED).unlink()
        with contextlib.suppress(OSError):
            self.cold = (folder / UNLIKE).read_text()
            return self.cold
        return ""

    def _origin(self, name: str, options: Options, environment: Mapping[str, str]) -> Origin:
        key = (name, options.hash_seed)
        if key not in self._known:
            self._known[key] = Origin(environment, self._cwd)
        return self._known[key]


def _cannot_fork() -> str:
    if not hasattr(os, "fork") or sys.platform == "darwin":
        return "processes cannot be forked here once libraries are loaded"
    return "" if find_spec("torch") is not None else "torch is not installed"


def _may_fork(command: Sequence[str], options: Options) -> bool:
    """Whether a run can be a fork: ranks are started anew, and torch.compile is told before torch is imported."""
    return options.compiling != "eager" and not (command[0] == "-m" and command[1] in _LAUNCHERS)
