"""Text in: which files to read, how their bytes decode, what they are called, what they suppress."""

from __future__ import annotations

import os
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from io import BytesIO
from pathlib import Path

EXCLUDED = frozenset(
    """.bzr .detlint_cache .direnv .eggs .git .git-rewrite .hg .ipynb_checkpoints .mypy_cache .nox .pants.d .pyenv
    .pytest_cache .pytype .ruff_cache .svn .tox .venv .vscode __pycache__ __pypackages__ _build buck-out dist
    node_modules site-packages venv""".split()
)
_NOQA = re.compile(r"#\s*noqa(?P<codes>:\s*(?P<list>[A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*))?", re.IGNORECASE)
_FILE_NOQA = re.compile(
    r"^\s*#\s*detlint\s*:\s*noqa(?P<codes>:\s*(?P<list>[A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*))?\s*$",
    re.IGNORECASE | re.MULTILINE,
)


class UnreadableError(Exception):
    """A file whose text cannot be had."""


def discover(paths: Sequence[Path], exclude: Iterable[str] = ()) -> Iterator[Path]:
    """The Python files and notebooks under `paths`, sorted, each once.

    A file that is named is read whatever its name, as a notebook where it ends in `.ipynb`.
    """
    patterns = tuple(exclude)
    seen: set[Path] = set()
    for path in paths:
        found: Iterable[Path] = sorted(_below(path, path, patterns)) if path.is_dir() else [path]
        for file in found:
            if file not in seen:
                seen.add(file)
                yield file


def _below(folder: Path, root: Path, patterns: Sequence[str]) -> Iterator[Path]:
    for directory, folders, files in os.walk(folder):
        here = Path(directory)
        folders[:] = [f for f in folders if f not in EXCLUDED and not _excluded(here / f, root, patterns)]
        for name in files:
            path = here / name
            if name.endswith((".py", ".ipynb")) and path.is_file() and not _excluded(path, root, patterns):
                yield path


def _excluded(path: Path, root: Path, patterns: Sequence[str]) -> bool:
    relative = path.relative_to(root).as_posix()
    return any(fnmatch(relative, p) or fnmatch(path.name, p) or fnmatch(path.as_posix(), p) for p in patterns)


def is_excluded(path: Path, root: Path, exclude: Iterable[str]) -> bool:
    """Whether `discover` leaves out a file below `root` for one of these patterns."""
    patterns = tuple(exclude)
    return any(_excluded(each, root, patterns) for each in (path, *path.parents) if patterns and root in each.parents)


def read(path: Path) -> str:
    """The text of a file, newlines as they are, by its BOM or its PEP 263 line. Raises UnreadableError."""
    try:
        return decode(path.read_bytes())
    except OSError as error:
        raise UnreadableError(error.strerror or str(error)) from error


def decode(content: bytes) -> str:
    """Decode Python source. Raises UnreadableError."""
    try:
        encoding, _ = tokenize.detect_encoding(BytesIO(content).readline)
        text = content.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise UnreadableError(f"its encoding is broken: {error}") from error
    if "\0" in text:
        raise UnreadableError("it contains NUL bytes")
    return text


def lines_of(text: str) -> list[str]:
    """The lines of a text without their ends, as Python counts them."""
    return re.split(r"\r\n|\n|\r", text)


def module_name(path: Path) -> str:
    """The dotted name of a file: its place in the packages (folders with `__init__.py`) around it.

    A notebook belongs to no package; what no name can hold is an underscore in its own.
    """
    if path.suffix == ".ipynb":
        return re.sub(r"\W", "_", path.stem)
    parts = [] if path.name == "__init__.py" else [path.stem]
    folder = path.absolute().parent
    while (folder / "__init__.py").is_file() and folder.name:
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts) or path.absolute().parent.name


def is_test(path: str) -> bool:
    """Whether a test runner imports the file, by pytest's names for tests and their configuration."""
    return any(fnmatch(path.rpartition("/")[2], pattern) for pattern in ("test_*.py", "*_test.py", "conftest.py"))


def neighbours(path: Path) -> Iterator[Path]:
    """The modules that an import in `path` may find beside it: in its folder, and in the packages around it."""
    folder = path.parent
    while True:
        yield from folder.glob("*.py")
        yield from folder.glob("*/*.py")
        if not (folder / "__init__.py").is_file() or folder == folder.parent or not folder.name:
            return
        folder = folder.parent


class Suppressions:
    """The `# noqa` comments of a file."""

    lines: dict[tuple[int | None, int], frozenset[str] | None]
    file: list[frozenset[str] | None]

    def __init__(self, texts: Mapping[int | None, str]) -> None:
        """`texts` are the file's cells by number; a file that is no notebook has its text under None."""
        self.lines = {}
        self.file = []
        for cell, text in texts.items():
            for number, line in enumerate(lines_of(text), 1):
                match = _NOQA.search(line)
                if match is not None and not _FILE_NOQA.match(line):
                    self.lines[cell, number] = _codes(match)
            self.file += [_codes(match) for match in _FILE_NOQA.finditer(text)]

    def covers(self, code: str, first: int, last: int, cell: int | None = None, noqa: bool = True) -> bool:
        """Whether a finding of `code` from line `first` to line `last`, of `cell`, is suppressed.

        Without `noqa`, only by a comment that is for the whole file.
        """
        lines = {first, last} if noqa else set[int]()
        found = [*self.file, *(self.lines[cell, n] for n in lines if (cell, n) in self.lines)]
        return any(codes is None or any(code.startswith(c) for c in codes) for codes in found)


def _codes(match: re.Match[str]) -> frozenset[str] | None:
    return frozenset(re.split(r"[\s,]+", match["list"].upper())) if match["codes"] else None
