"""`--watch`: a run again at each change of what it looked at."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from detlint.cli import cli

ROOT = Path(__file__).parent.parent
SWITCH = "import torch\n\ntorch.backends.cudnn.benchmark = True\n"
READS = """\
import random
import yaml

with open("settings.yaml") as file:
    settings = yaml.safe_load(file)
if settings["seed"] is not None:
    random.seed(settings["seed"])
print(random.random())
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that is the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DETLINT_DEBUG", "")
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "a.py").write_text("x = 1\n")
    return tmp_path


def watched(
    monkeypatch: pytest.MonkeyPatch, *arguments: str, changes: list[Callable[[], object]]
) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a run that is watched while these changes are made, one at each wait."""
    waiting = iter(changes)

    def sleep(seconds: float) -> None:
        change = next(waiting, None)
        if change is None:
            raise KeyboardInterrupt
        change()

    monkeypatch.setattr("detlint.commands.watching.time.sleep", sleep)
    result = CliRunner().invoke(cli, ["--watch", "--format", "concise", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def heads(stdout: str) -> list[str]:
    """The first words of each line of reports."""
    return [" ".join(line.split()[:3]) for line in stdout.splitlines()]


def test_each_change_is_followed_by_a_run(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status, stdout, stderr = watched(
        monkeypatch,
        changes=[
            lambda: (project / "a.py").write_text(SWITCH),
            lambda: None,  # nothing changed: no run
            lambda: (project / "b.py").write_text(SWITCH),
            lambda: (project / "a.py").unlink(),
            lambda: (project / "detlint.toml").write_text('ignore = ["DET501"]\n'),
        ],
    )
    assert status == 0
    nothing = "Nothing found in"
    a, b = "a.py:3:1: warning DET501", "b.py:3:1: warning DET501"
    assert heads(stdout) == [nothing, a, "1 finding in", a, b, "2 findings in", b, "1 finding in", nothing]
    assert stderr.count("waiting for changes; Ctrl-C ends\n") == len(stderr.splitlines()) == 5


def test_what_else_a_run_looks_at_is_watched(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "train.py").write_text(READS)
    (project / "settings.yaml").write_text("seed: null\n")
    (project / "beside.toml").write_text('select = ["DET1"]\n')
    _, stdout, _ = watched(
        monkeypatch,
        "--config",
        "beside.toml",
        "train.py",
        changes=[
            lambda: (project / "settings.yaml").write_text("seed: 1\n"),
            lambda: (project / "settings.yaml").write_text("seed: null\n"),
            lambda: (project / "beside.toml").write_text('select = ["DET5"]\n'),
        ],
    )
    found = [line for line in heads(stdout) if not line[0].isdigit()]
    assert found == ["train.py:8:7: error DET103", "Nothing found in", "train.py:8:7: error DET103", "Nothing found in"]


def test_what_is_wrong_meanwhile_is_said_and_waited_for(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status, stdout, stderr = watched(
        monkeypatch,
        changes=[
            lambda: (project / "detlint.toml").write_text("select = [\n"),
            lambda: (project / "detlint.toml").write_text('select = ["DET5"]\n'),
        ],
    )
    assert status == 0
    assert heads(stdout) == ["Nothing found in", "Nothing found in"]
    assert "detlint.toml: it is not TOML: Invalid value (at end of document)\n" in stderr


def test_what_a_run_fixes_is_no_endless_change(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "a.py").write_text("import torch\nprint(torch.empty(3))\n")
    _, stdout, stderr = watched(monkeypatch, "--fix", changes=[lambda: None])
    assert "torch.zeros(3)" in (project / "a.py").read_text()
    assert heads(stdout) == ["Nothing found in", "Nothing found in"]
    assert stderr.count("fixed 1 in 1 file") == 1


def test_a_person_ends_it(project: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "detlint", "--watch", "--format", "concise", "--no-cache"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
        assert process.stderr is not None and process.stdout is not None
        assert "waiting for changes" in process.stderr.readline()
        (project / "a.py").write_text(SWITCH)
        assert "waiting for changes" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
        assert heads(process.stdout.read()) == ["Nothing found in", "a.py:3:1: warning DET501", "1 finding in"]
