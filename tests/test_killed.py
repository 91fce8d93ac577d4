"""`--fix` ended at any moment, on a full disk, where it may not write, beside others who write, and through links."""

from __future__ import annotations

import ast
import errno
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from detlint.cli import cli
from tests.killing import TOLD

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
RUNTIME = "detlint_runtime.py"
MAIN = 'import random\nimport torch\n\nif __name__ == "__main__":\n    torch.save([torch.rand(2), random.random()], "x.pt")\n'
DRAW = "import random\nimport torch\n\nprint(torch.rand(2), torch.empty(3), random.random())\n"
SWITCH = "import torch\n\ntorch.backends.cudnn.benchmark = True\n"
FIXED_SWITCH = SWITCH.replace("True", "False")
_OUTPUT: dict[str, Any] = {"metadata": {}, "outputs": [], "execution_count": None}


def book(text: str) -> str:
    cells = [{"cell_type": "code", "source": text, **_OUTPUT}]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def project(folder: Path) -> Path:
    """Three files, a notebook, and what needs the runtime in two folders, one of them a package."""
    files = {
        "pyproject.toml": "",
        "a_switch.py": SWITCH,
        "train.py": DRAW,
        "book.ipynb": book(DRAW),
        "pkg/__init__.py": "",
        "pkg/__main__.py": f"from pkg.net import net\n{MAIN}",
        "pkg/net.py": "def net():\n    return 1\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


# Killed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no copies of a process here")
def test_a_fix_that_is_killed_at_any_call_leaves_each_file_old_or_new_and_the_next_run_ends_it(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    project(folder)
    done = subprocess.run(
        [sys.executable, "-m", "tests.killing", tmp_path / "calls"],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "DETLINT_NO_CACHE": "1"},
    )
    assert done.returncode == 0, done.stderr
    first, *ends = map(json.loads, done.stdout.splitlines())
    calls, told, before, after = (first[key] for key in ("counted", "told", "before", "after"))
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed >= {"a_switch.py", "train.py", "book.ipynb", "pkg/__main__.py", RUNTIME, f"pkg/{RUNTIME}"}
    assert calls.count("fsync") == calls.count("open") == len(changed)
    assert len(told) == sum(name in TOLD or name == "open" for name in calls), "something is written in another way"
    assert [(end["call"], end["when"]) for end in ends] == [
        (number, when)
        for number, name in enumerate(calls)
        for when in ("before", *["within"] * (name == "write"), *["after"] * (number == len(calls) - 1))
    ]
    for end in ends:
        left, where = end["left"], f"{end['when']} call {end['call']}, {calls[end['call']]}"
        extra = left.keys() - before.keys() - after.keys()
        assert all(re.fullmatch(r"(.*/)?\.detlint-\d+-\w+\.tmp", name) for name in extra), where
        for name in left.keys() - extra:
            assert left[name] in (before.get(name), after[name]), f"{name} {where}"
        for name, text in left.items():
            if name.endswith(".py"):
                for module in imported(text):
                    assert left.get(module) == after[module], f"{name} imports {module} {where}"
        assert end["status"] == 0, where
        assert end["then"] == after, where


def imported(text: str) -> Iterator[str]:
    """The copies of the runtime that a file imports."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.endswith("detlint_runtime"):
            yield f"{node.module.replace('.', '/')}.py"


# What goes wrong


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that is the working folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "pyproject.toml").touch()
    return folder


def fix(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, ["--fix", "--unsafe-fixes", "--jobs", "1", *(arguments or (".",))])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def complaints(result: Result) -> list[str]:
    """What is said of files that were not written."""
    return [line for line in result.stderr.splitlines() if re.search("not (fixed|made), ", line)]


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_full_disk_costs_no_file_and_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        project(folder)
        before = everything(folder)
        (folder / "filling").write_bytes(b"x" * 4096 * (shutil.disk_usage(folder).free // 4096))
        result = run_in(folder)
        assert result.returncode == 2, result.stderr
        assert "No space left on device" in result.stderr and "Traceback" not in result.stderr
        assert {name: text for name, text in everything(folder).items() if name != "filling"} == before
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def run_in(folder: Path, before: str = "") -> subprocess.CompletedProcess[str]:
    """`detlint --fix` in a process that first does something to itself."""
    code = f"{before}\nfrom detlint.cli import cli\ncli(['--fix', '--unsafe-fixes', '--no-cache', '--jobs', '1', '.'])"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, env=environment)


def test_a_file_that_may_not_be_so_large_is_not_written_nor_what_would_import_it(tmp_path: Path) -> None:
    project(tmp_path)
    before = everything(tmp_path)
    limit = 1024  # the runtime is larger, all else is smaller
    assert resource.RLIMIT_FSIZE
    result = run_in(tmp_path, f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))")
    assert result.returncode == 2
    assert f"{RUNTIME}: not made, it cannot be written: File too large" in result.stderr
    assert f"train.py: not fixed, it would import {RUNTIME}, which is not there" in result.stderr
    assert "train.py:3:7: DET101 fixed" not in result.stderr
    assert everything(tmp_path) == before | {"a_switch.py": FIXED_SWITCH.encode()}, "all else imports the runtime"


_LEAVING_ROOT = """
import os
import detlint.output.fixes, detlint.applying.writing

def write(files, changes, write=detlint.applying.writing.Files.write):
    os.geteuid() or os.setuid(65534)  # once all that Python needs is read, which lies where others may not look
    return write(files, changes)

detlint.applying.writing.Files.write = write
"""


def test_who_has_no_permission_is_told_and_writes_nothing() -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o755)
        project(folder)
        (folder / "pkg").chmod(0o755)
        (folder / "a_switch.py").chmod(0o444)
        if os.geteuid() != 0:
            folder.chmod(0o555)
        before = everything(folder)
        result = run_in(folder, _LEAVING_ROOT)
        assert result.returncode == 2
        assert "a_switch.py: not fixed, it is read-only" in result.stderr
        assert f"{RUNTIME}: not made, it cannot be written: Permission denied" in result.stderr
        assert "Traceback" not in result.stderr
        assert everything(folder) == before
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("chattr") is None, reason="only root can make a file immutable")
def test_an_immutable_file_is_one_line(here: Path) -> None:
    (here / "a.py").write_text(SWITCH)
    (here / "b.py").write_text(SWITCH)
    if subprocess.run(["chattr", "+i", "a.py"], capture_output=True).returncode:
        pytest.skip("this file system has no such files")
    try:
        result = fix()
        assert (result.exit_code, complaints(result)) == (
            2, ["detlint: a.py: not fixed, it is read-only"]
        )  # fmt: skip
        assert sorted(everything(here)) == ["a.py", "b.py", "pyproject.toml"]
        assert (here / "b.py").read_text() == FIXED_SWITCH
    finally:
        subprocess.run(["chattr", "-i", "a.py"], check=True)


@pytest.mark.parametrize("change", ["edit", "vanish"])
def test_a_file_that_another_changes_at_the_last_moment_keeps_what_that_wrote(
    here: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    path = here / "a.py"
    path.write_text(SWITCH)
    sync = os.fsync

    def meanwhile(descriptor: int) -> None:
        sync(descriptor)
        path.write_text("edited\n") if change == "edit" else path.unlink()

    monkeypatch.setattr(os, "fsync", meanwhile)
    result = fix()
    assert result.exit_code == 2
    (line,) = complaints(result)
    assert line.removeprefix("detlint: a.py: not fixed, ") == (
        "it changed while detlint ran; run it again"
        if change == "edit"
        else "it cannot be written: No such file or directory"
    )
    assert everything(here) == {"pyproject.toml": b""} | ({"a.py": b"edited\n"} if change == "edit" else {})
    assert "fixed nothing" in result.stderr


def test_an_interrupt_leaves_nothing_behind(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "a.py").write_text(SWITCH)

    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    assert fix().exit_code != 0
    assert everything(here) == {"pyproject.toml": b"", "a.py": SWITCH.encode()}


# Owners, modes and links


def test_mode_owner_and_attributes_are_kept(here: Path) -> None:
    path = here / "a.py"
    path.write_text(SWITCH)
    if os.geteuid() == 0:
        os.chown(path, 65534, 65534)
    path.chmod(0o6751 if os.geteuid() == 0 else 0o751)
    attributes = hasattr(os, "setxattr")
    try:
        os.setxattr(path, "user.note", b"kept")
    except (OSError, AttributeError):
        attributes = False
    before = path.stat()
    assert fix().exit_code == 0
    after = path.stat()
    assert path.read_text() == FIXED_SWITCH
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert not attributes or os.getxattr(path, "user.note") == b"kept"


def test_a_file_with_a_second_name_is_not_parted_from_it(here: Path, tmp_path: Path) -> None:
    (here / "a.py").write_text(SWITCH)
    os.link(here / "a.py", tmp_path / "other.py")
    result = fix()
    assert result.exit_code == 2
    (line,) = complaints(result)
    assert line == "detlint: a.py: not fixed, it has another name (a hard link) that would keep the old text"
    assert (tmp_path / "other.py").samefile(here / "a.py")
    assert (tmp_path / "other.py").read_text() == SWITCH


def test_a_link_within_the_project_is_followed_and_one_that_leaves_it_is_not(here: Path, tmp_path: Path) -> None:
    inside, outside = here / "real" / "a.txt", tmp_path / "outside.py"
    inside.parent.mkdir()
    for path in (inside, outside):
        path.write_text(SWITCH)
    (here / "in.py").symlink_to(inside)
    (here / "out.py").symlink_to(outside)
    result = fix()
    assert result.exit_code == 2
    (line,) = complaints(result)
    assert line.startswith(f"detlint: out.py: not fixed, it is {outside.resolve()}, outside of {here.resolve()}")
    assert (inside.read_text(), outside.read_text()) == (FIXED_SWITCH, SWITCH)
    assert (here / "in.py").is_symlink() and (here / "out.py").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside.py", "project"]


@pytest.mark.parametrize("dangling", [False, True])
def test_a_runtime_that_is_a_link_out_of_the_project_is_not_written_through(
    here: Path, tmp_path: Path, dangling: bool
) -> None:
    (here / "train.py").write_text(DRAW)
    target = tmp_path / "elsewhere.py"
    old = "# Generated by detlint 0.0.1: do not edit; updated by `detlint --fix`.\n"
    if not dangling:
        target.write_text(old)
    (here / RUNTIME).symlink_to(target)
    result = fix()
    assert result.exit_code == 2
    assert [line.split(":")[1].strip() for line in complaints(result)] == [RUNTIME, "train.py"]
    assert target.exists() is not dangling
    assert dangling or target.read_text() == old
    assert (here / "train.py").read_text() == DRAW


def test_no_runtime_is_put_outside_of_the_project(here: Path, tmp_path: Path) -> None:
    """A project within a package: its files import what is at the top of that."""
    (tmp_path / "__init__.py").touch()
    (here / "__init__.py").touch()
    (here / "train.py").write_text(f"from . import net\n{MAIN}")
    (here / "net.py").write_text(SWITCH)
    result = fix()
    assert result.exit_code == 2
    assert not list(tmp_path.glob("*.py")) or sorted(p.name for p in tmp_path.glob("*.py")) == ["__init__.py"]
    assert len(complaints(result)) == 2
    assert (here / "net.py").read_text() == FIXED_SWITCH
    assert (here / "train.py").read_text() == f"from . import net\n{MAIN}"


def test_files_of_several_projects_may_be_named(here: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for folder in (here, other):
        (folder / "a.py").write_text(SWITCH)
    assert fix("a.py", str(other / "a.py")).exit_code == 0
    assert (here / "a.py").read_text() == (other / "a.py").read_text() == FIXED_SWITCH


def test_a_baseline_that_cannot_be_written_is_as_it_was(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "a.py").write_text(SWITCH)
    arguments = ["--write-baseline", "--baseline", "b.json", "--no-cache", "--jobs", "1", "."]
    assert CliRunner().invoke(cli, arguments).exit_code == 0
    before = everything(here)
    (here / "c.py").write_text(SWITCH)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 2
    assert result.stderr == "detlint: b.json cannot be written (No space left on device); it is as it was\n"
    assert everything(here) == before | {"c.py": SWITCH.encode()}


def test_a_run_from_within_a_package_puts_the_runtime_at_its_top(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = here / "pkg" / "sub"
    inner.mkdir(parents=True)
    (here / "pkg" / "__init__.py").touch()
    (inner / "__init__.py").touch()
    (inner / "train.py").write_text(f"from . import net\n{MAIN}")
    (inner / "net.py").touch()
    monkeypatch.chdir(inner)
    assert fix().exit_code == 0
    assert sorted(path.relative_to(here).as_posix() for path in here.rglob(RUNTIME)) == [f"pkg/{RUNTIME}"]
    assert "from pkg.detlint_runtime import seed_everything" in (inner / "train.py").read_text()


def test_a_patch_is_no_write(here: Path) -> None:
    project(here)
    before = everything(here)
    result = CliRunner().invoke(cli, ["--diff", "--no-cache", "--jobs", "1", "."])
    assert result.exit_code == 1
    assert everything(here) == before
