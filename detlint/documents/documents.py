"""Configuration files that programs read: their contents, parsed by the safe loaders, never run."""

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
_MOST = 4_000  # values in one, what stands there by reference counted anew


class Documents:
    """The configuration files of a project, each read and parsed once.

    `looked` has what tells the contents of those that were asked for, by path; "" where there is no such file.
    """

    def __init__(self, content: Content) -> None:
        """`content` gives what is in a file, and None for one that is not there or does not belong to the project."""
        self._content = content
        self._texts: dict[str, bytes | None] = {}
        self._parsed: dict[tuple[str, str], Any] = {}
        self.looked: dict[str, str] = {}

    def has(self, path: str) -> bool:
        """Whether there is a file."""
        if path not in self._texts:
            found = self._texts[path] = self._content(path) if path.endswith(SUFFIXES) else None
            self.looked[path] = told(found)
        return self._texts[path] is not None

    def text(self, path: str) -> str:
        """What is in a file that is there; nothing where that is no UTF-8."""
        content = self._texts[path] if self.has(path) else None
        return (content or b"").decode("utf-8-sig", "ignore")

    def parsed(self, path: str, form: str) -> Any:
        """What a file says in a form, one of `_READERS`; None where it says nothing, is too long or wrong."""
        key = path, form
        if key not in self._parsed:
            self._parsed[key] = said(self.text(path), form)
        return self._parsed[key]


def said(text: str, form: str) -> Any:
    """What a text says in a form; None where it says nothing, is too long or wrong."""
    return _parsed(text, form) if 0 < len(text) <= _LONGEST else None


def scalar(text: str) -> object:
    """The value that a text stands for in a command line."""
    found = _yaml(text)
    return found if text.strip() in _NONE or isinstance(found, (str, int, float)) else text


def told(content: bytes | None) -> str:
    """What tells a content from others: "" where there is no file."""
    return "" if content is None else digests.digest(content).hex()


def have_changed(looked: Mapping[str, str], content: Content) -> bool:
    """Whether files have other contents than when they were looked at."""
    return any(told(content(path)) != known for path, known in looked.items())


def none(path: str) -> bytes | None:
    """The content of a file where there are none."""
    return None


@record(frozen=True)
class Given:
    """Gives the contents of files that are texts by path."""

    texts: Mapping[str, str]

    def __call__(self, path: str) -> bytes | None:
        """What is in a file, or None."""
        return self.texts[path].encode() if path in self.texts else None


@record(frozen=True)
class OnDisk:
    """Gives the contents of the files in some folders."""

    folders: tuple[str, ...]

    @classmethod
    def of(cls, folders: Iterable[Path]) -> OnDisk:
        """The files in these folders."""
        return cls(tuple(sorted({os.path.realpath(folder) for folder in folders})))

    def __call__(self, path: str) -> bytes | None:
        """What is in a file: nothing where that is too much, None for one that is not there or outside."""
        real = os.path.realpath(path)
        if not any(real.startswith(folder.rstrip(os.sep) + os.sep) for folder in self.folders):
            return None
        try:
            return source.content(Path(real)) if os.path.getsize(real) <= _LONGEST else b""  # noqa: PTH202
        except OSError:
            return None


def _parsed(text: str, form: str) -> Any:
    """What a text says, of plain values, lists and dicts; None where it says too much, or cannot be read."""
    try:
        found = _READERS[form](text)
        return found if _count(found) <= _MOST else None
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError):
        return None


def _yaml(text: str) -> Any:
    import yaml  # few runs have any to read

    try:
        return yaml.load(text, _loader())
    except yaml.YAMLError:
        return None


@cache
def _loader() -> Any:
    """The safe loader, which gives up on mappings that others are merged into again and again."""
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
    """How many values there are in one: no more than is needed to see that these are too many."""
    waiting, count = [value], 0
    while waiting and count <= _MOST:
        found = waiting.pop()
        count += 1
        if isinstance(found, (dict, list)):
            waiting += found.values() if isinstance(found, dict) else found
    return count
