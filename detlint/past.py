"""The files of a run as they were at a commit. Nothing is checked out: their texts come from git's object database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath

from detlint import source
from detlint.analyse import Source
from detlint.differences import lines
from detlint.git import Blob, Repository, blob_id
from detlint.source import UnreadableError


class Past:
    """What there was at a commit. Files have the paths that the run gives them, or would have given them.

    `before` are the lines of what differs by now or is gone, `now` those of what differs or is new. All else is the
    same: also what git ignores, and what belongs to another repository.
    """

    def __init__(
        self, repository: Repository, commit: str, paths: Sequence[Path], exclude: Iterable[str], files: Sequence[str]
    ) -> None:
        """`paths` are those that the run was asked for, `files` those that it found. Raises ConfigError."""
        self._repository = repository
        self._tree = repository.tree(commit)
        now: dict[str, bytes] = {}
        old: dict[str, Blob] = {}
        unknown: dict[PurePosixPath, str] = {}
        for path in files:
            place = repository.file(Path(path))
            if place is None:
                continue
            blob, content = self._tree.get(place), _content(path)
            if blob is None:
                unknown[place] = path
            elif blob_id(content, blob.id) != blob.id:
                old[path] = blob
            if blob is None or path in old:
                now[path] = content
        self._ignored = repository.ignored(unknown)
        for place in self._ignored:
            del now[unknown[place]]
        gone = {path: place for path, place in self._discovered(paths, exclude) if path not in set(files)}
        left_out = repository.left_out() if gone else set()
        old |= {path: self._tree[place] for path, place in gone.items() if place not in left_out}
        new = now.keys() - old.keys()
        self.files = [*(path for path in files if path not in new), *gone.keys() & old.keys()]
        contents = zip(old, repository.contents([blob.id for blob in old.values()]), strict=True)
        before = {path: (content, lines(path, content)) for path, content in contents}
        self.now = {path: lines(path, content) for path, content in now.items()}
        for path in [path for path in before if path in self.now and before[path][1] == self.now[path]]:
            del before[path], self.now[path]  # other ends of lines, or other outputs in a notebook
        self._contents = {path: content for path, (content, _) in before.items()}
        self.before = {path: found for path, (_, found) in before.items()}

    def _discovered(self, paths: Sequence[Path], exclude: Iterable[str]) -> Iterator[tuple[str, PurePosixPath]]:
        """The files that the run would have found."""
        for path in paths:
            folder = self._repository.folder(path) if path.is_dir() else None
            place = None if path.is_dir() else self._repository.file(path)
            if place in self._tree and place is not None:
                yield path.as_posix(), place
            for each in self._tree if folder is not None else ():
                if folder is not None and each.is_relative_to(folder):
                    found = path / each.relative_to(folder)
                    if source.is_discovered(found, path, exclude):
                        yield found.as_posix(), each

    def is_file(self, path: Path) -> bool:
        """Whether there was a file."""
        place = self._repository.file(path)
        return path.is_file() if place is None or place in self._ignored else place in self._tree

    def read(self, path: Path) -> str:
        """The text that a file had. Raises UnreadableError."""
        place = self._repository.file(path)
        if place is None:
            return source.read(path)
        if place not in self._tree:
            raise UnreadableError("there was no such file")
        return source.decode(self._repository.contents([self._tree[place].id])[0])

    def source(self, path: str) -> Source:
        """A file as it is to be analysed."""
        return Source(path, source.module_name(Path(path), self.is_file), self._contents.get(path))

    def unread(self) -> frozenset[str]:
        """The modules that imports may have found beside the files of the run."""
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
        """The modules in each folder, and in those right within it."""
        found = defaultdict(list)
        for path in self._tree:
            if path.suffix == ".py":
                for folder in path.parents[:2]:
                    found[folder].append(path)
        return found


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""
