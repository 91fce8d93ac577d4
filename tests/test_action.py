"""The GitHub Action: its file is valid, and its steps do in a shell what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
INSTALL, CHECK = ACTION["runs"]["steps"]
CAUSE = "import torch\n\ntorch.backends.cudnn.benchmark = True\n"
DEFAULTS = {name: given["default"] for name, given in ACTION["inputs"].items()}


def valid(schema: str, file: Path) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(file)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_action_is_one_by_the_schema() -> None:
    valid("vendor.github-actions", ROOT / "action.yml")


def test_no_input_is_written_into_a_script() -> None:
    """What a pull request can choose must not become a command."""
    for step in (INSTALL, CHECK):
        assert "${{" not in step["run"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository whose second commit adds a cause to a file that has one."""
    file = tmp_path / "train.py"
    file.write_text(CAUSE)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "One")
    file.write_text(CAUSE + "torch.backends.cudnn.deterministic = False\n")
    git(tmp_path, "commit", "-qam", "Two")
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def check(project: Path, base: str = "", **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the step with the inputs of a workflow; `base` is what the event names for a pull request."""
    tools = project / "tools"
    tools.mkdir()
    command = tools / "detlint"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m detlint "$@"\n')
    command.chmod(0o755)
    given = {**DEFAULTS, **inputs}
    values = {f"inputs.{name}": value for name, value in given.items()} | {"github.event.pull_request.base.sha": base}
    environment = {
        name: values[text.removeprefix("${{").removesuffix("}}").strip()] for name, text in CHECK["env"].items()
    }
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | environment | {"PATH": path, "PYTHONPATH": str(ROOT)}
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", CHECK["run"]]
    return subprocess.run(script, cwd=project, env=environment, capture_output=True, text=True)


def test_without_a_pull_request_all_lines_are_annotated(project: Path) -> None:
    done = check(project)
    assert done.returncode == 1, done.stderr
    assert [line.partition(",endLine")[0] for line in done.stdout.splitlines()] == [
        "::warning title=detlint (DET501),file=train.py,line=3",
        "::notice title=detlint (DET502),file=train.py,line=4",
    ]


def test_in_a_pull_request_only_what_it_brings_is_annotated(project: Path) -> None:
    done = check(project, base="HEAD~1")
    assert [line.partition(",endLine")[0] for line in done.stdout.splitlines()] == [
        "::notice title=detlint (DET502),file=train.py,line=4"
    ]
    assert done.returncode == 1, done.stderr


def test_the_report_can_go_to_a_file_and_arguments_hold_spaces(project: Path) -> None:
    (project / "a b.py").write_text(CAUSE)
    done = check(
        project, format="json", output="report.json", paths="a b.py\n", arguments="--severity=warning\n--exit-zero\n"
    )
    assert done.returncode == 0, done.stderr
    assert '"a b.py"' in (project / "report.json").read_text()


def test_what_comes_in_is_never_run(project: Path) -> None:
    check(project, paths="$(touch marker)\n`touch marker`\n; touch marker\n", arguments="--ignore=$(touch marker)")
    assert not (project / "marker").exists()


def test_the_command_is_put_on_the_path_of_later_steps(tmp_path: Path) -> None:
    environment = os.environ | {
        "RUNNER_TEMP": str(tmp_path), "GITHUB_PATH": str(tmp_path / "path"), "GITHUB_ACTION_PATH": str(ROOT),
    }  # fmt: skip
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", INSTALL["run"]]
    subprocess.run(script, env=environment, check=True, cwd=tmp_path)
    (folder,) = (tmp_path / "path").read_text().splitlines()
    done = subprocess.run([Path(folder) / "detlint", "--version"], capture_output=True, text=True, check=True)
    assert "detlint" in done.stdout
