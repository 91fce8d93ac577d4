"""Text in: which files to read, how their bytes decode, what they are called."""

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
_BUILT = "dist"  # archives are built there; one that holds modules itself is a package, or a folder of scripts


class UnreadableError(Exception):
    """A file whose text cannot be had."""


@record(frozen=True)
class Skipped:
    """What was not gone into: links with Python files in them, folders that cannot be listed, as errors, and what git
    ignores, files and folders with modules.
    """

    links: list[Path] = field(default_factory=list)
    errors: list[OSError] = field(default_factory=list)
    ignored: list[Path] = field(default_factory=list)


def discover(
    paths: Sequence[Path], exclude: Iterable[str] = (), skipped: Skipped | None = None, gitignore: bool = False
) -> Iterator[Path]:
    """The Python files and notebooks under `paths`, sorted, each once, by the form of the first path that has it.

    A file that is named is read whatever its name, as a notebook where it ends in `.ipynb`. With `gitignore` what git
    ignores is left out. What is left out, though nobody asked for that, is added to `skipped`.
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
    """What tells where a file is, in whatever form its path is given.

    Links to its folder are followed; one that it is itself is not, since an import may find either name.
    """
    real = cache(os.path.realpath)

    def place(path: Path) -> str:
        folder, name = os.path.split(path)
        return os.path.join(real(folder), name)  # noqa: PTH118 - as paths they take thrice the time of a run's start

    return place


def is_discovered(path: Path, root: Path, exclude: Iterable[str] = (), gitignore: bool = False) -> bool:
    """Whether `discover` would give a file below the folder `root`, were it there."""
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
    """The folders that git does not ignore."""
    left = []
    for name in folders:
        if not git.has(os.path.join(here, name), True):  # noqa: PTH118
            left.append(name)
        elif _within(here / name)[0]:
            skipped.ignored.append(here / name)
    return left


def is_left_out(folder: Path) -> bool:
    """Whether a folder is left out for its name, though nobody asked for that."""
    return folder.name in EXCLUDED and not (folder.name == _BUILT and _within(folder)[0])


def _may_be_read(path: Path) -> bool:
    """Whether there is a file. Of one that must not be looked at, reading tells why."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except PermissionError:
        return True
    except OSError:
        return False


def is_file(path: Path) -> bool:
    """Whether there is a file that can be looked at; `Path.is_file` fails in a folder that must not be."""
    return os.path.isfile(path)  # noqa: PTH113


def _excluded(path: Path, root: Path, patterns: Sequence[str]) -> bool:
    relative = path.relative_to(root).as_posix() if patterns else ""
    return any(fnmatch(relative, p) or fnmatch(path.name, p) or fnmatch(path.as_posix(), p) for p in patterns)


def is_excluded(path: Path, root: Path, exclude: Iterable[str]) -> bool:
    """Whether `discover` leaves out a file below `root` for one of these patterns."""
    patterns = tuple(exclude)
    return any(_excluded(each, root, patterns) for each in (path, *path.parents) if patterns and root in each.parents)


def read(path: Path) -> str:
    """The text of a file, newlines as they are, by its BOM or its PEP 263 line. Raises UnreadableError."""
    try:
        return decode(content(path))
    except OSError as error:
        raise UnreadableError(error.strerror or str(error)) from error


def content(path: Path) -> bytes:
    """The bytes of a file. Raises OSError, also for a pipe or a device, where reading may never end."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return path.read_bytes()


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
    return re.split(r"\r\n|\n|\r", text) if "\r" in text else text.split("\n")


def module_name(path: Path, is_file: Callable[[Path], bool] = is_file) -> str:
    """The dotted name of a file: its place in the packages (folders with `__init__.py`) around it.

    A notebook belongs to no package; what no name can hold is an underscore in its own. `is_file` tells where there
    are files.
    """
    return module_names(is_file)(path)


def module_names(is_file: Callable[[Path], bool] = is_file) -> Callable[[Path], str]:
    """What tells the name of one file after the other, as `module_name` does."""

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
    """Whether a file is called like a test or the configuration of tests, by pytest's names for these."""
    return any(fnmatch(path.rpartition("/")[2], pattern) for pattern in ("test_*.py", "*_test.py", "conftest.py"))


def neighbours(paths: Iterable[Path]) -> set[str]:
    """The modules that imports in these files may find beside them, as POSIX paths.

    They stand in the folder of a file and in the packages around it, or one folder below.
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
    """The folder of a file and those of the packages around it. `is_file` tells where there are files."""
    folder = path.parent
    while True:
        yield folder
        if not is_file(folder / "__init__.py") or folder == folder.parent or not folder.name:
            return
        folder = folder.parent


def _within(folder: Path) -> tuple[list[str], list[Path]]:
    """The modules in a folder, as POSIX paths, and its folders; none where it cannot be read."""
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
    except OSError:  # links that lead to each other
        return False
