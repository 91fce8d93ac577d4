"""The worked example of docs/review.md, replayed: a branch, what is shown of it, the suggestions taken."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "review.md").read_text(encoding="utf-8")
PROJECT = ROOT / "docs" / "examples" / "segmentation_mended"


def fences(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def git(folder: Path, *arguments: str, text: str | None = None) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
    return subprocess.run(command, cwd=folder, input=text, check=True, capture_output=True, text=True).stdout


def detlint(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "detlint", "--changed-since", "main", *arguments, "."]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 1, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def branch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository, with the branch checked out."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(PROJECT, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    git(folder, "init", "-q", "--initial-branch", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "Repeat")
    git(folder, "checkout", "-qb", "faster")
    git(folder, "apply", text=fences("diff")[0])
    git(folder, "commit", "-qam", "Train faster")
    return folder


@pytest.mark.slow
def test_the_output_on_the_page_is_that_of_the_branch(branch: Path) -> None:
    (shown,) = fences("console")
    assert shown == f"$ detlint --changed-since main .\n{detlint(branch)}"


@pytest.mark.slow
def test_the_suggestions_on_the_page_are_those_of_the_review(branch: Path) -> None:
    diagnostics: list[dict[str, Any]] = json.loads(detlint(branch, "--format", "rdjson"))["diagnostics"]
    for diagnostic in diagnostics:
        path = branch / diagnostic["location"]["path"]
        for suggestion in diagnostic.get("suggestions", ()):
            lines = path.read_text().splitlines(keepends=True)
            span = suggestion["range"]
            lines[span["start"]["line"] - 1 : span["end"]["line"]] = [suggestion["text"] + "\n"]
            path.write_text("".join(lines))
    patch = git(branch, "diff", "--unified=0", "--no-prefix").splitlines(keepends=True)
    assert "".join(line for line in patch if line.startswith(("+", "-"))) == fences("diff")[1]
    left = re.findall(r" (DET\d+) ", detlint(branch))
    assert left == ["DET201", "DET501", "DET302"]
    git(branch, "checkout", "-q", ".")


@pytest.mark.parametrize(("part", "schema"), [("jobs", "vendor.github-workflows"), ("", "vendor.gitlab-ci")])
def test_the_workflows_are_some_by_the_schema(part: str, schema: str, tmp_path: Path) -> None:
    texts = [text for text in fences("yaml") if ("jobs" in yaml.safe_load(text)) is bool(part)]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.yml").write_text(text)
    files = sorted(map(str, tmp_path.iterdir()))
    assert files
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *files]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_workflows_give_the_action_what_it_takes() -> None:
    inputs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    used = [
        step
        for text in fences("yaml")
        for job in yaml.safe_load(text).get("jobs", {}).values()
        for step in job["steps"]
    ]
    ours = [step for step in used if step.get("uses", "").startswith("OWNER/detlint@")]
    assert len(ours) == 3
    for step in ours:
        assert step.get("with", {}).keys() <= inputs.keys()
