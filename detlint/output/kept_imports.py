"""The edits by which fixes add imports, kept in a project's cache, as finding them requires parsing a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from detlint.cache.cache import tool
from detlint.cache.remembered import stamp
from detlint.cache.store import Store
from detlint.facts.codec import Codec, CodecError
from detlint.finding import Edit, Import, Place
from detlint.sources.source import content, module_name
from detlint.support.records import record

Imported = Callable[[Import, Place], "tuple[Edit, ...] | None"]


@record(frozen=True)
class _Written:
    """The edits that import what is needed before a place; not `possible` if no edits do."""

    need: Import
    before: Place
    possible: bool
    edits: tuple[Edit, ...]


@record(frozen=True)
class _Head:
    """What is known of a file with this content and this dotted name."""

    path: str
    digest: str
    module: str
    written: tuple[_Written, ...]


@record(frozen=True)
class _Heads:
    """What is known of the files of a run."""

    heads: tuple[_Head, ...]


class KeptImports:
    """The edits for imports in some files: the cached ones, else those that `imported` finds."""

    def __init__(self, folder: Path, paths: Iterable[str], imported: Imported) -> None:
        """Create the store; `folder` is that of the cache."""
        self._store = Store(folder)
        self._paths = frozenset(paths)
        self._imported = imported
        self._key = sha256(repr(("imports", tool(), os.getcwd())).encode("utf-8", "backslashreplace")).digest()  # noqa: PTH109
        self._states: dict[str, tuple[str, str]] = {}
        self._used: dict[str, dict[tuple[Import, Place], tuple[Edit, ...] | None]] = {}
        self._news = False

    def __call__(self, need: Import, before: Place) -> tuple[Edit, ...] | None:
        """Return the edits that import `need` before `before`, or None if that is impossible."""
        used = self._used.setdefault(need.path, {})
        if (need, before) not in used:
            known = self._kept.get((need.path, *self._state(need.path)), {})
            if (need, before) in known:
                used[need, before] = known[need, before]
            else:
                used[need, before] = self._imported(need, before)
                self._news = True
        return used[need, before]

    def keep(self) -> None:
        """Store what was asked for, if any of it was new."""
        heads = tuple(
            _Head(
                path, *self._state(path), tuple(_Written(*asked, e is not None, e or ()) for asked, e in used.items())
            )
            for path, used in self._used.items()
        )
        if self._news:
            try:
                self._store.put({self._key: _CODEC.encode(_Heads(heads))})
            except CodecError:
                return

    @cached_property
    def _kept(self) -> dict[tuple[str, str, str], dict[tuple[Import, Place], tuple[Edit, ...] | None]]:
        try:
            heads = _CODEC.decode(self._store.get([self._key])[self._key], paths=self._paths).heads
        except (KeyError, CodecError):
            return {}
        return {
            (head.path, head.digest, head.module): {
                (each.need, each.before): each.edits if each.possible else None for each in head.written
            }
            for head in heads
        }

    def _state(self, path: str) -> tuple[str, str]:
        """Return what the imports of a file depend on: the digest of its content, and its dotted name."""
        if path not in self._states:
            whole = os.path.abspath(path)  # noqa: PTH100 - as the cache names files
            known, digest = self._files.get(whole, ("", b""))
            if known != stamp(whole):
                try:
                    digest = sha256(content(Path(path))).digest()
                except OSError:
                    digest = b""
            self._states[path] = digest.hex(), module_name(Path(path))
        return self._states[path]

    @cached_property
    def _files(self) -> dict[str, tuple[str, bytes]]:
        return self._store.files()


_CODEC = Codec(_Heads)
