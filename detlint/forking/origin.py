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
# detlint's own folder comes first for detlint alone: if it is site-packages, it may hold old copies of standard modules
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
    """A process, as `subprocess.Popen` would be, as far as it is asked for."""

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
                raise subprocess.TimeoutExpired("a fork", timeout or 0)
            told = os.read(self._ended, WIDTH)
            self.returncode = int(told) if told.strip() else 1
            os.close(self._ended)
        return self.returncode


class Origin:
    """A process that forks. It is started at once and asked whether it can when the first fork is.

    `serve`, as `module:function`, is called there with the number of a socket, and what that gives back, in each fork,
    is called: see `serving.serve`.
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
        """Why it cannot fork, or ""."""
        if self._told is None:
            with contextlib.suppress(OSError):
                self._told = self._jobs.makefile("r").readline()
            self._told = (self._told or "it ended\n")[:-1]
        return self._told

    def fork(self, job: Mapping[str, object], streams: Sequence[int]) -> Fork | None:
        """Start a fork with a job, with standard input, output and errors; None where that fails."""
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
        """End the process, not its forks."""
        self._jobs.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def obstacle() -> str:
    """Why nothing that has imported torch can fork here, or ""."""
    if not hasattr(os, "fork") or sys.platform == "darwin":
        return "processes cannot be forked here once libraries are loaded"
    return "" if find_spec("torch") is not None else "torch is not installed"
