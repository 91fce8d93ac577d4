"""How often programs repeat before and after `--fix`, what the fixes cost, and how far ten runs drift apart.

The programs are those of tests/repeat and docs/examples. Each run is a fork of a fresh process of its own, which has its own hash seed,
addresses and fill of fresh memory, and reads data whose files were made in another order; one thread.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.repeating import Program, Server, examples, programs, results, write_data

RUNS = 10
SPREAD = "digits-cnn"
OPTIONS = ("--epochs", "30", "--lr", "1.0")


@dataclass(frozen=True)
class Runs:
    """What came of all runs of a program: what each saved, and how many seconds of a processor each took."""

    saved: tuple[dict[str, bytes], ...]
    seconds: tuple[float, ...]

    @property
    def equal(self) -> int:
        """How many runs saved the very bits that the first one saved, that one counted."""
        return sum(saved == self.saved[0] for saved in self.saved)

    @property
    def distinct(self) -> int:
        """How many different results there are."""
        return len({tuple(sorted(saved.items())) for saved in self.saved})


def repeats(place: Path) -> dict[str, Any]:
    """How many of RUNS runs of each program are equal, before and after its fixes; `place` is where they run.

    That has to be a file system which lists files by their age.
    """
    rows = []
    with _servers() as servers:
        for program in (*programs(), *examples()):
            before, after = (_runs(program, servers, place, fixed) for fixed in (False, True))
            rows.append(
                {
                    "name": program.name,
                    "control": program.repeats,
                    "unsafe": program.unsafe,
                    "before": {"equal": before.equal, "distinct": before.distinct},
                    "after": {"equal": after.equal, "distinct": after.distinct},
                    "cpu": [round(min(each.seconds), 3) for each in (before, after)],
                }
            )
            print(rows[-1], flush=True)
    return {"runs": RUNS, "programs": rows}


def spread(place: Path) -> dict[str, Any]:
    """The losses of RUNS runs of one program, step by step, before and after its fixes."""
    program = next(each for each in programs() if each.name == SPREAD)
    (command,) = program.commands
    program = replace(program, commands=((*command, *OPTIONS),))
    with _servers() as servers:
        found = [_losses(_runs(program, servers, place, fixed)) for fixed in (False, True)]
    return {"program": SPREAD, "options": " ".join(OPTIONS), "runs": RUNS, "before": found[0], "after": found[1]}


def _losses(runs: Runs) -> list[list[float]]:
    found = []
    for saved in runs.saved:
        losses = {path: value for path, value in saved.items() if "['loss'][" in path}
        found.append([round(float.fromhex(value.decode()), 6) for value in losses.values()])
    return found


class _servers:  # noqa: N801 - a context
    """A fresh process for each run."""

    def __enter__(self) -> Sequence[Server]:
        self._all = [Server(17 + 23 * number) for number in range(RUNS)]  # bytes to fill with, no two alike
        return self._all

    def __exit__(self, *_: object) -> None:
        for server in self._all:
            server.stop()


def _runs(program: Program, servers: Sequence[Server], place: Path, fixed: bool) -> Runs:
    with tempfile.TemporaryDirectory(dir=place) as folder:
        scripts = program.write(Path(folder) / "scripts")
        if fixed:
            unsafe = ["--unsafe-fixes"] if program.unsafe else []
            command = [sys.executable, "-m", "detlint", "--no-cache", "--jobs", "1", "--fix", *unsafe, "."]
            done = subprocess.run(command, cwd=scripts, capture_output=True, text=True)
            assert done.returncode in (0, 1), done.stderr
        return Runs(*zip(*_each(program, servers, Path(folder), scripts), strict=True))


def _each(
    program: Program, servers: Sequence[Server], folder: Path, scripts: Path
) -> Iterator[tuple[dict[str, bytes], float]]:
    for number, server in enumerate(servers):
        place = folder / f"run-{number}"
        shutil.copytree(scripts, place)
        if program.data:
            write_data(program.data, place, order=number)
        seconds = 0.0
        for command in program.commands:
            status = server.start(command, place, program.packages).wait()
            assert status == 0, (place / "log.txt").read_text()
            seconds += float((place / "cpu.txt").read_text())
        yield results(place), seconds
        shutil.rmtree(place)
        if program.apart:
            time.sleep(1)
