"""Copies of source trees to run on: in a folder that is removed, so that files may change and be many."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.results import TreeSize

_SETTLED = 2.5  # seconds after which the time of a file tells that it has not changed since
_LINES = 300  # of the file that is checked alone
_CHANGE = b"\nchanged_by_benchmark = "


class UnsuitableError(Exception):
    """Folders that nothing can be measured on."""


@dataclass
class Tree:
    """A folder of Python files, marked as a project."""

    folder: Path
    files: list[Path]
    written: float
    _changes: int = 0

    def size(self) -> TreeSize:
        """How much there is to read."""
        texts = [file.read_bytes() for file in self.files]
        return TreeSize(len(texts), sum(map(len, texts)) / 1e6, sum(text.count(b"\n") for text in texts))

    def settle(self) -> None:
        """Wait until the files are so old that tools trust their times."""
        time.sleep(max(0.0, self.written + _SETTLED - time.monotonic()))

    def forget(self, caches: Sequence[str]) -> None:
        """Remove what a tool has kept."""
        for name in caches:
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def change(self) -> None:
        """Let the file in the middle end in a line that it did not end in before."""
        self._changes += 1
        file = self.files[len(self.files) // 2]
        kept = file.read_bytes().partition(_CHANGE)[0].rstrip(b"\n")
        file.write_bytes(kept + _CHANGE + b"%d\n" % self._changes)
        self.written = time.monotonic()


def python_files(folders: Sequence[Path]) -> list[tuple[Path, str]]:
    """The Python files below folders that can be read, and where each goes in a copy: below the name of its folder."""
    found = []
    for folder in folders:
        for file in sorted(folder.rglob("*.py")):
            inner = file.relative_to(folder)
            if file.is_file() and not any(part.startswith(".") for part in inner.parts):
                found.append((file, (Path(folder.resolve().name) / inner).as_posix()))
    return found


@contextmanager
def copied(files: Sequence[tuple[Path, str]], times: int = 1) -> Iterator[Tree]:
    """A tree of these files, `times` over: each time below a folder of its own."""
    with TemporaryDirectory(prefix="benchmark-") as name:
        folder = Path(name)
        (folder / "pyproject.toml").touch()
        made = []
        for number in range(times):
            for file, place in files:
                copy = folder / f"copy{number}" / place
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
                made.append(copy)
        yield Tree(folder, made, time.monotonic())


def typical(files: Sequence[tuple[Path, str]]) -> tuple[Path, str]:
    """The file that imports torch and whose length comes nearest to 300 lines. Raises UnsuitableError."""
    best = min(files, key=lambda each: _distance(each[0]), default=None)
    if best is None or _distance(best[0]) == float("inf"):
        raise UnsuitableError("no Python file that imports torch is below these folders")
    return best


def _distance(file: Path) -> float:
    text = file.read_bytes()
    return abs(text.count(b"\n") - _LINES) if b"\nimport torch\n" in text else float("inf")
