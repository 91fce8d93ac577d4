"""The tool that begins a rule, and the page that walks through one: its commands and what it fills in."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from detlint import catalogue
from tests.tools import new_rule

ROOT = Path(__file__).parent.parent
WALK = (ROOT / "docs" / "new-rule.md").read_text(encoding="utf-8")
STEPS = re.findall(r"^(?:```|~~~)(\w*)\n(.*?)^(?:```|~~~)$", WALK, re.MULTILINE | re.DOTALL)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository without rules that is the working folder."""
    (tmp_path / "rules").mkdir()
    (tmp_path / "detlint" / "checks").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def begin(*arguments: str) -> Result:
    return CliRunner().invoke(new_rule.main, list(arguments))


def written(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*.*"))


def test_a_page_and_a_check_are_written(root: Path) -> None:
    result = begin("DET605", "order-by-time")
    assert result.exit_code == 0
    page, check = root / "rules" / "DET605-order-by-time.md", root / "detlint" / "checks" / "order_by_time.py"
    data, case = root / "rules" / "checks" / "DET605.toml", root / "tests" / "cases" / "DET605" / "calls.md"
    assert written(root) == sorted(path.relative_to(root).as_posix() for path in (page, check, data, case))
    for path in (page, check, data, case):
        assert f"written: {path.relative_to(root).as_posix()}\n" in result.stdout
        assert new_rule.MARK in path.read_text(encoding="utf-8")
    rule = catalogue.read_page(page)
    assert (rule.code, rule.name, rule.check) == ("DET605", "order-by-time", "order_by_time")
    functions = [
        node for node in ast.parse(check.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)
    ]
    assert [(node.name, [arg.arg for arg in node.args.args]) for node in functions] == [("check", ["module", "rule"])]


def test_a_table_of_calls_needs_no_check(root: Path) -> None:
    assert begin("DET605", "order-by-time", "--calls").exit_code == 0
    assert written(root) == ["rules/DET605-order-by-time.md", "rules/checks/DET605.toml", "tests/cases/DET605/calls.md"]
    assert catalogue.read_page(root / "rules" / "DET605-order-by-time.md").check == "calls"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("DET501", "order-by-time"), "DET501 is cudnn-benchmark-on; DET509 is free"),
        (("DET9", "order-by-time"), "'DET9' is no code such as DET509, whose first digit is the family: 1 randomness"),
        (("DET605", "set-order"), "set-order is the name of another rule"),
        (("DET605", "OrderByTime"), "'OrderByTime' is no name such as set-order"),
        (("DET605", "avoid-times"), "'avoid-times' is no name such as set-order"),
    ],
)
def test_what_no_rule_can_be_called_is_refused(arguments: tuple[str, str], complaint: str, root: Path) -> None:
    result = begin(*arguments)
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert written(root) == []


def test_nothing_is_written_over_or_elsewhere(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "detlint" / "checks" / "order_by_time.py").write_text("# mine\n")
    assert "is there already" in begin("DET605", "order-by-time").stderr
    assert written(root) == ["detlint/checks/order_by_time.py"]
    monkeypatch.chdir(root / "rules")
    assert "run it in the root of the repository" in begin("DET605", "order-by-time").stderr


@pytest.mark.slow
def test_the_walk_leads_to_a_rule_that_passes(tmp_path: Path) -> None:
    left_out = shutil.ignore_patterns("__pycache__", ".*", "pictures.json")
    for name in ("detlint", "rules", "tests", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=left_out)
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, tmp_path)

    def run(*command: str, text: str | None = None) -> str:
        done = subprocess.run(command, cwd=tmp_path, input=text, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    said = []
    for language, step in STEPS:
        if language == "diff":
            run("git", "apply", "-", text=step)
        else:
            said += [run(sys.executable, *command.split()[1:]) for command in step.splitlines()]
    paths = [path for path in tmp_path.rglob("*order*by*time.*") if path.suffix != ".pyc"]
    paths += [tmp_path / "rules" / "checks" / "DET605.toml", *(tmp_path / "tests" / "cases" / "DET605").iterdir()]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    assert len(texts) == 4 and not any(new_rule.MARK in text for text in texts)
    assert "passed" in said[1] and "failed" not in said[1]
    assert said[2].startswith("# DET605 order-by-time\n")
    assert "DET605-order-by-time.md" in (tmp_path / "docs" / "rules.md").read_text(encoding="utf-8")
    tests = (
        "test_a_page",
        "test_codes_and_names",
        "test_what_a_page_says",
        "test_every_check",
        "test_a_file_can_be_read",
    )
    run(sys.executable, "-m", "pytest", "-q", "tests/test_shape.py", "-k", " or ".join(tests))
    run(sys.executable, "-m", "pytest", "-q", "tests/test_page_form.py", "-k", "DET605")
    (tmp_path / "train.py").write_text(
        "import os\nfrom os.path import getmtime as when\n\nprint(sorted(os.listdir(), key=when))\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "detlint", "--no-cache", "-q", "--format", "concise", "--select", "DET605", "train.py"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == "train.py:4:7: note DET605 `sorted` puts files in the order of their last change\n"
