"""The copy in which `detlint repeat` runs programs: what is in it, what it begins each run with, what is written back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from detlint.repeat import written
from detlint.repeat.tree import Tree, TreeError, root_of


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "mine"
    for path, text in {
        "train.py": "print(1)\n",
        "data/names.txt": "a b",
        "data/large.bin": "x" * 5000,
        ".git/HEAD": "ref: refs/heads/main\n",
        ".venv/pyvenv.cfg": "home = /usr/bin\n",
        "__pycache__/train.pyc": "",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "latest").symlink_to("data")
    (root / "outside").symlink_to(tmp_path)
    return root


@pytest.fixture
def tree(mine: Path) -> Tree:
    (mine.parent / "copy").mkdir()
    return Tree.copied(mine, mine.parent / "copy", budget=4000)


def everything(folder: Path) -> dict[str, str]:
    """The files below a folder that are no links, and what links lead to."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file():
            found[name] = path.read_text()
    return found


def test_a_copy_has_the_files_and_links_to_what_is_large_or_not_the_programs_own(tree: Tree, mine: Path) -> None:
    assert everything(tree.folder) == {
        "train.py": "print(1)\n",
        "data/names.txt": "a b",
        "data/large.bin": f"-> {mine}/data/large.bin",
        ".git": f"-> {mine}/.git",
        ".venv": f"-> {mine}/.venv",
        "latest": "-> data",
        "outside": f"-> {mine.parent}",
    }
    assert tree.linked == ["data/large.bin"]


def test_each_run_begins_with_the_same_files(tree: Tree) -> None:
    before = everything(tree.folder)
    (tree.folder / "train.py").write_text("print(2)\n")
    (tree.folder / "data" / "names.txt").unlink()
    (tree.folder / "data" / "large.bin").unlink()
    (tree.folder / "runs" / "1").mkdir(parents=True)
    (tree.folder / "runs" / "1" / "model.pt").write_text("x")
    (tree.folder / "latest").unlink()
    (tree.folder / "latest").symlink_to("runs")
    tree.restore()
    assert everything(tree.folder) == before
    assert not (tree.folder / "runs").exists()


def test_a_change_stays_until_it_is_taken_back(tree: Tree) -> None:
    before = everything(tree.folder)
    tree.put({"train.py": b"print(3)\n", "added.py": b"x = 1\n"})
    (tree.folder / "train.py").write_text("spoilt by a run")
    tree.restore()
    assert (tree.folder / "train.py").read_text() == "print(3)\n"
    assert (tree.folder / "added.py").read_text() == "x = 1\n"
    tree.put({})
    assert everything(tree.folder) == before


def test_a_write_through_a_link_is_told_of(tree: Tree, mine: Path) -> None:
    assert tree.written() == []
    (tree.folder / "data" / "large.bin").write_text("y")
    assert tree.written() == ["data/large.bin"]
    assert (mine / "data" / "large.bin").read_text() == "y"


def test_arguments_that_name_the_tree_name_the_copy(tree: Tree, mine: Path) -> None:
    assert tree.argument(f"{mine}/data") == f"{tree.folder}/data"
    assert tree.argument(f"--out={mine}/runs") == f"--out={tree.folder}/runs"
    for text in ("data", "--lr=0.1", str(mine.parent), f"{mine}-2/data", "a=/b"):
        assert tree.argument(text) == text


def test_the_same_folder_is_entered_and_left(tree: Tree, mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(mine / "data")
    monkeypatch.setenv("PYTHONPATH", f"{mine}{os.pathsep}/elsewhere")
    with tree.entered():
        assert Path.cwd() == tree.folder / "data"
        assert os.environ["PYTHONPATH"].split(os.pathsep)[:2] == [str(tree.folder), "/elsewhere"]
    assert Path.cwd() == mine / "data"
    assert os.environ["PYTHONPATH"] == f"{mine}{os.pathsep}/elsewhere"


def test_changes_are_written_as_a_patch_and_to_the_files(
    tree: Tree, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(mine)
    tree.put({"train.py": b"print(4)\n", "added.py": b"x = 1\n"})
    assert written.diff(tree).decode() == (
        "--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-print(1)\n+print(4)\n"
        "--- /dev/null\n+++ b/added.py\n@@ -0,0 +1 @@\n+x = 1\n"
    )
    assert (mine / "train.py").read_text() == "print(1)\n"
    written.write(tree)
    assert (mine / "train.py").read_text() == "print(4)\n"
    assert (mine / "added.py").read_text() == "x = 1\n"


@pytest.mark.parametrize("gone", [False, True])
def test_nothing_is_written_where_a_file_changed_meanwhile(tree: Tree, mine: Path, gone: bool) -> None:
    tree.put({"added.py": b"x = 1\n", "train.py": b"print(4)\n"})
    if gone:
        (mine / "train.py").unlink()
    else:
        (mine / "train.py").write_text("print(5)\n")
    with pytest.raises(TreeError, match=r"train\.py: nothing was written"):
        written.write(tree)
    assert not (mine / "added.py").exists()


def test_what_is_copied_is_the_repository_or_the_working_folder(mine: Path) -> None:
    assert root_of(mine / "data", ["-m", "pkg"]) == mine
    (mine / ".git" / "HEAD").unlink()
    (mine / ".git").rmdir()
    assert root_of(mine / "data", ["-m", "pkg"]) == mine / "data"
    assert root_of(mine / "data", ["../train.py"]) == mine
    (mine / "pyproject.toml").touch()
    assert root_of(mine / "data", ["-m", "pkg"]) == mine
    with pytest.raises(TreeError, match="run this in the folder of the project"):
        root_of(Path("/"), ["train.py"])
