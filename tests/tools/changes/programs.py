"""Record the project's own programs: those that tests give to detlint, and those of tests/repeat and docs/examples.

A test asks about a program what the test is about; here each is asked all, with all rules on.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from detlint.support.processes import spread
from tests.tools.revision import revision

from .asking import COMMANDS, PROJECT, Answer, Asked, Cost, ask_here
from .collecting import AS_IT_IS
from .corpus import say
from .records import Costs, Record, Row, key, row

TESTS = ("test_entries*.py", "test_gauntlet*.py", "test_pages.py", "test_rows.py")
_CRASHED: Answer = {"failed": "ended its process"}
_UNKNOWN = Cost(0, 0)

Found = tuple[dict[str, Answer], dict[str, Cost]]


@dataclass
class Program:
    """Texts by path, the version of torch to judge them by, if not the newest, and the tests that hand them over."""

    texts: Mapping[str, str]
    torch: str = ""
    tests: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """What tells it from others, wherever it is and in whatever order they are collected."""
        return key([self.texts, self.torch])


Groups = dict[str, dict[str, Program]]  # by file of tests, and by name


def record(tests: Sequence[Path], out: Path, asked: Asked, jobs: int) -> int:
    """Record the programs of files of tests, or else all there are; the exit status of the tests.

    Tests that fail hand over what they come to. Raises ValueError where none hands over anything.
    """
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        files = tests or sorted(path for pattern in TESTS for path in (PROJECT / "tests").glob(pattern))
        status = _run(files, Path(folder), jobs)
        groups = _handed_over(Path(folder))
    if not groups:
        raise ValueError("the tests give no program to detlint")
    if not tests:
        groups |= _pages()
    unique = {name: program for group in groups.values() for name, program in group.items()}
    say(f"{len(unique)} programs of {len(groups)} files")
    found = _answered(unique, asked, jobs)
    costs, which = Costs(out), revision()
    for group, programs in sorted(groups.items()):
        taken = [found[name][1] for name in programs]
        costs.add(group, which, {command: _sum(each[command] for each in taken) for command in COMMANDS})
        Record(group, [_row(name, program, found[name][0]) for name, program in sorted(programs.items())]).write(out)
    return status


def _run(files: Sequence[Path], folder: Path, jobs: int) -> int:
    """Run tests that write the programs which they hand over into a folder."""
    settings = ["-c", str(PROJECT / "pyproject.toml"), "-q", "-m", ""]
    plugin = ["-p", "tests.tools.changes.collecting", "--programs-into", str(folder)]
    shared = ["-n", str(jobs if jobs > 1 else 0), "--dist", "worksteal"]
    command = [sys.executable, "-m", "pytest", *settings, *plugin, *shared, *map(str, files)]
    ran = subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    say("\n".join(ran.stdout.splitlines()[-9 if ran.returncode else -1 :]))
    return ran.returncode


def _handed_over(folder: Path) -> Groups:
    groups: Groups = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            program = Program(one["texts"], one["torch"])
            group = groups.setdefault(one["file"], {})
            group.setdefault(program.name, program).tests.add(one["test"])
    return groups


def _pages() -> Groups:
    """The programs that are run twice, which needs torch."""
    from tests import repeating

    groups: Groups = {}
    for group, programs in (("repeat", repeating.programs()), ("examples", repeating.examples())):
        for each in programs:
            program = Program({path: text.decode(*AS_IT_IS) for path, text in each.files.items()}, "", {each.name})
            groups.setdefault(group, {})[program.name] = program
    return groups


def _answered(programs: Mapping[str, Program], asked: Asked, jobs: int) -> dict[str, Found]:
    batches = [[(program, command) for command in COMMANDS] for program in programs.values()]
    found: dict[str, Found] = {name: ({}, {}) for name in programs}
    for (program, command), answered in spread(partial(_ask, asked), batches, jobs):
        answers, costs = found[program.name]
        answers[command], costs[command] = answered or (_CRASHED, _UNKNOWN)
    return found


def _ask(asked: Asked, question: tuple[Program, str]) -> tuple[Answer, Cost]:
    program, command = question
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "program")  # the name of a project's folder may stand in what is said of it
        for path, text in {"pyproject.toml": "", **program.texts}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(text.encode(*AS_IT_IS))
        os.chdir(root)
        try:
            return ask_here(command, Asked(asked.timeout, asked.select, program.torch))
        finally:
            os.chdir(PROJECT)


def _row(name: str, program: Program, answers: Mapping[str, Answer]) -> Row:
    about: Row = {"name": name, "tests": sorted(program.tests), "texts": dict(program.texts), "torch": program.torch}
    return about | row(**answers)


def _sum(costs: Iterable[Cost]) -> Cost:
    """What all of a file's programs took; memory is no measure where they share processes."""
    each = list(costs)
    return Cost(sum(cost.seconds for cost in each), sum(cost.cpu for cost in each))
