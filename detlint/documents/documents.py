"""Configuration files that programs read: their contents, parsed by safe loaders and never run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from detlint.documents.tagged import untagged
from detlint.sources import source
from detlint.support import digests, toml
from detlint.support.records import record

SUFFIXES = (".yaml", ".yml", ".json", ".toml")
Content = Callable[[str], "bytes | None"]
_NONE = ("", "~", "null", "Null", "NULL")
_LONGEST = 2**18  # bytes of a file
_MOST = 4_000  # values in one, counting anew what is there by reference


class Documents:
    """The configuration files of a project, each read and parsed once.

    `looked` has a digest of the contents of each file that was asked for, by path; "" if there is no such file.
    """

    def __init__(self, content: Content) -> None:
        """Take `content`, which returns what is in a file, or None if the project has no such file."""
        self._content = content
        self._texts: dict[str, bytes | None] = {}
        self._parsed: dict[tuple[str, str], Any] = {}
        self.looked: dict[str, str] = {}

    def has(self, path: str) -> bool:
        """Return whether there is a file."""
        if path not in self._texts:
            found = self._texts[path] = self._content(path) if path.endswith(SUFFIXES) else None
            self.looked[path] = told(found)
        return self._texts[path] is not None

    def text(self, path: str) -> str:
        """Return what is in a file; bytes that are not UTF-8 are dropped, and a missing file is ""."""
        content = self._texts[path] if self.has(path) else None
        return (content or b"").decode("utf-8-sig", "ignore")

    def parsed(self, path: str, form: str) -> Any:
        """Return what a file says in a form, one of `_READERS`; None if it is empty, too long or wrong."""
        key = path, form
        if key not in self._parsed:
            self._parsed[key] = said(self.text(path), form)
        return self._parsed[key]


def said(text: str, form: str) -> Any:
    """Return what a text says in a form; None if it is empty, too long or wrong."""
    return _parsed(text, form) if 0 < len(text) <= _LONGEST else None


def scalar(text: str) -> object:
    """Return the value that a text stands for on a command line."""
    found = _yaml(text)
    return found if text.strip() in _NONE or isinstance(found, (str, int, float)) else text


def told(content: bytes | None) -> str:
    """Return the digest of a content; "" if there is no file."""
    return "" if content is None else digests.digest(content).hex()


def have_changed(looked: Mapping[str, str], content: Content) -> bool:
    """Return whether files have other contents than when they were looked at."""
    return any(told(content(path)) != known for path, known in looked.items())


def none(path: str) -> bytes | None:
    """Return None: the content of any file where there are none."""
    return None


@record(frozen=True)
class Given:
    """The contents of files given as texts by path."""

    texts: Mapping[str, str]

    def __call__(self, path: str) -> bytes | None:
        """Return what is in a file, or None."""
        return self.texts[path].encode() if path in self.texts else None


@record(frozen=True)
class OnDisk:
    """The contents of the files in some folders."""

    folders: tuple[str, ...]

    @classmethod
    def of(cls, folders: Iterable[Path]) -> OnDisk:
        """Return the contents of the files in these folders."""
        return cls(tuple(sorted({os.path.realpath(folder) for folder in folders})))

    def __call__(self, path: str) -> bytes | None:
        """Return what is in a file: b"" if it is too long, None if it does not exist or is outside the folders."""
        real = os.path.realpath(path)
        if not any(real.startswith(folder.rstrip(os.sep) + os.sep) for folder in self.folders):
            return None
        try:
            return source.content(Path(real)) if os.path.getsize(real) <= _LONGEST else b""  # noqa: PTH202
        except OSError:
            return None


def _parsed(text: str, form: str) -> Any:
    """Return what a text says, as plain values, lists and dicts; None if it says too much or cannot be read."""
    try:
        found = _READERS[form](text)
        return found if _count(found) <= _MOST else None
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError):
        return None


def _yaml(text: str) -> Any:
    import yaml  # few runs have any YAML to read

    try:
        return yaml.load(text, _loader())
    except yaml.YAMLError:
        return None


@cache
def _loader() -> Any:
    """Return the safe loader, which gives up on mappings into which others are merged too often."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        def flatten_mapping(self, node: yaml.MappingNode) -> None:
            super().flatten_mapping(node)
            if len(node.value) > _MOST:
                raise yaml.constructor.ConstructorError(None, None, "too many merged keys", node.start_mark)

    return Loader


def _tagged(text: str) -> Any:
    return untagged(text, _loader())


_READERS: dict[str, Callable[[str], Any]] = {
    "yaml": _yaml, "tagged yaml": _tagged, "json": json.loads, "toml": toml.loads,
}  # fmt: skip


def _count(value: Any) -> int:
    """Return the number of values in one, counting no further than needed to see that there are too many."""
    waiting, count = [value], 0
    while waiting and count <= _MOST:
        found = waiting.pop()
        count += 1
        if isinstance(found, (dict, list)):
            waiting += found.values() if isinstance(found, dict) else found
    return count
