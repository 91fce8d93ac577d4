"""Ask detlint about a folder: all findings, all entry points, and what it took to find them."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

PROJECT = Path(__file__).parents[3]
COMMANDS = ("check", "entries")

Answer = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """How detlint is asked. An answer may take `timeout` seconds; `select` and `torch` are as on the command line."""

    timeout: float
    select: str = ""
    torch: str = ""

    def arguments(self, command: str) -> list[str]:
        """What follows `detlint` for a command on the working folder."""
        found = [command, "--format", "json", "--no-cache", "--jobs", "1"]
        found += ["--torch-version", self.torch] if self.torch else []
        if command == "check":
            found += ["--exit-zero", *(["--select", self.select] if self.select else [])]
        return [*found, "."]


@dataclass(frozen=True)
class Cost:
    """What a run took: seconds, those of the processor, and the most memory of one process, in megabytes."""

    seconds: float
    cpu: float
    megabytes: float = 0.0


def ask(folder: Path, command: str, asked: Asked) -> tuple[Answer, Cost]:
    """What a command says of a folder, by a process of its own: its JSON, or `failed` with the reason."""
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "PYTHONSAFEPATH": "1"}
    line = [sys.executable, "-m", "detlint", *asked.arguments(command)]
    begun = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            line, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
        late = threading.Event()
        timer = threading.Timer(asked.timeout, _end, (process.pid, late))
        timer.start()
        try:
            _, status, used = os.wait4(process.pid, 0)  # with what those took that it waited for
        except BaseException:
            _end(process.pid, late)
            raise
        finally:
            timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        cost = Cost(time.monotonic() - begun, used.ru_utime + used.ru_stime, _megabytes(used))
        out.seek(0)
        err.seek(0)
        said = out.read().decode(errors="replace")
        told = err.read().decode(errors="replace").replace(str(folder), ".").strip()
    if late.is_set():
        return _failed(_late(asked)), cost
    if process.returncode < 0:
        return _failed(f"ended by {signal.Signals(-process.returncode).name}"), cost
    return _answer(process.returncode, said, told), cost


def ask_here(command: str, asked: Asked) -> tuple[Answer, Cost]:
    """What a command says of the working folder, in this process, whose memory is no measure."""
    from click.testing import CliRunner

    from detlint.cli import cli

    begun, cpu = time.monotonic(), time.process_time()
    try:
        with _limited(asked.timeout):
            result = CliRunner().invoke(cli, asked.arguments(command))
    except _Late:
        answer = _failed(_late(asked))
    else:
        crashed = result.exception is not None and not isinstance(result.exception, SystemExit)
        told = f"{type(result.exception).__name__}: {result.exception}" if crashed else result.stderr.strip()
        answer = _answer(result.exit_code, result.stdout, told)
    return answer, Cost(time.monotonic() - begun, time.process_time() - cpu)


def _answer(status: int, said: str, told: str) -> Answer:
    last = told.splitlines()[-1] if told else ""
    if status:
        return _failed(f"exit status {status}: {last}")
    try:
        answer: Answer = json.loads(said)
    except ValueError:
        return _failed(f"wrote no JSON: {last}")
    return answer


def _failed(why: str) -> Answer:
    return {"failed": why}


def _late(asked: Asked) -> str:
    return f"took more than {asked.timeout:g} s"


def _end(pid: int, late: threading.Event) -> None:
    """End a process and those that it started."""
    late.set()
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _megabytes(used: resource.struct_rusage) -> float:
    return used.ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)  # bytes there


class _Late(BaseException):
    """An answer takes too long: no error, which what is asked might handle."""


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise `_Late` in what takes longer."""

    def late(number: int, frame: FrameType | None) -> None:
        raise _Late

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
