"""Programs recorded in processes of their own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from detlint.bisect import programs
from detlint.bisect.options import Options

_PACKAGE = Path(__file__).resolve().parents[2]
# detlint's own folder comes last on the path: if it is site-packages, it may hold old copies of standard modules
_BEGIN = """\
import sys
if sys.path[:1] == [""]:
    del sys.path[0]
sys.path.insert(0, sys.argv.pop(1))
import detlint
sys.path.append(sys.path.pop(0))
from detlint.bisect.child import main
main(sys.argv[1:])
"""
_TAIL = 16384  # bytes of what a program wrote to its standard error
_GRACE = 5.0  # seconds from SIGTERM to SIGKILL


@dataclass(frozen=True, slots=True)
class Recording:
    """A program that was recorded. `status` is its exit status, negative for a signal; `errors` the end of its stderr.

    `timed_out` tells that it was ended after the seconds that it was given.
    """

    folder: Path
    status: int
    errors: str = ""
    timed_out: bool = False


class Running:
    """A program that is being recorded."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path, errors: IO[bytes]) -> None:
        self._process = process
        self._folder = folder
        self._errors = errors
        self._ending = threading.Lock()

    def wait(self, timeout: float | None = None) -> Recording:
        """Wait for the end; a program that takes more seconds than `timeout` is ended."""
        timed_out = False
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
            self.end()
        except BaseException:
            self.end()
            raise
        with self._errors as errors:
            errors.seek(max(0, errors.seek(0, os.SEEK_END) - _TAIL))
            told = errors.read().decode("utf-8", "replace")
        return Recording(self._folder, self._process.returncode, told, timed_out)

    def end(self) -> None:
        """End the program and what it started, giving time to write the ends of streams. Any thread may, repeatedly."""
        with self._ending:
            for number in (signal.SIGTERM, signal.SIGKILL):
                if self._process.poll() is not None and number is signal.SIGTERM:
                    return
                with contextlib.suppress(ProcessLookupError):
                    if sys.platform == "win32":
                        self._process.kill()
                    else:
                        os.killpg(self._process.pid, number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(_GRACE)


def start(
    command: Sequence[str],
    folder: Path,
    options: Options | None = None,
    *,
    cwd: Path | None = None,
    quiet: bool = True,
    environment: Mapping[str, str] | None = None,
) -> Running:
    """Start a program in a fresh process that writes its trace to `folder`, which is made.

    `command` is a script, a notebook, a test (`test_x.py::test_name`), `-m module`, `torchrun ...` or a command that is
    a script of Python, each with its arguments. With `quiet`, what the program prints is kept from the terminal.
    `environment` has variables to add. Raises ProgramError where there is nothing to run, and OSError.
    """
    options = options or Options()
    checked = programs.check(list(command), cwd)
    folder.mkdir(parents=True, exist_ok=True)
    errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the program has ended
    process = subprocess.Popen(
        [sys.executable, "-c", _BEGIN, str(_PACKAGE), str(folder.resolve()), options.dump(), *checked],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if quiet else None,
        stderr=errors,
        cwd=cwd,
        env=_environment(options, environment),
        start_new_session=True,  # so that all that it started can be ended with it
    )
    return Running(process, folder, errors)


def record(
    command: Sequence[str],
    folder: Path,
    options: Options | None = None,
    *,
    timeout: float | None = None,
    cwd: Path | None = None,
    quiet: bool = True,
    environment: Mapping[str, str] | None = None,
) -> Recording:
    """`start` a program and wait for its end, `timeout` seconds at most. Raises as `start` does."""
    return start(command, folder, options, cwd=cwd, quiet=quiet, environment=environment).wait(timeout)


def _environment(options: Options, more: Mapping[str, str] | None) -> dict[str, str]:
    found = {**os.environ, **(more or {})}
    if options.hash_seed is not None:
        found["PYTHONHASHSEED"] = options.hash_seed
    if options.threads:
        found["OMP_NUM_THREADS"] = found["MKL_NUM_THREADS"] = str(options.threads)
    if options.poison >= 0:
        found["MALLOC_PERTURB_"] = str(options.poison)
    if options.compiling == "eager":
        found["TORCHDYNAMO_DISABLE"] = "1"
    path = [part for part in found.get("PYTHONPATH", "").split(os.pathsep) if part]
    found["PYTHONPATH"] = os.pathsep.join([*path, str(_PACKAGE)])  # for the processes that torchrun starts
    return found
