"""Programs whose cause lies outside torch: the line that makes the difference is named, and why; none where there is none."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("torch")

from detlint.bisect.comparing.outcome import DIVERGED, EQUAL
from detlint.bisect.locating import explain
from detlint.bisect.running import runs
from detlint.bisect.running.runs import Plan
from detlint.bisect.running.warm import Origins

from . import ending
from .forking import read_page
from .planted import FOLDER, MARK, SCRIPT

pytestmark = pytest.mark.slow

_FILE = re.compile(r'^```py title="(?P<name>[^"]+)"\n(?P<text>.*?)^```$', re.S | re.M)


@dataclass(frozen=True)
class Program:
    """A section of a page: files by name, what decides (any of these words), and what the second run differs in."""

    name: str
    files: dict[str, str]
    why: tuple[str, ...]
    perturb: tuple[str, ...] = ()

    @property
    def planted(self) -> set[str]:
        """The lines that are marked."""
        marked = ((name, text.splitlines()) for name, text in self.files.items())
        return {f"{name}:{i}" for name, lines in marked for i, line in enumerate(lines, 1) if line.endswith(MARK)}


def programs() -> Iterator[Program]:
    """All sections of the pages in tests/bisect/lines."""
    for path in sorted((FOLDER / "lines").glob("*.md")):
        header, text = read_page(path)
        why = [header["why"]] if isinstance(header["why"], str) else header["why"]
        for section in re.split(r"^## ", text, flags=re.M)[1:]:
            files = {match["name"]: match["text"] for match in _FILE.finditer(section)}
            title = section.partition("\n")[0]
            yield Program(f"{path.stem}: {title}", files, tuple(why), tuple(header.get("perturb", ())))


@pytest.fixture(scope="module")
def origins() -> Iterator[Origins]:
    with ending.origins() as found:
        yield found


BEHIND = frozenset((
    "files: Top level",
    "files: Function",
    "files: Another file",
    "files: Worker",
    "files: Class that holds state",
    "outside: Pickle that another run left",
    "outside: Lines of a log",
))  # fmt: skip
"""Programs that differ by what the first run leaves: `repeat` begins each run with the same files."""
FIRST = {one.name.partition(":")[0]: one.name for one in reversed([*programs()])}
ASKED = [pytest.param(one, id=one.name) for one in programs() if one.name in {*FIRST.values(), *BEHIND}]
"""These, and the first program of each page; tests/test_repeat_planted.py asks the same of most others."""


@pytest.mark.parametrize("program", ASKED)
def test_the_line_that_makes_a_difference_is_named(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, origins: Origins
) -> None:
    for name, text in program.files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    plan = Plan((SCRIPT,), perturbed=program.perturb, origins=origins)
    done = runs.run(plan, tmp_path / ".out")
    found = explain.explain(done.plan, done.outcome, tmp_path / ".out" / "explain", lambda told: None)
    assert found.status == (DIVERGED if program.planted else EQUAL)
    assert not origins.cold
    for one in found.found[:1]:
        assert str(one.cause.line) in program.planted, one.cause.evidence
        assert {one.cause.why, one.cause.kind} & set(program.why), one.cause.title


SECONDS = """\
import time
import numpy
import torch

torch.manual_seed(int(time.time()))
print((torch.rand(2) + torch.tensor({})).sum().item())
"""


@pytest.mark.parametrize("added", ["1", pytest.param("numpy.random.rand()", id="what differs without it")])
def test_a_seed_of_whole_seconds_is_named_where_both_runs_that_are_followed_read_the_same(
    added: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, origins: Origins
) -> None:
    (tmp_path / SCRIPT).write_text(SECONDS.format(added))
    monkeypatch.chdir(tmp_path)
    runs_before = 0

    def wait() -> None:
        nonlocal runs_before
        runs_before += 1
        if runs_before == 2:
            time.sleep(1.1)
        elif runs_before % 2:
            time.sleep(int(time.time()) + 1.02 - time.time())  # so that the next one follows within the second

    plan = Plan((SCRIPT,), origins=origins, before=wait)
    done = runs.run(plan, tmp_path / ".out")
    cause = explain.explain(done.plan, done.outcome, tmp_path / ".out" / "explain", lambda told: None).found[0].cause
    assert (cause.kind, cause.why, str(cause.line)) == ("seed-value", "time", f"{SCRIPT}:5")
