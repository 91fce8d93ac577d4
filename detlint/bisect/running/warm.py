"""Processes that have imported torch, from which runs are forked: torch is imported once for all runs of a kind.

There are two, one for the first run and one for the second, so that what differs between two fresh processes differs
between these: the hashes of strings, and addresses in memory. Runs from one origin agree in both.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

from detlint.bisect.options import Options
from detlint.bisect.recorded import programs
from detlint.bisect.recorded.origin import IMPORTED, UNLIKE
from detlint.forking.origin import Fork, Origin, obstacle

_SERVE = "detlint.bisect.recorded.origin:serve"
_LAUNCHERS = ("torch.distributed.run", "torch.distributed.launch")


class Origins:
    """The origins of the runs of a plan. `cold` says why runs start in fresh processes instead, or is ""."""

    def __init__(self, cwd: Path | None = None) -> None:
        self.cold = obstacle()
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
        """Start the origins of some runs, side by side; each pair has a name, options and an environment."""
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
        """Fork a run from the origin with this name; return None if it has to start in a fresh process."""
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
            given = os.open(os.devnull, os.O_RDONLY)
            try:
                return origin.fork(job, (given, shown.fileno(), errors.fileno()))
            finally:
                os.close(given)

    def ended(self, folder: Path) -> str:
        """Learn from a run that was forked; return why it is of no use, or ""."""
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
            self._known[key] = Origin(_SERVE, environment, self._cwd)
        return self._known[key]


def _may_fork(command: Sequence[str], options: Options) -> bool:
    """Return whether a run can be a fork: ranks start afresh, and torch.compile is turned off before torch's import."""
    return options.compiling != "eager" and not (command[0] == "-m" and command[1] in _LAUNCHERS)
