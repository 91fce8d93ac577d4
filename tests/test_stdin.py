"""Standard input: a text checked by itself, or as the file that it is to become, in its project."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from detlint.cli import cli

TRAIN = "import torch\nfrom seeds import seed_all\n\nseed_all()\nprint(torch.rand(3))\n"
SEEDS = "import torch\n\n\ndef seed_all():\n    torch.manual_seed(0)\n"
EMPTY = "import torch\n\nprint(torch.empty(3))\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of two files that is the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "seeds.py").write_text(SEEDS)
    (tmp_path / "train.py").write_text(TRAIN)
    return tmp_path


def detlint(text: str | bytes, *arguments: str) -> Result:
    result = CliRunner().invoke(cli, list(arguments), input=text)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def found(text: str | bytes, *arguments: str) -> list[tuple[str, str, int]]:
    report = json.loads(detlint(text, *arguments, "--format", "json").stdout)
    return [(each["path"], each["code"], each["line"]) for each in report["findings"]]


def test_a_text_is_checked_by_itself() -> None:
    assert found(EMPTY, "-") == [("-", "DET401", 3)]
    assert found("x = 1\n", "check", "-") == []
    assert detlint(EMPTY, "-").stdout.startswith("-:3:7: error DET401 ")
    assert found(TRAIN, "-") == [], "what it imports is not read, and may seed"


def test_a_text_is_checked_as_the_file_that_it_is_to_become() -> None:
    options = ("-", "--stdin-filename", "train.py")
    assert found(TRAIN, *options) == []
    assert found(TRAIN.replace("seed_all()\n", "\n"), *options) == [("train.py", "DET101", 5)]
    assert found(TRAIN, "--stdin-filename", "train.py") == [], "`-` may be left out"
    Path("seeds.py").write_text(SEEDS.replace("    torch.manual_seed(0)", "    pass"))
    assert found(TRAIN, *options) == [("train.py", "DET101", 5)], "the others are those on the disk"


def test_what_others_do_with_a_text_is_not_shown() -> None:
    assert found(SEEDS.replace("    torch.manual_seed(0)", "    pass"), "--stdin-filename", "seeds.py") == []
    assert found(EMPTY, "--stdin-filename", "seeds.py") == [("seeds.py", "DET401", 3)]


@pytest.mark.parametrize("name", ["new.py", "sub/new.py", "{project}/new.py", "./sub/../new.py"])
def test_a_file_need_not_be_there_and_its_name_may_have_any_form(name: str, project: Path) -> None:
    name = name.format(project=project)
    (place, code, line), *others = found(EMPTY, "-", "--stdin-filename", name)
    assert (code, line, others) == ("DET401", 3, [])
    assert Path(place).resolve() == Path(name).resolve()
    assert found(TRAIN.replace("seed_all()\n", "\n"), "-", "--stdin-filename", "other.py")[0][:2] == (
        "other.py",
        "DET101",
    )


def test_the_excerpt_is_of_the_text_and_not_of_the_file(project: Path) -> None:
    (project / "link").symlink_to(project)
    for name in ("train.py", str(project / "train.py"), "link/train.py"):
        shown = detlint(EMPTY, "--stdin-filename", name).stdout
        assert "3 | print(torch.empty(3))" in shown


@pytest.mark.parametrize(
    ("format_", "part"),
    [
        ("text", "3 | print(torch.empty(3))"),
        ("grouped", "3:7: error"),
        ("sarif", "zeros"),
        ("rdjson", "zeros"),
        ("github", "line=3"),
        ("gitlab", '"begin": 3'),
        ("junit", "3:7"),
        ("html", "<mark>torch.empty(3)"),
    ],
)
def test_every_format_reads_the_text(format_: str, part: str) -> None:
    for name in ("train.py", "new.py"):
        result = detlint(EMPTY, "--stdin-filename", name, "--format", format_)
        assert result.exit_code == 1
        assert "DET401" in result.stdout and part in result.stdout


def test_settings_of_the_project_hold() -> None:
    Path("detlint.toml").write_text('exclude = ["train.py"]\nper-file-ignores = {"seeds.py" = ["DET4"]}\n')
    assert found(EMPTY, "--stdin-filename", "seeds.py") == []
    assert found(EMPTY, "--stdin-filename", "train.py") == [("train.py", "DET401", 3)], "a file that is named is read"
    assert found(EMPTY, "--stdin-filename", "seeds.py", "--isolated") == [("seeds.py", "DET401", 3)]


def test_a_folder_that_is_no_project_is_not_read(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("alone")
    (folder / "seeds.py").write_text("def seed_all():\n    pass\n")
    assert found(TRAIN, "--stdin-filename", str(folder / "train.py")) == []


def test_the_cache_answers_for_a_text_that_was_checked_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DETLINT_NO_CACHE", raising=False)
    text = TRAIN.replace("seed_all()\n", "\n")
    for _ in range(2):
        assert found(text, "-", "--stdin-filename", "train.py") == [("train.py", "DET101", 5)]
        assert found(TRAIN, "-", "--stdin-filename", "train.py") == []
        assert json.loads(detlint("", "--format", "json").stdout)["findings"] == []


def test_a_notebook_may_come_from_standard_input() -> None:
    cell: dict[str, Any] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": EMPTY,
    }
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    assert found(text, "-", "--stdin-filename", "n.ipynb") == [("n.ipynb", "DET401", 3)]
    assert (
        "torch.zeros(3)"
        in json.loads(detlint(text, "--fix", "--stdin-filename", "n.ipynb").stdout)["cells"][0]["source"]
    )


def test_a_text_that_cannot_be_read_is_a_finding() -> None:
    assert found("x = (\n", "-")[0][1] == "DET000"
    assert found(b"\xff\n", "-")[0][1] == "DET000"
    broken = detlint(b"x = (\n", "-", "--fix")
    assert (broken.exit_code, broken.stdout) == (1, "x = (\n")


# Fixes


def test_the_fixed_text_is_written_and_what_is_left_is_told() -> None:
    text = EMPTY.replace("\n", "\r\n") + "torch.backends.cudnn.benchmark = True\r\n"
    result = detlint(text.encode(), "-", "--fix", "--stdin-filename", "train.py")
    assert result.exit_code == 1
    assert result.stdout_bytes == text.replace("empty", "zeros").encode()
    assert "train.py:3:7: DET401 fixed" in result.stderr
    assert "train.py:4:1: warning DET501" in result.stderr
    assert Path("train.py").read_text() == TRAIN


def test_a_text_that_needs_no_fix_is_written_as_it_is() -> None:
    text = "\ufeffx = 'é'\r\n".encode()
    result = detlint(text, "-", "--fix", "-q")
    assert (result.exit_code, result.stdout_bytes, result.stderr) == (0, text, "")


def test_a_patch_of_a_text() -> None:
    result = detlint(EMPTY, "-", "--diff", "--stdin-filename", "train.py")
    assert result.exit_code == 1
    assert result.stdout.startswith("--- a/train.py\n+++ b/train.py\n")
    assert "-print(torch.empty(3))\n+print(torch.zeros(3))\n" in result.stdout


def test_no_fix_is_made_that_changes_another_file() -> None:
    Path("detlint.toml").write_text('runtime = "vendor"\n')
    text = (
        "import random\nimport numpy as np\nimport torch\n\n\nif __name__ == '__main__':\n"
        "    print(random.random(), np.random.rand(), torch.rand(1))\n"
    )
    before = sorted(path.name for path in Path().iterdir() if path.name != ".detlint_cache")
    result = detlint(text, "-", "--fix", "--stdin-filename", "train.py")
    assert "changes other files too: save the file, and fix it there" in result.stderr
    assert result.stdout == text
    assert sorted(path.name for path in Path().iterdir() if path.name != ".detlint_cache") == before
    Path("train.py").write_text(text)
    assert detlint("", "--fix", "train.py").exit_code == 0
    assert "detlint_runtime" in Path("train.py").read_text(), "as it is made where it can be"


# Filters


def test_what_came_with_a_change_of_a_text() -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    Path("train.py").write_text(EMPTY)
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Begin"]):
        subprocess.run([*git, *arguments], check=True, capture_output=True)
    options = ("-", "--stdin-filename", "train.py", "--changed-since", "HEAD")
    assert found(EMPTY, *options) == []
    assert found(f"{EMPTY}torch.backends.cudnn.benchmark = True\n", *options) == [("train.py", "DET501", 4)]
    assert found(EMPTY, "-", "--stdin-filename", "new.py", "--changed-since", "HEAD") == [("new.py", "DET401", 3)]


def test_a_baseline_of_a_text() -> None:
    Path("train.py").write_text(EMPTY)
    assert detlint("", "--write-baseline", "--baseline", "known.json").exit_code == 0
    options = ("-", "--stdin-filename", "train.py", "--baseline", "known.json")
    assert found(f"# a line\n{EMPTY}", *options) == []
    assert found(f"{EMPTY}print(torch.empty(4))\n", *options) == [("train.py", "DET401", 4)]
