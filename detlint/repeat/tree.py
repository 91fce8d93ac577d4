"""A copy of the user's files in which programs run and are changed; each run begins with the same files."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from detlint.config import project_root

_GIT = ".git"
_ENVIRONMENT = "pyvenv.cfg"  # marks a virtual environment
_CACHES = frozenset({"__pycache__", ".detlint_cache", ".mypy_cache", ".ruff_cache", ".pytest_cache"})
MEBIBYTE = 1 << 20
BUDGET = 1024 * MEBIBYTE
"""The most bytes that are copied; beyond them, the largest files are linked."""
_CROWD = 5000  # a folder with more files than this directly in it is linked as a whole
_MOST = 100_000  # the most files in total


class TreeError(Exception):
    """Raised if the files cannot be copied or not be written back. The message says what to do."""


@dataclass
class Tree:
    """The user's folder `root` and its copy `folder`.

    `linked` are the files and folders, by path from the root, that are links to the user's own. `texts` has what was
    changed in the copy: new contents by path. Paths are POSIX, from the root.
    """

    root: Path
    folder: Path
    linked: list[str] = field(default_factory=list)
    texts: dict[str, bytes] = field(default_factory=dict)
    before: dict[str, bytes] = field(default_factory=dict)
    _files: dict[str, tuple[int, int]] = field(default_factory=dict)  # size and time of each that was copied
    _folders: set[str] = field(default_factory=set)
    _links: dict[str, str] = field(default_factory=dict)
    _seen: dict[str, tuple[int, int]] = field(default_factory=dict)  # those of the user's files that are linked

    @classmethod
    def copied(cls, root: Path, folder: Path, budget: int = BUDGET) -> Tree:
        """Copy a folder. Raises TreeError and OSError.

        The `.git` folder is linked, and so are virtual environments, folders with thousands of files, and the largest
        files once `budget` bytes are copied.
        """
        made = cls(root, folder)
        sizes = dict(made._found())
        budget = min(budget, shutil.disk_usage(folder).free // 2)
        for path in sorted(sizes, key=lambda path: (sizes[path], path)):
            budget -= sizes[path]
            if budget < 0:
                made._link(path)
            else:
                made._copy(path)
        return made

    def _found(self) -> Iterator[tuple[str, int]]:
        """Yield the files to copy, with their sizes; make folders and links on the way. Raises TreeError."""
        count = 0
        for place, folders, files in os.walk(self.root):
            inner = Path(place).relative_to(self.root).as_posix()
            for name in list(folders):
                path = name if inner == "." else f"{inner}/{name}"
                whole = Path(place, name)
                if name in _CACHES or whole.is_symlink():
                    folders.remove(name)
                    if whole.is_symlink():
                        self._follow(path)
                elif name == _GIT or (whole / _ENVIRONMENT).exists() or _is_crowded(whole):
                    folders.remove(name)
                    self._link(path)
                else:
                    (self.folder / path).mkdir()
                    self._folders.add(path)
            for name in files:
                path = name if inner == "." else f"{inner}/{name}"
                count += 1
                if count > _MOST:
                    raise TreeError(
                        f"{self.root} has more than {_MOST:,} files: run this in the folder of the project alone"
                    )
                status = os.lstat(Path(place, name))
                if stat.S_ISLNK(status.st_mode):
                    self._follow(path)
                elif stat.S_ISREG(status.st_mode):
                    yield path, status.st_size

    def _follow(self, path: str) -> None:
        """Recreate a link that the user has; a link to a place within the tree leads to the copy."""
        full = os.path.normpath((self.root / path).parent / (self.root / path).readlink())
        inside = full.startswith(f"{self.root}{os.sep}")
        if inside:
            full = os.path.relpath(full, (self.root / path).parent)
        (self.folder / path).symlink_to(full)
        self._links[path] = full

    def _link(self, path: str) -> None:
        (self.folder / path).symlink_to(self.root / path)
        self._links[path] = str(self.root / path)
        if Path(path).name != _GIT and not (self.root / path / _ENVIRONMENT).exists():
            self.linked.append(path)
            self._seen[path] = _marks(self.root / path)

    def _copy(self, path: str) -> None:
        shutil.copy2(self.root / path, self.folder / path)
        self._files[path] = _marks(self.folder / path)

    def restore(self) -> None:
        """Give the copy the files that it began with, with changed texts in place, and no others."""
        for place, folders, files in os.walk(self.folder, topdown=False):
            inner = Path(place).relative_to(self.folder).as_posix()
            for name in (*files, *folders):
                path = name if inner == "." else f"{inner}/{name}"
                self._keep_or_remove(path)
        for path in sorted(self._folders):
            (self.folder / path).mkdir(exist_ok=True)
        for path, target in self._links.items():
            if not os.path.lexists(self.folder / path):
                (self.folder / path).symlink_to(target)
        for path in self._files:
            if path not in self.texts and not (self.folder / path).exists():
                self._copy(path)
        for path, content in self.texts.items():
            whole = self.folder / path
            if not whole.exists() or whole.read_bytes() != content:
                whole.write_bytes(content)

    def _keep_or_remove(self, path: str) -> None:
        whole = self.folder / path
        if whole.is_symlink():
            if self._links.get(path) != str(whole.readlink()):
                whole.unlink()
        elif whole.is_dir():
            if path not in self._folders:
                shutil.rmtree(whole, ignore_errors=True)
        elif path not in self.texts and self._files.get(path) != _marks(whole):
            with suppress(OSError):
                whole.unlink()

    def written(self) -> list[str]:
        """Return the user's own files that are linked and that a program has nevertheless written to."""
        return [path for path, marks in self._seen.items() if _marks(self.root / path) != marks]

    def path_of(self, path: str) -> str:
        """Return the path from the root of a file in the copy."""
        return Path(os.path.realpath(path)).relative_to(os.path.realpath(self.folder)).as_posix()

    def put(self, contents: Mapping[str, bytes]) -> None:
        """Change files of the copy to new contents, by path from the root."""
        for path in contents:
            if path not in self.before and (self.root / path).exists():
                self.before[path] = (self.folder / path).read_bytes()
        self.texts = dict(contents)
        self.restore()

    def here(self, path: str) -> Path:
        """Return the path in the copy for one of the user's paths; a path outside the tree stays as it is."""
        full = os.path.abspath(path)  # noqa: PTH100 - Path.absolute keeps `..`
        within = full == str(self.root) or full.startswith(f"{self.root}{os.sep}")
        return self.folder / os.path.relpath(full, self.root) if within else Path(path)

    def argument(self, text: str) -> str:
        """Return an argument of a command line, with an absolute path in the tree turned into that in the copy."""
        head, equals, value = text.rpartition("=") if text.startswith("-") else ("", "", text)
        if not Path(value).is_absolute():
            return text
        return f"{head}{equals}{self.here(value)}" if self.here(value) != Path(value) else text

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Work in the same folder of the copy, where modules that are installed from the tree are found in the copy."""
        cwd, path = Path.cwd(), os.environ.get("PYTHONPATH")
        own = tuple(f"{each}{os.sep}" for each in (sys.prefix, sys.base_prefix))
        paths = [each for each in sys.path[1:] if each and not each.startswith(own)]  # the first is detlint's own
        installed = [str(self.here(each)) for each in paths if self.here(each) != Path(each)]
        known = path.split(os.pathsep) if path else []
        found = [str(self.here(each)) if each else each for each in known]
        more = [each for each in installed if each not in found]
        os.chdir(self.here(str(cwd)))
        os.environ["PYTHONPATH"] = os.pathsep.join([*found, *more])
        try:
            yield
        finally:
            os.chdir(cwd)
            if path is None:
                del os.environ["PYTHONPATH"]
            else:
                os.environ["PYTHONPATH"] = path


def root_of(folder: Path, command: Sequence[str]) -> Path:
    """Return the folder to copy: that of the repository, or else of the project, or else the working folder.

    It is extended upwards to include the program's script. Raises TreeError if that is too much.
    """
    script = Path(script_of(command))
    around = (each for each in (folder, *folder.parents) if (each / _GIT).exists())
    root = next(around, None) or project_root(folder)
    if (folder / script).is_file():
        script = (folder / script).resolve()
        if not script.is_relative_to(root):
            root = Path(os.path.commonpath([root, script.parent]))
    if root.parent == root or root == Path.home():
        raise TreeError(f"all of {root} would be copied: run this in the folder of the project")
    return root


def script_of(command: Sequence[str]) -> str:
    """Return the program's own file by its path from the working folder, if a command names one; else ""."""
    if command[:1] == ["-m"] and len(command) > 1:
        name = command[1].replace(".", "/")
        found = [path for path in (f"{name}.py", f"{name}/__main__.py") if Path(path).is_file()]
        if found:
            return found[0]
    paths = (each.partition("::")[0] for each in command)
    return next((path for path in paths if path.endswith((".py", ".ipynb"))), "")


def _is_crowded(folder: Path) -> bool:
    with suppress(OSError), os.scandir(folder) as entries:
        return sum(1 for _ in entries) > _CROWD
    return False


def _marks(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return -1, -1
    return found.st_size, found.st_mtime_ns
