"""One command run to its end or to a limit: its time, and the memory that it took.

A new process counts the memory of the one that starts it as its own until its program is loaded, so this package
imports nothing large.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_EVERY = 0.05  # seconds between two looks at the memory of all processes
_MB = 1e6


@dataclass(frozen=True)
class Cost:
    """What a run took: seconds, seconds of all processors, MB of its largest process and of all at a time.

    Memory that processes share counts once in the sum. `told` is what went wrong; empty if nothing did.
    """

    seconds: float
    cpu: float
    largest_mb: float
    sum_mb: float
    told: str = ""


def run(command: Sequence[str], folder: Path, limit: float) -> Cost:
    """Run a command in a folder; where it takes longer than `limit` seconds it is ended, with all that it started.

    What it finds goes nowhere.
    """
    begun = time.perf_counter()
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "DETLINT_NO_CACHE")},
        start_new_session=True,
    ) as process:
        watch = _Watch(process.pid)
        late = threading.Timer(limit, os.killpg, (process.pid, signal.SIGKILL))
        late.start()
        watch.start()
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begun
        late.cancel()
        watch.ended.set()
        watch.join()
        process.returncode = os.waitstatus_to_exitcode(status)
    told = ""
    if seconds >= limit:
        told = f"more than {limit:.0f} s"
    elif process.returncode:
        told = f"exit status {process.returncode}: {said.decode(errors='replace').strip().rpartition(chr(10))[2][:200]}"
    largest = usage.ru_maxrss * 1024 / _MB
    return Cost(seconds, usage.ru_utime + usage.ru_stime, largest, max(largest, watch.most / _MB), told)


class _Watch(threading.Thread):
    """Looks at the memory of a process and of those below it until it `ended`; `most` is in bytes."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.most = 0
        self.ended = threading.Event()
        self._root = root

    def run(self) -> None:
        while not self.ended.wait(_EVERY):
            self.most = max(self.most, sum(_resident(process) for process in _session(self._root)))


def _session(leader: int) -> list[int]:
    """The processes of a session; none where there is no /proc."""
    found = []
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = each.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader:
            found.append(int(each.parent.name))
    return found


def _resident(process: int) -> int:
    """The bytes that a process has in memory, its part of what it shares."""
    try:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass  # it has ended
    return 0
