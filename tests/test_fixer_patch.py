"""Patches: git applies them, and what comes of it are the new bytes."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from detlint.applying.patch import diff

NAMES = [
    "a.py",
    "b c.py",
    "d/e f/g.py",
    "é.py",
    "日本/x.py",
    'q"uote.py',
    "back\\slash.py",
    "tab\t.py",
    "new\nline.py",
    "~.py",
    "-x.py",
]


def git(*arguments: str, cwd: Path, stdin: bytes = b"") -> bytes:
    plain = ["git", "-c", "core.autocrlf=false", "-c", "core.quotepath=true"]
    done = subprocess.run([*plain, *arguments], cwd=cwd, input=stdin, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def write(root: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)


def patched(root: Path, old: dict[str, bytes], new: dict[str, bytes]) -> dict[str, bytes]:
    """What git makes of the old files and the patches to the new ones, applied in `root`."""
    write(root, old)
    patch = b"".join(diff(name, old.get(name), content) for name, content in new.items())
    git("apply", "--whitespace=nowarn", "-", cwd=root, stdin=patch)
    return {name: (root / name).read_bytes() for name in new}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    git("init", "-q", cwd=tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def content(draw: random.Random, end: str) -> str:
    lines = draw.choices(
        ["a", "b", "", "é", "\t x", "\x0c", "\u2028", "\x0b\x1c", "-- a", "++ b", "\r"], k=draw.randrange(1, 30)
    )
    return end.join(lines) + draw.choice(["", end])


def edited(draw: random.Random, text: str) -> str:
    for _ in range(draw.randrange(1, 4)):
        start = draw.randrange(len(text) + 1)
        text = text[:start] + draw.choice(["new\n", "x", "\r\n", ""]) + text[start + draw.randrange(4) :]
    return text


def test_git_makes_the_new_bytes_of_the_old_ones(root: Path) -> None:
    old, new = {}, {}
    for seed in range(25):
        draw = random.Random(seed)
        for name in NAMES:
            text = content(draw, draw.choice(["\n", "\r\n", "\r"]))
            changed = edited(draw, text) or "x"
            if text and text != changed:
                old[f"{seed}/{name}"], new[f"{seed}/{name}"] = text.encode(), changed.encode()
        new[f"{seed}/made/rt é.py"] = (content(draw, "\n") or "x").encode() + b"."
    assert len(old) > 50
    assert patched(root, old, new) == new


def test_a_patch_made_in_a_folder_is_applied_there(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = root / "src"
    folder.mkdir()
    monkeypatch.chdir(folder)
    old = {"a.py": b"a\n", "b/c d.py": b"b\n"}
    new = {"a.py": b"x\n", "b/c d.py": b"y\n", "rt.py": b"z\n"}
    assert patched(folder, old, new) == new


@pytest.mark.skipif(shutil.which("patch") is None, reason="there is no patch")
def test_patch_takes_it_too(root: Path) -> None:
    write(root, {"a b.py": b"a\r\nb"})
    patch = diff("a b.py", b"a\r\nb", b"a\r\nc") + diff("rt.py", None, b"z\n")
    subprocess.run(["patch", "-p1", "--binary", "-s"], input=patch, check=True)
    assert ((root / "a b.py").read_bytes(), (root / "rt.py").read_bytes()) == (b"a\r\nc", b"z\n")


def test_a_patch_reads_as_git_writes_it(root: Path) -> None:
    assert diff("./d/../a.py", b"a\nb", b"a\nc") == (
        b"--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
    )
    assert diff("rt.py", None, b"z\n") == b"--- /dev/null\n+++ b/rt.py\n@@ -0,0 +1 @@\n+z\n"
    assert diff(str(root / "d" / "a.py"), b"a\n", b"a\n") == b""
    write(root, dict.fromkeys(NAMES, b"a\n"))
    git("add", "--all", cwd=root)
    write(root, dict.fromkeys(NAMES, b"b\n"))
    theirs = [line for line in git("diff", cwd=root).split(b"\n") if line.startswith((b"---", b"+++"))]
    ours = [line for name in sorted(NAMES, key=str.encode) for line in diff(name, b"a\n", b"b\n").split(b"\n")[:2]]
    assert ours == theirs
