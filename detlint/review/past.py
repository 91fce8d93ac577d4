"""The files of a run as they were at a commit. Nothing is checked out: their texts come from git's object database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath

from detlint.analyse import Source
from detlint.config import Config
from detlint.review.differences import lines
from detlint.review.git import Blob, Repository, blob_id
from detlint.sources import source
from detlint.sources.source import UnreadableError


class Past:
    """The files at a commit, under the paths that the run gives them, or would have given them.

    `before` has the lines of files that differ now or are gone, `now` those of files that differ or are new. All others
    are the same, including what git ignores and what belongs to another repository.
    """

    def __init__(
        self, repository: Repository, commit: str, paths: Sequence[Path], config: Config, files: Sequence[str]
    ) -> None:
        """`paths` are those that the run was asked for, `files` those that it found. Raises ConfigError."""
        self._repository = repository
        left_out = repository.left_out()
        self._tree = {place: blob for place, blob in repository.tree(commit).items() if place not in left_out}
        old, now = self._compared(files)
        found = set(files)
        gone = {path: place for path, place in self._discovered(paths, config) if path not in found}
        old |= {path: self._tree[place] for path, place in gone.items()}
        self.files = [*(path for path in files if path in old or path not in now), *gone]
        contents = dict(zip(old, repository.contents([blob.id for blob in old.values()]), strict=True))
        self.before = {path: lines(path, content) for path, content in contents.items()}
        self.now = {path: lines(path, content) for path, content in now.items()}
        for path in [path for path in old if self.now.get(path) == self.before[path]]:
            del self.before[path], self.now[path]  # only line endings or outputs in a notebook differ
        self._contents = {path: contents[path] for path in self.before}

    def _compared(self, files: Iterable[str]) -> tuple[dict[str, Blob], dict[str, bytes]]:
        """Return the old blobs of the files on disk that differ, and the contents of these and of new ones."""
        old: dict[str, Blob] = {}
        now: dict[str, bytes] = {}
        unknown: dict[PurePosixPath, str] = {}
        for path in files:
            place = self._repository.file(Path(path))
            if place is None:
                continue
            content = _content(path)
            if place not in self._tree:
                unknown[place], now[path] = path, content
            elif blob_id(content, self._tree[place].id) != self._tree[place].id:
                old[path], now[path] = self._tree[place], content
        self._ignored = self._repository.ignored(unknown)
        for place in self._ignored:
            del now[unknown[place]]
        return old, now

    def _discovered(self, paths: Sequence[Path], config: Config) -> Iterator[tuple[str, PurePosixPath]]:
        """Yield the files that the run would have found, each with its path in the repository."""
        for path in paths:
            folder = self._repository.folder(path) if path.is_dir() else None
            if folder is None:
                continue  # a file that was asked for exists
            for place in self._tree:
                if place.is_relative_to(folder):
                    found = path / place.relative_to(folder)
                    if source.is_discovered(found, path, config.exclude, config.respect_gitignore):
                        yield found.as_posix(), place

    def is_file(self, path: Path) -> bool:
        """Return whether the file existed."""
        place = self._repository.file(path)
        return path.is_file() if place is None or place in self._ignored else place in self._tree

    def read(self, path: Path) -> str:
        """Return the text that a file had. Raises UnreadableError."""
        place = self._repository.file(path)
        if place is None:
            return source.read(path)
        if place not in self._tree:
            raise UnreadableError("there was no such file")
        return source.decode(self._repository.contents([self._tree[place].id])[0])

    def document(self, path: str, now: bytes | None) -> bytes | None:
        """Return the content that a configuration file had, None if there was none; `now` is its content now."""
        place = self._repository.file(Path(path))
        if place is not None and place in self._tree:
            return self._repository.contents([self._tree[place].id])[0]
        return now if now is None or place is None or self._repository.ignored([place]) else None

    def source(self, path: str) -> Source:
        """Return a file in the form in which it is analysed."""
        return Source(path, source.module_name(Path(path), self.is_file), self._contents.get(path))

    def unread(self) -> frozenset[str]:
        """Return the modules, other than the files of the run, that imports may have found."""
        folders = {path.parent: path for path in map(Path, self.files)}
        near = {each for path in folders.values() for each in source.search_folders(path, self.is_file)}
        return frozenset(path.as_posix() for folder in near for path in self._modules(folder)).difference(self.files)

    def _modules(self, folder: Path) -> Iterator[Path]:
        place = self._repository.folder(folder)
        if place is None:
            yield from folder.glob("*.py")
            yield from folder.glob("*/*.py")
        else:
            yield from (folder / each.relative_to(place) for each in self._by_folder[place])

    @cached_property
    def _by_folder(self) -> Mapping[PurePosixPath, list[PurePosixPath]]:
        """The modules in each folder and in its direct subfolders."""
        found = defaultdict(list)
        for path in self._tree:
            if path.suffix == ".py":
                for folder in path.parents[:2]:
                    found[folder].append(path)
        return found


def _content(path: str) -> bytes:
    try:
        return source.content(Path(path))
    except OSError:
        return b""
