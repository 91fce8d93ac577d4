"""A process that forks, seen from outside, and its forks."""

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

from detlint.forking.serving import WIDTH

_PACKAGE = Path(__file__).resolve().parents[2]
# Only the import of detlint sees its folder first: if it is site-packages, it may hold old copies of standard modules
IMPORTED = """\
import sys
if sys.path[:1] == [""]:
    del sys.path[0]
sys.path.insert(0, sys.argv.pop(1))
import detlint
sys.path.append(sys.path.pop(0))
"""
_SERVE = f"""\
{IMPORTED}
from importlib import import_module
module, _, name = sys.argv.pop(1).partition(":")
getattr(import_module(module), name)(int(sys.argv[1]))()
"""
_GRACE = 1.0  # seconds


class Fork:
    """A forked process, with the part of the interface of `subprocess.Popen` that is needed."""

    def __init__(self, pid: int, ended: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = ended

    def poll(self) -> int | None:
        """Return the exit status; None while the process runs."""
        if self.returncode is None and select.select([self._ended], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit status. Raises TimeoutExpired after `timeout` seconds."""
        if self.returncode is None:
            if not select.select([self._ended], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("a fork", timeout or 0)
            told = os.read(self._ended, WIDTH)
            self.returncode = int(told) if told.strip() else 1
            os.close(self._ended)
        return self.returncode


class Origin:
    """A process that forks. It is started at once; whether it can fork is read only when that is first needed.

    `serve`, written as `module:function`, is called there with the number of a socket. In each fork its return value is
    called in turn: see `serving.serve`.
    """

    def __init__(self, serve: str, environment: Mapping[str, str], cwd: Path | None = None) -> None:
        self._jobs, other = socket.socketpair()
        self._told: str | None = None
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _SERVE, str(_PACKAGE), serve, str(other.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=cwd,
                env=dict(environment),
                pass_fds=[other.fileno()],
                start_new_session=True,
            )

    def reason(self) -> str:
        """Return why the process cannot fork; "" if it can."""
        if self._told is None:
            with contextlib.suppress(OSError):
                self._told = self._jobs.makefile("r").readline()
            self._told = (self._told or "it ended\n")[:-1]
        return self._told

    def fork(self, job: Mapping[str, object], streams: Sequence[int]) -> Fork | None:
        """Start a fork with a job and `streams`, its standard input, output and error; return None if that fails."""
        reading, ended = os.pipe()
        with tempfile.TemporaryFile() as file:
            file.write(json.dumps(job).encode())
            file.seek(0)
            with contextlib.suppress(OSError):
                socket.send_fds(self._jobs, [b"\n"], [*streams, ended, file.fileno()])
        os.close(ended)
        told = os.read(reading, WIDTH)
        if not told.strip():
            os.close(reading)
            return None
        return Fork(int(told), reading)

    def stop(self) -> None:
        """End the process but not its forks."""
        self._jobs.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def obstacle() -> str:
    """Return why a process that has imported torch cannot fork here; "" if it can."""
    if not hasattr(os, "fork") or sys.platform == "darwin":
        return "processes cannot be forked here once libraries are loaded"
    return "" if find_spec("torch") is not None else "torch is not installed"
