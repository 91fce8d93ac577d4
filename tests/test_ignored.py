"""What git ignores is left out, by git's own rules: git itself is asked what these are."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from detlint.cli import cli
from detlint.config import Config, ConfigError, from_table
from detlint.sources import source
from detlint.workspace import Workspace

DRAW = "import torch\n\nprint(torch.rand(3))\n"
FILES = [
    "a.py", "b.py", "lib/a.py", "lib/b.py", "lib/deep/a.py", "lib/deep/c.ipynb", "gen/a.py", "gen/keep.py",
    "gen/deep/a.py", "tools/gen/a.py", "tools/a b.py", "tools/#a.py", "tools/!a.py", "tools/[a].py",
]  # fmt: skip
PATTERNS: dict[str, Mapping[str, str]] = {
    "a name": {"": "gen"},
    "a folder": {"": "gen/"},
    "from the root": {"": "/gen\n/a.py"},
    "a path": {"": "tools/gen"},
    "a file": {"": "a.py"},
    "stars": {"": "*.ipynb\nlib/*.py"},
    "any depth": {"": "lib/**/a.py\n**/gen/"},
    "all within": {"": "gen/**\n!gen/keep.py"},
    "all folders within": {"": "lib/**/"},
    "all at the top but one": {"": "/*\n!/lib"},
    "a folder is not gone into": {"": "gen/\n!gen/keep.py"},
    "files of a folder": {"": "gen/*\n!gen/keep.py"},
    "all but Python": {"": "*\n!*/\n!*.py"},
    "nothing again": {"": "gen\n!gen"},
    "nearer goes first": {"": "a.py\n", "lib": "!a.py\n", "lib/deep": "a.py"},
    "nearer within what is out": {"": "gen", "gen": "!keep.py"},
    "from its own folder": {"lib": "/a.py", "tools": "gen/a.py"},
    "a folder let in again": {"": "gen/", "tools": "!gen/"},
    "comments and escapes": {"": "# a.py\n\\#a.py\n\\!a.py\ntools/a\\ b.py"},
    "brackets": {"": "tools/[[]a].py\n[ab].py"},
    "spaces at the end": {"": "gen   \nb.py"},
    "ends of lines": {"": "gen\r\nb.py\r\n"},
    "a byte order mark": {"": "\ufeffb.py\n"},
    "what is no pattern": {"": "!\n\\\n/\n\nb.py\n[z-a]\na\\"},
}


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without settings of git."""
    folder = tmp_path_factory.mktemp("home")
    for name in [each for each in os.environ if each.startswith(("GIT_", "XDG_CONFIG"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that is the working folder."""
    for name in FILES:
        write(tmp_path / name, DRAW if name.endswith(".py") else '{"cells": [], "metadata": {}, "nbformat": 4}')
    git(tmp_path, "init", "-q")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True).stdout


def by_git(root: Path) -> set[str]:
    """The Python files and notebooks that git does not ignore."""
    listed = git(root, "ls-files", "-z", "--others", "--exclude-standard").split("\0")
    return {name for name in listed if name.endswith((".py", ".ipynb"))}


def found(root: Path, *paths: Path) -> set[str]:
    listed = source.discover(paths or [root], gitignore=True)
    return {path.relative_to(root).as_posix() for path in listed}


def discovered(root: Path) -> set[str]:
    return {name for name in FILES if source.is_discovered(root / name, root, gitignore=True)}


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, ["--no-cache", "--jobs", "1", "--format", "github", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


# Patterns


@pytest.mark.parametrize("patterns", PATTERNS.values(), ids=PATTERNS)
def test_what_is_read_is_what_git_does_not_ignore(root: Path, patterns: Mapping[str, str]) -> None:
    for folder, text in patterns.items():
        write(root / folder / ".gitignore", text)
    assert found(root) == discovered(root) == by_git(root)


def test_outside_of_a_repository_no_pattern_counts(root: Path) -> None:
    write(root / ".gitignore", "*")
    assert found(root) == set()
    (root / ".git").rename(root / "git")
    assert found(root) == discovered(root) == set(FILES)


def test_a_repository_within_another_has_its_own_patterns(root: Path) -> None:
    write(root / ".gitignore", "a.py")
    write(root / "gen" / ".gitignore", "keep.py")
    git(root / "gen", "init", "-q")
    assert {name for name in found(root) if name.startswith("gen/")} == {"gen/a.py", "gen/deep/a.py"}
    assert "lib/a.py" not in found(root)
    assert found(root) == discovered(root)


def test_patterns_above_a_folder_that_is_named_count_in_it(root: Path) -> None:
    write(root / ".gitignore", "deep/\nlib/b.py")
    assert found(root, root / "lib") == {"lib/a.py"}


def test_what_is_named_is_read(root: Path) -> None:
    write(root / ".gitignore", "gen\nb.py\nlib/deep/a.py")
    assert found(root, root / "b.py") == {"b.py"}
    assert found(root, root / "gen") == {"gen/a.py", "gen/keep.py", "gen/deep/a.py"}
    assert found(root, root / "gen" / "deep") == {"gen/deep/a.py"}
    write(root / "gen" / ".gitignore", "deep")
    assert found(root, root / "gen") == {"gen/a.py", "gen/keep.py"}


def test_a_repository_and_a_user_have_patterns_of_their_own(root: Path, home: Path) -> None:
    write(root / ".git" / "info" / "exclude", "lib\n!a.py")
    assert found(root) == discovered(root) == by_git(root) < set(FILES)
    write(home / ".config" / "git" / "ignore", "tools\na.py")
    assert (
        found(root) == discovered(root) == by_git(root) == {"a.py", "b.py", "gen/a.py", "gen/keep.py", "gen/deep/a.py"}
    )
    write(home / ".gitconfig", "[user]\n\tname = x\n[core]\n\texcludesFile = ~/mine\n")
    write(home / "mine", "keep.py")
    assert found(root) == discovered(root) == by_git(root)
    assert "gen/keep.py" not in found(root) and "tools/gen/a.py" in found(root)


def test_a_work_tree_has_the_patterns_of_its_repository(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    write(root / ".git" / "info" / "exclude", "gen")
    git(root, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "begin")
    tree = tmp_path_factory.mktemp("trees") / "tree"
    git(root, "worktree", "add", "-q", str(tree))
    for name in ("a.py", "gen/a.py"):
        write(tree / name, DRAW)
    assert found(tree) == by_git(tree) == {"a.py"}


def test_what_cannot_be_read_has_no_patterns(root: Path) -> None:
    (root / ".gitignore").mkdir()
    (root / "lib" / ".gitignore").symlink_to("nowhere")
    os.mkfifo(root / "gen" / ".gitignore")
    assert found(root) == set(FILES)


# Runs


def test_the_setting_and_the_options_say_whether_git_is_followed(root: Path) -> None:
    write(root / ".gitignore", "*\n!/b.py\n")
    assert run().stdout.count("DET101") == 1
    assert run("--no-respect-gitignore").stdout.count("DET101") > 10
    write(root / "detlint.toml", "respect-gitignore = false")
    assert run().stdout.count("DET101") > 10
    assert run("--respect-gitignore").stdout.count("DET101") == 1
    entries = CliRunner().invoke(cli, ["entries", "--respect-gitignore", "--no-cache", "--jobs", "1"])
    assert "1 entry point in 1 file." in entries.stdout
    with pytest.raises(ConfigError, match="respect-gitignore must be true or false"):
        from_table(root / "detlint.toml", {"respect-gitignore": "yes"})


def test_a_fix_leaves_what_git_ignores_as_it_is(root: Path) -> None:
    write(root / ".gitignore", "gen/")
    run("--fix")
    assert "torch.manual_seed(0)" in (root / "lib" / "b.py").read_text()
    assert (root / "gen" / "a.py").read_text() == DRAW


@pytest.mark.parametrize(("ignored", "codes"), [("", ["DET106"]), ("seeds.py", []), ("help/", [])])
def test_what_is_called_in_an_ignored_file_may_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ignored: str, codes: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / ".git" / "HEAD", "")
    write(tmp_path / ".gitignore", ignored)
    late = "import torch\n\n\ndef start():\n    torch.rand(1)\n    torch.manual_seed(0)\n"
    write(tmp_path / "seeds.py", "from help.seed import start\n")
    write(tmp_path / "help" / "seed.py", late)
    write(tmp_path / "train.py", "import torch\nfrom seeds import start\n\nstart()\nprint(torch.rand(3))\n")
    result = run("--select", "DET101,DET106")
    assert [code for code in ("DET101", "DET106") if code in result.stdout] == codes


def test_what_is_shown_beside_a_context_is_not_what_git_ignores(root: Path) -> None:
    write(root / ".gitignore", "gen/")
    assert run("--context", ".", "tools").stdout.count("DET101") == 4
    assert run("--context", ".", "tools", "--no-respect-gitignore").stdout.count("DET101") == 5


def test_a_server_sees_that_git_ignores_a_file(root: Path) -> None:
    workspace = Workspace.of(root)
    assert "lib/a.py" in {
        Path(path).relative_to(root.resolve()).as_posix() for path in map(os.path.abspath, workspace.paths)
    }
    write(root / ".gitignore", "lib")
    assert workspace.refresh()
    assert not [path for path in workspace.paths if "lib" in Path(path).parts]
    write(root / "lib" / "new.py", DRAW)
    workspace.refresh()
    assert not [path for path in workspace.paths if "lib" in Path(path).parts]


def test_files_of_a_commit_that_git_ignores_now_are_none_that_were_removed(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "-m", "begin")
    write(root / ".gitignore", "lib/")
    write(root / "more.py", DRAW)
    result = run("--changed-since", "HEAD")
    assert [line for line in result.stdout.splitlines() if "DET101" in line and "file=more.py" not in line] == []
    assert "file=more.py" in result.stdout


def test_the_setting_is_on() -> None:
    assert Config().respect_gitignore
    assert from_table(Path("detlint.toml"), {}).respect_gitignore
