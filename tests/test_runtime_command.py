"""`detlint runtime` and `--runtime`, as a user types them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from detlint import config
from detlint.cli import cli
from detlint.editing.placement import is_vendored
from detlint.editing.vendoring import FILE, vendored_text, whole_text
from detlint.listing import listed

DRAW = "import torch\n\nprint(torch.rand(2))\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


def detlint(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def test_all_functions_are_printed() -> None:
    done = detlint("runtime")
    assert (done.exit_code, done.stdout) == (0, whole_text())


@pytest.mark.parametrize(("given", "file"), [("lab", f"lab/{FILE}"), ("lab/mine.py", "lab/mine.py"), (".", FILE)])
@pytest.mark.parametrize("there", [None, vendored_text({"rank_seed"})])
def test_all_functions_are_written(given: str, file: str, there: str | None) -> None:
    Path("lab").mkdir()
    if there is not None:
        Path(file).write_text(there, encoding="utf-8")
    done = detlint("runtime", "--write", given)
    assert (done.exit_code, done.stdout, done.stderr) == (0, f"written: {file}\n", "")
    assert Path(file).read_text(encoding="utf-8") == whole_text()


@pytest.mark.parametrize("text", ["", "X = 1\n", vendored_text({"rank_seed"}) + "\n\ndef mine():\n    pass\n"])
def test_a_file_of_others_is_not_overwritten(text: str) -> None:
    Path(FILE).write_text(text, encoding="utf-8")
    done = detlint("runtime", "--write", ".")
    said = f"{FILE} was not written by detlint and stays as it is; name another file or folder with --write"
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"detlint: {said}\n")
    assert Path(FILE).read_text(encoding="utf-8") == text


def test_what_was_written_stays_whole() -> None:
    Path("train.py").write_text(DRAW, encoding="utf-8")
    detlint("runtime", "--write", ".")
    assert detlint("--fix", "--jobs", "1").exit_code == 0
    assert Path(FILE).read_text(encoding="utf-8") == whole_text()


@pytest.mark.parametrize(("requirement", "copied"), [("torch", True), ("detlint", False)])
def test_a_function_that_no_lines_can_replace_comes_as_with_auto(requirement: str, copied: bool) -> None:
    assert is_vendored("inline", [requirement]) == is_vendored("auto", [requirement]) == copied


def test_the_setting_is_known_where_fixes_are_made() -> None:
    Path("pyproject.toml").write_text('[tool.detlint]\nruntime = "inline"\n', encoding="utf-8")
    assert listed([Path()], config.for_paths([Path()]))[1].runtime == "inline"
    assert detlint("--runtime", "inline").exit_code == 0
