"""The hooks, run by pre-commit itself from a repository that holds this project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
FILES = (
    "detlint", "rules", "docs/commands", "tests/tools", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml",
)  # fmt: skip
PROJECT = {
    "seeds.py": "import torch\n\n\ndef seed_all():\n    torch.manual_seed(0)\n",
    "train.py": """\
import os

import torch
from seeds import seed_all

if __name__ == "__main__":
    seed_all()
    for name in os.listdir("."):
        print(name, torch.rand(3))
""",
    "vendored.py": "import torch\n\ntorch.backends.cudnn.benchmark = True\n",
    "detlint.toml": 'exclude = ["vendored.py"]\n',
}


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def committed(folder: Path) -> str:
    """A repository of what is in a folder; the commit."""
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "All")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A repository of this project as it is in the working tree, and its commit."""
    folder = tmp_path_factory.mktemp("detlint")
    for name in FILES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder, committed(folder)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    return os.environ | {"PRE_COMMIT_HOME": str(tmp_path_factory.mktemp("pre-commit")), "NO_COLOR": "1"}


@pytest.fixture
def project(tmp_path: Path, tool: tuple[Path, str]) -> Path:
    folder, commit = tool
    for name, text in PROJECT.items():
        (tmp_path / name).write_text(text)
    (shown,) = re.findall(r"^```yaml\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    config = yaml.safe_load(shown)
    config["repos"][0] |= {"repo": str(folder), "rev": commit}
    config["repos"][0]["hooks"].append({"id": "detlint-fix"})
    (tmp_path / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    committed(tmp_path)
    return tmp_path


def run(project: Path, environment: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pre_commit", "run", "--verbose", *arguments]
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)


def found(output: str) -> list[tuple[str, str]]:
    return re.findall(r"^(\S+?):\d+:\d+: \w+ (DET\d+) ", output, re.MULTILINE)


def test_the_hooks_check_and_fix_what_is_committed(project: Path, environment: Mapping[str, str]) -> None:
    done = run(project, environment, "detlint", "--all-files")
    assert done.returncode == 1, done.stdout + done.stderr
    assert found(done.stdout) == [("train.py", "DET602")], "seeded in the other file, and that one is left out"
    done = run(project, environment, "detlint-fix", "--all-files")
    assert done.returncode == 1
    assert "files were modified by this hook" in done.stdout
    assert 'sorted(os.listdir("."))' in (project / "train.py").read_text()
    done = run(project, environment, "--all-files")
    assert done.returncode == 0, done.stdout
    # what a commit of one file breaks in another shows where that one is committed, too
    (project / "seeds.py").write_text("def seed_all():\n    pass\n")
    git(project, "add", "-A")
    assert run(project, environment, "detlint", "--files", "seeds.py").returncode == 0
    done = run(project, environment, "detlint", "--files", "train.py")
    assert found(done.stdout) == [("train.py", "DET101")]
