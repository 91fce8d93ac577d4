"""Programs recorded in processes of their own."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias

from detlint.bisect.options import Options
from detlint.bisect.recorded import programs
from detlint.bisect.running.warm import Origins
from detlint.forking.origin import IMPORTED, Fork

_PACKAGE = Path(__file__).resolve().parents[3]
_BEGIN = f"""\
{IMPORTED}
from detlint.bisect.recorded.child import main
main(sys.argv[1:])
"""
_TAIL = 16384  # bytes kept of what a program wrote to its standard error
_GRACE = 5.0  # seconds from SIGTERM to SIGKILL
_Process: TypeAlias = "subprocess.Popen[bytes] | Fork"


@dataclass(frozen=True, slots=True)
class Recording:
    """The result of recording a program: its exit status, negative for a signal, and the end of its stderr, `errors`.

    `timed_out` says that the program was ended when its time was over.
    """

    folder: Path
    status: int
    errors: str = ""
    timed_out: bool = False


class Running:
    """A program that is being recorded."""

    def __init__(
        self, process: _Process, folder: Path, errors: IO[bytes], again: Callable[[], _Process | None] | None = None
    ) -> None:
        """Watch `process`; `again` starts the program anew if its run was of no use, and otherwise returns None."""
        self._process = process
        self._folder = folder
        self._errors = errors
        self._again = again
        self._ending = threading.Lock()

    def wait(self, timeout: float | None = None) -> Recording:
        """Wait for the end; a program that takes more seconds than `timeout` is ended."""
        timed_out = self._wait(timeout)
        anew = self._again() if self._again is not None and not timed_out else None
        if anew is not None:
            self._process = anew
            timed_out = self._wait(timeout)
        with self._errors as errors:
            errors.seek(max(0, errors.seek(0, os.SEEK_END) - _TAIL))
            told = errors.read().decode("utf-8", "replace")
        return Recording(self._folder, self._process.returncode or 0, told, timed_out)

    def _wait(self, timeout: float | None) -> bool:
        timed_out = False
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
            self.end()
        except BaseException:
            self.end()
            raise
        return timed_out

    def end(self) -> None:
        """End the program and what it started, with time to write the ends of streams. Any thread may, repeatedly."""
        with self._ending:
            for number in (signal.SIGTERM, signal.SIGKILL):
                if self._process.poll() is not None and number is signal.SIGTERM:
                    return
                with contextlib.suppress(ProcessLookupError):
                    if sys.platform == "win32" and isinstance(self._process, subprocess.Popen):
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
    origins: Origins | None = None,
    origin: str = "",
) -> Running:
    """Start a program in a fresh process that writes its trace to `folder`, which is created.

    `command` is a script, a notebook, a test (`test_x.py::test_name`), `-m module`, `torchrun ...` or a command that is
    a Python script, each with its arguments. With `quiet`, what the program prints is kept from the terminal.
    `environment` has variables to add. With `origins`, the program is forked from the origin named `origin` where
    possible. Raises ProgramError if there is nothing to run, and OSError.
    """
    options = options or Options()
    checked = programs.check(list(command), cwd)
    folder.mkdir(parents=True, exist_ok=True)
    errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the program has ended
    variables = variables_of(options, environment)

    def fresh() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-c", _BEGIN, str(_PACKAGE), str(folder.resolve()), options.dump(), *checked],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if quiet else None,
            stderr=errors,
            cwd=cwd,
            env=variables,
            start_new_session=True,  # so that everything it starts can be ended with it
        )

    if origins is None:
        return Running(fresh(), folder, errors)
    forked = origins.start(origin, checked, folder, options, variables, errors, quiet)

    def again() -> subprocess.Popen[bytes] | None:
        if forked is None or not origins.ended(folder):
            return None
        shutil.rmtree(folder)
        folder.mkdir()
        errors.truncate(0)
        return fresh()

    return Running(forked or fresh(), folder, errors, again)


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
    """Start a program as `start` does, and wait for its end, at most `timeout` seconds. Raises as `start` does."""
    return start(command, folder, options, cwd=cwd, quiet=quiet, environment=environment).wait(timeout)


def variables_of(options: Options, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment variables of a run."""
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
