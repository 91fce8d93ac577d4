"""A finding is the same through every door: rule, place and message."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from tests.editor import Editor
from tests.support import FLAKE8_PLUGIN
from tests.test_formats import READERS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
FILES = {
    "pyproject.toml": "",
    "seeds.py": "import torch\n\n\ndef seed_some():\n    torch.manual_seed(0)\n",
    "train.py": """\
import os
import random

import torch
from torch.utils.data import DataLoader

from seeds import seed_some

torch.backends.cudnn.benchmark = True


def train(folder, data):
    words = {"é", "😀"}; names = [torch.rand(2) for name in os.listdir(folder)]
    loader = DataLoader(data, shuffle=True, num_workers=2)
    return loader, torch.empty(3).sum(), {word: index for index, word in enumerate(words)}, names


if __name__ == "__main__":
    seed_some()
    random.shuffle([1, 2])
    train(".", range(9))
""",
}  # fmt: skip
Row = tuple[str, str, int, str]  # code, path, line, message
Place = tuple[str, str, int, int, str]  # with the column


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose first commit is empty."""
    folder = tmp_path_factory.mktemp("doors")
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "Begin")
    (folder / ".flake8").write_text(FLAKE8_PLUGIN)
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def git(folder: Path, *arguments: str) -> None:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def run(project: Path, *arguments: str, environment: Mapping[str, str] = os.environ) -> str:
    command = [sys.executable, "-m", *arguments]
    environment = {**environment, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, encoding="utf-8", env=environment)
    assert done.returncode == 1, done.stderr
    return done.stdout


def shown(text: str) -> Iterator[Place]:
    """What the command line and flake8 print, read back."""
    for path, line, column, code, message in re.findall(
        r"^(\S+?):(\d+):(\d+): (?:\w+ )?(DET\d+) (.*)$", text, re.MULTILINE
    ):
        yield code, path.removeprefix("./"), int(line), int(column), message


@pytest.fixture(scope="module")
def places(project: Path) -> list[Place]:
    """What `detlint` finds; the cache of the project has it then."""
    environment = {name: value for name, value in os.environ.items() if name != "DETLINT_NO_CACHE"}
    found = list(shown(run(project, "detlint", environment=environment)))
    assert {code for code, *_ in found} >= {"DET103", "DET201", "DET401", "DET501", "DET601", "DET602"}
    assert "DET101" not in {code for code, *_ in found}, "the other file seeds torch"
    return found


def test_flake8(project: Path, places: list[Place]) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "DETLINT_NO_CACHE"}
    output = run(project, "flake8", "--select", "DET", environment=environment)
    assert sorted(shown(output)) == sorted(places)


def test_the_hook_of_pre_commit(project: Path, places: list[Place]) -> None:
    check, _ = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    program, *arguments = shlex.split(check["entry"])
    assert list(shown(run(project, program, *arguments, "train.py"))) == places


def test_a_review(project: Path, places: list[Place]) -> None:
    assert list(shown(run(project, "detlint", "--changed-since", "HEAD"))) == places


@pytest.mark.parametrize("name", READERS)
def test_a_format(name: str, project: Path, places: list[Place]) -> None:
    rows = READERS[name](run(project, "detlint", "--format", name))
    assert [(*row[:3], row[3].splitlines()[0]) for row in rows] == [(*place[:3], place[4]) for place in places]


def test_an_editor(project: Path, places: list[Place]) -> None:
    editor = Editor([project])
    uri = editor.open(project / "train.py", FILES["train.py"])
    lines = FILES["train.py"].splitlines()
    found = []
    for each in editor.diagnostics(uri):
        start = each.range.start
        before = lines[start.line].encode("utf-16-le")[: 2 * start.character].decode("utf-16-le")
        found.append((str(each.code), "train.py", start.line + 1, len(before) + 1, each.message))
    assert sorted(found) == sorted(places)
    assert editor.quit() == 0
