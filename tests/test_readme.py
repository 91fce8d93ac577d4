"""The ways in that the README shows, copied from it and run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from detlint.verify import pool
from tests.entered import verify
from tests.forks import forks
from tests.support import FLAKE8_PLUGIN, PYTEST_PLUGIN

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOORS = README[README.index("## Where you work") : README.index("## Configuration")]
FENCES: list[tuple[str, str]] = re.findall(r"^```(\w*)\n(.*?)^```$", DOORS, re.MULTILINE | re.DOTALL)


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)


def detlint_or_flake8(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    program, *arguments = shlex.split(text)
    assert program in ("detlint", "flake8")
    return run([sys.executable, "-m", program, *arguments], folder)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository of the examples, with a change."""
    shutil.copytree(ROOT / "docs" / "examples", tmp_path / "docs" / "examples")
    (tmp_path / ".flake8").write_text(FLAKE8_PLUGIN)
    for arguments in (["init", "-q", "--initial-branch", "main"], ["add", "-A"], ["commit", "-qm", "All"]):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments], cwd=tmp_path, check=True
        )
    file = tmp_path / "docs" / "examples" / "segmentation_mended" / "train.py"
    file.write_text(file.read_text().replace("torch.use_deterministic_algorithms(True)\n", ""))
    return tmp_path


def test_each_way_in_takes_at_most_five_lines() -> None:
    assert [language for language, _ in FENCES] == ["", "yaml", "", "lua", "py"]
    assert all(len(text.splitlines()) <= 5 for _, text in FENCES)


@pytest.mark.slow
def test_a_review_shows_what_a_change_brings(project: Path) -> None:
    done = detlint_or_flake8(FENCES[0][1], project)
    assert re.findall(r"^\S+/(\w+/\w+\.py):\d+:\d+: \w+ (DET\d+)", done.stdout, re.M) == [
        ("segmentation_mended/train.py", "DET302")
    ]
    assert "older findings are not shown" in done.stderr


@pytest.mark.slow
def test_flake8_shows_what_is_found(project: Path) -> None:
    done = detlint_or_flake8(FENCES[2][1], project)
    assert "segmentation/train.py:13:1: DET501 " in done.stdout, done.stderr


@pytest.mark.slow
def test_the_editor_starts_a_server_that_answers(tmp_path: Path) -> None:
    (cmd,) = re.findall(r"cmd = \{(.*?)\}", FENCES[3][1])
    program, *arguments = re.findall(r'"(.*?)"', cmd)
    assert program == "detlint"
    body = '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}, "processId": null}}'
    message = f"Content-Length: {len(body)}\r\n\r\n{body}"
    done = subprocess.run(
        [sys.executable, "-m", program, *arguments],
        input=message, capture_output=True, text=True, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert '"capabilities"' in done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "outcome"), [("torch.randn(4)", "1 passed"), ("os.urandom(4)", "1 failed")])
def test_a_test_is_run_twice(seed: str, outcome: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    head = f"import os\nimport pytest\nimport torch\n\ndef train(steps):\n    return {seed}\n\n"
    (tmp_path / "test_train.py").write_text(head + FENCES[4][1])
    done = run([sys.executable, "-m", "pytest", *PYTEST_PLUGIN, "-p", "no:cacheprovider"], tmp_path)
    assert outcome in done.stdout, done.stdout


@pytest.mark.slow
def test_the_change_that_is_shown_is_what_the_fixes_make(project: Path) -> None:
    done = detlint_or_flake8("detlint --diff docs/examples/language_model", project)
    (shown,) = re.findall(r"^```diff\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    changes = [line for line in done.stdout.splitlines() if line[:1] in "-+" and line[:3] not in ("---", "+++")]
    assert [line for line in shown.splitlines() if line != "..."] == [line for line in changes if "import" not in line]


@pytest.mark.slow
def test_the_commands_that_are_named_do_what_they_say(project: Path) -> None:
    examples = project / "docs" / "examples"
    (examples / "short.py").write_text("import torch\ntorch.manual_seed(1)\nprint(torch.rand(2) + 1)\n")
    commands = set(re.findall(r"`(detlint [^`]*)`", README)) - {"detlint entries", "detlint bisect -- train.py"}
    assert commands == {"detlint rule DET601"}
    assert detlint_or_flake8("detlint rule DET601", project).stdout.startswith("# DET601 set-order")
    entries = detlint_or_flake8("detlint entries", project).stdout
    assert re.search(r"^docs/examples/language_model/train.py +main +unseeded ", entries, re.MULTILINE)
    assert "`detlint bisect -- train.py`" in README
    runs = detlint_or_flake8("detlint bisect -- short.py", examples)
    assert runs.returncode == 0, runs.stdout + runs.stderr
    assert "`--format html`" in README
    assert detlint_or_flake8("detlint --format html .", project).stdout.startswith("<!doctype html>")


@pytest.mark.slow
def test_findings_are_verified_or_it_is_said_why_not(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    assert re.search(r"^detlint verify \. ", README, re.MULTILINE)
    monkeypatch.chdir(project)
    with forks(pool):
        status = verify("--repeats 6 --processes 1 --device cpu docs/examples/segmentation".split())
    shown = capsys.readouterr()
    assert status in (0, 1), shown.err
    assert re.search(r"DET40\d +(confirmed|not-observed) ", shown.out), shown.out
