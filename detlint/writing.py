"""Fixed files to disk: each whole or not at all, and none that somebody else has changed meanwhile."""

from __future__ import annotations

import os
import shutil
import tempfile
import tokenize
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

from detlint import source
from detlint.fixer import Change
from detlint.source import UnreadableError


class WriteError(Exception):
    """A file that is not written; the message names it and says why."""


class Files:
    """Files by path: their bytes are kept as they were read, since what is written must go back to the same."""

    def __init__(self) -> None:
        self._contents: dict[str, bytes] = {}

    def read(self, path: str) -> str:
        """The text of a file. Raises UnreadableError, also where its text would not be written as it is read."""
        try:
            content = source.content(Path(path))
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
        """The bytes of a file before and after a change, in one encoding; UTF-8 for a new file. Raises WriteError."""
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

    def write(self, changes: Iterable[Change]) -> list[str]:
        """Write what changed; for each file that cannot be written a line that says why."""
        errors = []
        for change in changes:
            try:
                old, new = self.contents(change)
                if old is None:
                    _create(Path(change.path), new)
                else:
                    _replace(change.path, old, new)
            except WriteError as error:
                errors.append(str(error))
            except OSError as error:
                errors.append(f"{change.path}: not fixed, it cannot be written: {error.strerror or error}")
        return errors


def _encoding(content: bytes) -> str:
    """The encoding of Python source, which brings the BOM along where there is one."""
    return tokenize.detect_encoding(BytesIO(content).readline)[0]


def _replace(path: str, old: bytes, new: bytes) -> None:
    target = Path(path).resolve(strict=True)  # a link stays one
    if not os.access(target, os.W_OK):
        raise WriteError(f"{path}: not fixed, it is read-only")
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".detlint-")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(new)
        shutil.copymode(target, temporary)
        if target.read_bytes() != old:
            raise WriteError(f"{path}: not fixed, it changed while detlint ran; run it again")
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _create(path: Path, content: bytes) -> None:
    try:
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        raise WriteError(f"{path}: not made, there is such a file already; move it away") from None
