"""Source files: which files to read, how to decode their bytes, and what their modules are called."""

from __future__ import annotations

import errno
import os
import re
import stat
import tokenize
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from fnmatch import fnmatch
from functools import cache
from io import BytesIO
from pathlib import Path

from detlint.sources import ignored
from detlint.sources.ignored import Ignored
from detlint.support.records import record

EXCLUDED = frozenset(
    """.bzr .detlint_cache .direnv .eggs .git .git-rewrite .hg .ipynb_checkpoints .mypy_cache .nox .pants.d .pyenv
    .pytest_cache .pytype .ruff_cache .svn .tox .venv .vscode __pycache__ __pypackages__ _build buck-out dist
    node_modules site-packages venv""".split()
)
_BUILT = "dist"  # build archives go there; a `dist` that directly holds modules is a package or a folder of scripts


class UnreadableError(Exception):
    """A file whose text cannot be read."""


@record(frozen=True)
class Skipped:
    """What `discover` skipped, as lists.

    `links` are links to folders with Python files in them. `errors` are those of folders that cannot be listed.
    `ignored` are the files, and the folders with modules, that git ignores.
    """

    links: list[Path] = field(default_factory=list)
    errors: list[OSError] = field(default_factory=list)
    ignored: list[Path] = field(default_factory=list)


def discover(
    paths: Sequence[Path], exclude: Iterable[str] = (), skipped: Skipped | None = None, gitignore: bool = False
) -> Iterator[Path]:
    """Yield the Python files and notebooks under `paths`, sorted, each once, in the form of the first path to it.

    A file that is named in `paths` is read under any name, as a notebook if it ends in `.ipynb`. With `gitignore`,
    files that git ignores are left out. What is left out without a request by the user is added to `skipped`.
    """
    patterns = tuple(exclude)
    seen: set[str] = set()
    place = places()
    skipped = skipped or Skipped()
    for path in paths:
        found: Iterable[Path] = sorted(_below(path, patterns, skipped, gitignore)) if path.is_dir() else [path]
        for file in found:
            where = place(file)
            if where not in seen:
                seen.add(where)
                yield file


def places() -> Callable[[Path], str]:
    """Return a function that gives the location of a file, independent of the form of its path.

    It resolves links in the path of the folder. It does not resolve the file itself if that is a link, since an import
    may find either name.
    """
    real = cache(os.path.realpath)

    def place(path: Path) -> str:
        folder, name = os.path.split(path)
        return os.path.join(real(folder), name)  # noqa: PTH118 - as paths they take thrice the time of a run's start

    return place


def is_discovered(path: Path, root: Path, exclude: Iterable[str] = (), gitignore: bool = False) -> bool:
    """Return whether `discover` would yield a file below the folder `root` if the file existed."""
    patterns = tuple(exclude)
    above = [each for each in path.parents if each != root and each.is_relative_to(root)]
    return (
        path.name.endswith((".py", ".ipynb"))
        and not any(is_left_out(each) for each in above if each != path.parent or each.name != _BUILT)
        and not any(_excluded(each, root, patterns) for each in (path, *above))
        and not (gitignore and ignored.is_ignored(str(path), str(root)))
    )


def _below(root: Path, patterns: Sequence[str], skipped: Skipped, gitignore: bool) -> Iterator[Path]:
    counting = {str(root): ignored.around(str(root)) if gitignore else ignored.NOTHING}
    for directory, folders, files in os.walk(root, onerror=skipped.errors.append):
        here, git = Path(directory), counting.pop(directory)
        if gitignore and here != root:
            git = git.below(directory, (*folders, *files))
        folders[:] = [f for f in folders if not is_left_out(here / f) and not _excluded(here / f, root, patterns)]
        folders[:] = _left(here, folders, git, skipped)
        counting.update(dict.fromkeys([os.path.join(directory, name) for name in folders], git))  # noqa: PTH118
        for name in folders:
            if os.path.islink(f"{directory}/{name}") and _within(here / name)[0]:  # noqa: PTH114
                skipped.links.append(here / name)
        for name in files:
            if name.endswith((".py", ".ipynb")):
                path = here / name
                if not _may_be_read(path) or _excluded(path, root, patterns):
                    continue
                if git.has(f"{directory}/{name}", False):
                    skipped.ignored.append(path)
                else:
                    yield path


def _left(here: Path, folders: Iterable[str], git: Ignored, skipped: Skipped) -> list[str]:
    """Return the folders that git does not ignore; record those with modules that it does."""
    left = []
    for name in folders:
        if not git.has(os.path.join(here, name), True):  # noqa: PTH118
            left.append(name)
        elif _within(here / name)[0]:
            skipped.ignored.append(here / name)
    return left


def is_left_out(folder: Path) -> bool:
    """Return whether a folder is left out by default because of its name."""
    return folder.name in EXCLUDED and not (folder.name == _BUILT and _within(folder)[0])


def _may_be_read(path: Path) -> bool:
    """Return whether `path` is a regular file; True also if access is denied: reading then reports why."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except PermissionError:
        return True
    except OSError:
        return False


def is_file(path: Path) -> bool:
    """Return whether `path` is a file; unlike `Path.is_file`, return False if its folder denies access."""
    return os.path.isfile(path)  # noqa: PTH113


def _excluded(path: Path, root: Path, patterns: Sequence[str]) -> bool:
    relative = path.relative_to(root).as_posix() if patterns else ""
    return any(fnmatch(relative, p) or fnmatch(path.name, p) or fnmatch(path.as_posix(), p) for p in patterns)


def is_excluded(path: Path, root: Path, exclude: Iterable[str]) -> bool:
    """Return whether `discover` leaves out a file below `root` because of one of the patterns `exclude`."""
    patterns = tuple(exclude)
    return any(_excluded(each, root, patterns) for each in (path, *path.parents) if patterns and root in each.parents)


def read(path: Path) -> str:
    """Return the text of a file with its newlines, decoded by its BOM or PEP 263 line. Raises UnreadableError."""
    try:
        return decode(content(path))
    except OSError as error:
        raise UnreadableError(error.strerror or str(error)) from error


def content(path: Path) -> bytes:
    """Return the bytes of a file. Raises OSError, also for a pipe or a device, where reading may never end."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return path.read_bytes()


def decode(content: bytes) -> str:
    """Decode Python source. Raises UnreadableError if the encoding is broken or the text contains NUL."""
    try:
        encoding, _ = tokenize.detect_encoding(BytesIO(content).readline)
        text = content.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise UnreadableError(f"its encoding is broken: {error}") from error
    if "\0" in text:
        raise UnreadableError("it contains NUL bytes")
    return text


def lines_of(text: str) -> list[str]:
    """Return the lines of a text without their line endings, split as Python does."""
    return re.split(r"\r\n|\n|\r", text) if "\r" in text else text.split("\n")


def module_name(path: Path, is_file: Callable[[Path], bool] = is_file) -> str:
    """Return the dotted name of a file by its place in the packages (folders with `__init__.py`) around it.

    A notebook belongs to no package; characters that a name cannot hold become underscores. `is_file` checks whether a
    file exists.
    """
    return module_names(is_file)(path)


def module_names(is_file: Callable[[Path], bool] = is_file) -> Callable[[Path], str]:
    """Return a function that gives the name of one file after another, as `module_name` does."""

    @cache
    def packages(folder: Path) -> tuple[str, ...]:
        inside = is_file(folder / "__init__.py") and bool(folder.name)
        return (*packages(folder.parent), folder.name) if inside else ()

    @cache
    def packages_at(folder: str) -> tuple[str, ...]:
        return packages(Path(folder).absolute())

    def name(path: Path) -> str:
        folder, last = os.path.split(path)
        stem, suffix = os.path.splitext(last)  # noqa: PTH122
        if suffix == ".ipynb":
            return re.sub(r"\W", "_", stem)
        parts = packages_at(folder) if last == "__init__.py" else (*packages_at(folder), stem)
        return ".".join(parts) or Path(folder).absolute().name

    return name


def is_test(path: str) -> bool:
    """Return whether a file is named like a test or like the configuration of tests, by pytest's conventions."""
    return any(fnmatch(path.rpartition("/")[2], pattern) for pattern in ("test_*.py", "*_test.py", "conftest.py"))


def neighbours(paths: Iterable[Path]) -> set[str]:
    """Return the modules that imports in these files may find next to them, as POSIX paths.

    These are in the folder of a file, in the folders of the packages around it, or one folder below.
    """
    known = cache(is_file)
    folders = {
        folder
        for path in {os.path.split(path)[0]: path for path in paths}.values()
        for folder in search_folders(path, known)
    }
    within = cache(_within)
    beside = folders | {inner for folder in folders for inner in within(folder)[1]}
    return {module for folder in beside for module in within(folder)[0]}


def search_folders(path: Path, is_file: Callable[[Path], bool] = is_file) -> Iterator[Path]:
    """Yield the folder of a file and those of the packages around it. `is_file` checks whether a file exists."""
    folder = path.parent
    while True:
        yield folder
        if not is_file(folder / "__init__.py") or folder == folder.parent or not folder.name:
            return
        folder = folder.parent


def _within(folder: Path) -> tuple[list[str], list[Path]]:
    """Return the modules in a folder, as POSIX paths, and its subfolders; both empty if it cannot be read."""
    start = "" if folder == Path() else folder.as_posix().removesuffix("/") + "/"
    try:
        with os.scandir(folder) as found:
            entries = list(found)
    except OSError:
        return [], []
    modules = [start + entry.name for entry in entries if entry.name.endswith(".py")]
    return modules, [folder / entry.name for entry in entries if _is_folder(entry)]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # links that form a cycle
        return False
