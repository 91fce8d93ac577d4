"""What a run may look at on disk, as it is when the run begins: the run can be repeated while it is unchanged."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from detlint import catalogue, rulebook
from detlint.cache import remembered
from detlint.cache.remembered import BEGINS, GONE, Said
from detlint.config import MARKS, REQUIREMENTS, Config
from detlint.documents.documents import told
from detlint.editing.vendoring import FILE as RUNTIME
from detlint.listing import roots
from detlint.sources import ignored, source
from detlint.sources.ignored import Ignored
from detlint.support import digests

_SETTLES = 2 * 10**9  # nanoseconds within which a file may change twice and keep its time
_TICK = 2 * 10**7  # nanoseconds by which the time of a file may lag
_SETTINGS = (*({*MARKS, *REQUIREMENTS} - {".git"}), "detlint.toml", "__init__.py", ignored.NAME)
_LIBRARIES = ("click", "libcst", "packaging", "pathspec", "rich", "yaml")


class Snapshot:
    """The stamps of files and the names in folders, for everything that a run over some paths looks at."""

    def __init__(self, paths: Sequence[Path], config: Config, cache_dir: Path, begun: int) -> None:
        """Take it for a run that is kept in `cache_dir` and began to look at settings at `begun` (ns since 1970)."""
        self.files: dict[str, str] = {}
        self.folders: dict[str, str] = {}
        self._fresh: dict[str, bytes] = {}  # digests of files that may change again and keep their time
        self._begun = begun
        self._usable = True
        self._exclude = config.exclude
        self._gitignore = config.respect_gitignore
        self._folder = os.path.abspath(cache_dir)
        read = roots(paths, config)
        for place in dict.fromkeys(above for path in (*read, config.root) for above in _above(path)):
            self._settings(place)
        for path in (config.root, config.root / "src"):
            self._list(str(path))
        for file in ignored.settings_of_user():
            self._stamp(file)
        for path in read:
            self._path(path)
        self._program()

    def keep(self, arguments: Sequence[str], said: Said, documents: Mapping[str, str]) -> None:
        """Keep the output of the run that began with this, unless something changed meanwhile.

        `documents` has, by path, what identifies the contents of the configuration files that the run read.
        """
        now = time.time_ns()
        folder = remembered.folder_of(arguments)
        if not self._usable or folder != self._folder:
            return
        for path, known in documents.items():
            self._stamp(path)
            if told(_content(path)) != known:
                return
        for path, digest in self._fresh.items():
            status = _status(path)
            if status is None or remembered.stamped(status) != self.files[path]:
                return
            if _is_fresh(status, now) or _digest(path) != digest:
                return
        remembered.keep(arguments, self.files, self.folders, said)

    def _settings(self, folder: str) -> None:
        """Stamp what marks off a project, what it requires, and whether it is a package."""
        for name in _SETTINGS:
            self._stamp(os.path.join(folder, name))
        git = os.path.join(folder, ignored.GIT)
        inside = os.path.join(git, "config")  # the folder itself changes with everything that git does
        self._stamp(inside if os.path.isfile(inside) else git)
        if os.path.lexists(git):
            self._repository(folder)

    def _repository(self, folder: str) -> None:
        """Stamp what git ignores in the repository that begins in a folder, besides its `.gitignore` files."""
        for file in ignored.of_repository(folder):
            self._stamp(file)

    def _path(self, path: Path) -> None:
        """Note a file or folder that is checked, and where its imports look."""
        if path.is_dir():
            self._walk(str(path), path)
            folder = str(path)
        else:
            self._stamp(str(path))
            folder = str(path.parent)
        while True:
            for inner in self._list(folder)[1]:
                self._list(inner.path)
            package = os.path.exists(os.path.join(folder, "__init__.py"))
            folder, before = os.path.dirname(os.path.abspath(folder)), folder
            if not package or folder == before:
                return

    def _walk(self, folder: str, root: Path) -> None:
        waiting = [(folder, ignored.around(folder) if self._gitignore else ignored.NOTHING)]
        while waiting:
            here, git = waiting.pop()
            files, folders = self._list(here)
            if self._gitignore and here != folder:
                git = self._below(git, here, files)
            for entry in files:
                self._stamp(entry.path, entry)
            for entry in folders:
                if self._is_walked(entry, root) and not git.has(entry.path, True):
                    waiting.append((entry.path, git))
                else:
                    self._list(entry.path)

    def _below(self, git: Ignored, folder: str, files: Sequence[os.DirEntry[str]]) -> Ignored:
        """Return what git ignores in a folder that has these files."""
        names = [entry.name for entry in files]
        if self.folders[folder].endswith(BEGINS):
            self._repository(folder)
            names.append(ignored.GIT)
        return git.below(folder, names)

    def _is_walked(self, entry: os.DirEntry[str], root: Path) -> bool:
        if entry.is_symlink() or (entry.name in source.EXCLUDED and source.is_left_out(Path(entry.path))):
            return False
        return not self._exclude or not source.is_excluded(Path(entry.path), root, self._exclude)

    def _list(self, folder: str) -> tuple[list[os.DirEntry[str]], list[os.DirEntry[str]]]:
        """Note the names in a folder; return its files and folders."""
        try:
            with os.scandir(folder) as entries:
                files, folders, self.folders[folder] = remembered.listing(entries)
        except OSError:
            self.folders[folder] = GONE
            return [], []
        for entry in files:
            if entry.name == RUNTIME:
                self._stamp(entry.path)
        return files, folders

    def _stamp(self, path: str, entry: os.DirEntry[str] | None = None) -> None:
        status = _status(path) if entry is None else _status_of(entry)
        self.files[path] = GONE if status is None else remembered.stamped(status)
        if status is not None and _is_fresh(status, self._begun):
            self._fresh[path] = _digest(path)
            self._usable = self._usable and _changed(status) < self._begun - _TICK

    def _program(self) -> None:
        """Stamp what decides how findings are judged and shown: detlint, its rules and the libraries it uses."""
        own = Path(__file__).parent.parent
        self._walk(str(own), own)
        for folder in (catalogue.folder(), *(catalogue.folder() / name for name in rulebook.FOLDERS)):
            for path in (folder, *folder.iterdir()):
                self._stamp(str(path))
        for name in _LIBRARIES:
            spec = find_spec(name)
            if spec is not None and spec.origin is not None:
                self._stamp(spec.origin)


def _above(path: Path) -> Iterator[str]:
    """Yield a path and the folders that it is in, as it is written and where it really is."""
    for whole in (os.path.abspath(path), os.path.realpath(path)):
        while True:
            yield whole
            whole, before = os.path.dirname(whole), whole
            if whole == before:
                break


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def _status_of(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat()
    except OSError:
        return None


def _is_fresh(status: os.stat_result, now: int) -> bool:
    return _changed(status) >= now - _SETTLES


def _changed(status: os.stat_result) -> int:
    """Return when a file was last changed, in nanoseconds since 1970."""
    return max(status.st_mtime_ns, status.st_ctime_ns)


def _digest(path: str) -> bytes:
    """Return the digest of a file's content; empty for a folder, and for what cannot be read."""
    content = _content(path)
    return b"" if content is None else digests.digest(content)


def _content(path: str) -> bytes | None:
    try:
        return source.content(Path(path))
    except OSError:
        return None
