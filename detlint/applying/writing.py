"""Fixed files written to disk: each whole or not at all, none that changed meanwhile, none outside given folders.

A new text is written to a temporary file in the same folder, which then takes the name of the old one: readers find
one or the other, whenever the process ends. Copies of the runtime come first, so that code that imports them finds
them. Temporary files of a process that was killed are removed by the next process that fixes files in that folder.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
import tokenize
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path

from detlint.applying.fixer import Change
from detlint.editing.vendoring import FILE
from detlint.sources import source
from detlint.sources.source import UnreadableError

_MODULE = Path(FILE).stem
_PREFIX = ".detlint-"
_BESIDE = re.compile(re.escape(_PREFIX) + r"(\d+)-\w+\.tmp")  # with the id of the process that made it
_LONG = 3600.0  # seconds after which a temporary file belongs to no running process


class WriteError(Exception):
    """A file that is not written; the message names it and says why."""


class Files:
    """Files by path: their bytes are kept as they were read, because unchanged text must be written back unchanged."""

    def __init__(self, within: Sequence[Path] | None = None, given: Mapping[str, bytes] = {}) -> None:
        """Open files; `within` are the folders that may be written to, with links resolved; None for all.

        `given` are contents by path that take precedence over those on disk.
        """
        self._given = given
        self._within = None if within is None else [Path(os.path.realpath(path)) for path in within]
        self._contents: dict[str, bytes] = {}

    def read(self, path: str) -> str:
        """Return the text of a file. Raises UnreadableError, also where writing the text back would change it."""
        try:
            content = self._given[path] if path in self._given else source.content(Path(path))
        except OSError as error:
            raise UnreadableError(error.strerror or str(error)) from error
        text = source.decode(content)
        try:
            if text.encode(_encoding(content)) != content:
                raise UnreadableError("its encoding can write the same text in several ways")
        except UnicodeEncodeError as error:
            raise UnreadableError(f"its encoding is broken: {error}") from error
        self._contents[path] = content
        return text

    def contents(self, change: Change) -> tuple[bytes | None, bytes]:
        """Return a file's bytes before and after a change, in its encoding, UTF-8 for a new file. Raises WriteError."""
        if change.old is None:
            return None, change.new.encode()
        old = self._contents[change.path]
        try:
            new = change.new.encode(_encoding(old))
            if source.decode(new) == change.new:
                return old, new
        except (UnicodeEncodeError, UnreadableError):
            pass
        raise WriteError(f"{change.path}: not fixed, its encoding cannot hold the fixed text")

    def write(self, changes: Iterable[Change]) -> dict[str, str]:
        """Write what changed; return, by path, a line that says why for each file that was not written."""
        problems: dict[str, str] = {}
        ordered = sorted(changes, key=lambda change: (not _is_runtime(change.path), change.path))
        for folder in {os.path.realpath(Path(path).parent) for path in (*self._contents, *(c.path for c in ordered))}:
            _tidy(folder)
        for change in ordered:
            try:
                if any(map(_is_runtime, problems)) and _needs_runtime(change):
                    raise WriteError(f"{change.path}: not fixed, it would import {FILE}, which is not there")
                old, new = self.contents(change)
                if old is None:
                    self._create(change.path, new)
                else:
                    self._replace(change.path, old, new)
            except WriteError as error:
                problems[change.path] = str(error)
            except OSError as error:
                done = "made" if change.old is None else "fixed"
                problems[change.path] = f"{change.path}: not {done}, it cannot be written: {error.strerror or error}"
        return problems

    def _replace(self, path: str, old: bytes, new: bytes) -> None:
        target = self._inside(path, Path(path).resolve(strict=True), "fixed")  # a link stays one
        status = target.stat()
        if status.st_nlink > 1:
            raise WriteError(f"{path}: not fixed, it has another name (a hard link) that would keep the old text")
        if not os.access(target, os.W_OK):
            raise WriteError(f"{path}: not fixed, it is read-only")

        def take_over(temporary: str) -> None:
            _like(temporary, target, status)
            if target.read_bytes() != old:
                raise WriteError(f"{path}: not fixed, it changed while detlint ran; run it again")
            os.replace(temporary, target)

        _beside(target, new, take_over)

    def _create(self, path: str, content: bytes) -> None:
        target = self._inside(path, Path(os.path.realpath(Path(path).parent)) / Path(path).name, "made")

        def take_over(temporary: str) -> None:
            os.chmod(temporary, 0o666 & ~_umask())
            try:
                os.link(temporary, target)  # fails where the target exists, unlike a rename
            except FileExistsError:
                raise
            except OSError:  # a file system without links
                if os.path.lexists(target):
                    raise FileExistsError from None
                os.rename(temporary, target)
            else:
                os.unlink(temporary)

        try:
            _beside(target, content, take_over)
        except FileExistsError:
            raise WriteError(f"{path}: not made, there is such a file already; move it away") from None

    def _inside(self, path: str, target: Path, done: str) -> Path:
        """Return where a path leads. Raises WriteError where that is outside of what may be written to."""
        if self._within is None or any(target.is_relative_to(each) for each in self._within):
            return target
        where = ", ".join(map(str, self._within))
        raise WriteError(f"{path}: not {done}, it is {target}, outside of {where}; run detlint there to change it")


def put(path: Path, content: bytes) -> None:
    """Replace or create a file as a whole; if that fails, it stays as it was. Raises OSError."""
    target = path.resolve()

    def take_over(temporary: str) -> None:
        if target.exists():
            _like(temporary, target, target.stat())
        else:
            os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)

    _beside(target, content, take_over)


def _is_runtime(path: str) -> bool:
    return Path(path).name == FILE


def _needs_runtime(change: Change) -> bool:
    """Return whether the new text of a changed file mentions the runtime, so that it may need a (newer) copy."""
    return not _is_runtime(change.path) and _MODULE in change.new


def _encoding(content: bytes) -> str:
    """Return the encoding of Python source, "utf-8-sig" where it has a BOM."""
    return tokenize.detect_encoding(BytesIO(content).readline)[0]


def _beside(target: Path, content: bytes, take_over: Callable[[str], None]) -> None:
    """Write a temporary file next to another, all of it to disk; `take_over` puts it in the other's place."""
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f"{_PREFIX}{os.getpid()}-", suffix=".tmp")
    try:
        try:
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        take_over(temporary)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _like(temporary: str, target: Path, status: os.stat_result) -> None:
    """Give a file the owner, the attributes and the mode of another, as far as this user may."""
    own = os.stat(temporary)
    if hasattr(os, "chown") and (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid):
        for owner in (status.st_uid, -1):  # who may not give it away may still keep the group
            try:
                os.chown(temporary, owner, status.st_gid)
                break
            except OSError:
                continue
    if sys.platform == "linux":
        with suppress(OSError):  # a file system without them
            for name in os.listxattr(target):  # access control lists are among them
                with suppress(OSError):
                    os.setxattr(temporary, name, os.getxattr(target, name))
    os.chmod(temporary, status.st_mode & 0o7777)  # last: a change of the owner takes bits away


def _umask() -> int:
    """Return the permission bits that new files of this process are denied."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _tidy(folder: str) -> None:
    """Remove what processes that were killed have left in a folder."""
    with suppress(OSError):
        for name in os.listdir(folder):
            match = _BESIDE.fullmatch(name)
            if match and _is_left(os.path.join(folder, name), int(match[1])):
                with suppress(OSError):
                    os.unlink(os.path.join(folder, name))


def _is_left(path: str, process: int) -> bool:
    """Return whether no process will use a temporary file; one that would after all fails, says so, spoils nothing."""
    if sys.platform == "win32":  # no way to ask whether a process runs
        return os.stat(path).st_mtime < time.time() - _LONG
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        pass
    return os.stat(path).st_mtime < time.time() - _LONG
