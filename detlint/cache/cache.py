"""The results of earlier runs for files and for whole projects, found again by the contents of the files.

A file's key covers everything that its analysis depends on: its content, its name and its module's, the version of
PyTorch, detlint and its tables, what settings add to these, the parser and Python. The results of all rules are kept,
no matter which ones a run selects, so that runs with other settings share them. The results for a project are kept in
the same way, under the contents of all its files.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from packaging.version import Version

from detlint import catalogue as catalogues
from detlint.analyse import Collected, Source
from detlint.cache.store import Store
from detlint.catalogue import CatalogueError, Rule
from detlint.config import Config, ConfigError
from detlint.documents.documents import have_changed
from detlint.editing.vendoring import FILE as RUNTIME
from detlint.facts.codec import Codec, CodecError
from detlint.facts.packed import Outline, PackedFunctions, is_somewhere, packed, unfolded
from detlint.finding import Finding, Place
from detlint.listing import Around
from detlint.registered import in_force
from detlint.report import Answered, Judged
from detlint.sources import source
from detlint.sources.suppressions import KINDS, Suppression, Suppressions
from detlint.support import digests
from detlint.support.records import record

T = TypeVar("T")
_SETTLES = 2 * 10**9  # nanoseconds within which a file may change twice and keep its time
_BATCH = 64  # results that are read or written at once
_HELD = 2 * 2**20  # bytes of texts, read for their digests, that are held; others are read again for their analysis


@record(frozen=True)
class Content:
    """A file, with its text if that was read, and the digest of its content; None if it cannot be read."""

    item: Source
    digest: bytes | None


class Cache:
    """The cache of a run, for one version of PyTorch. Without a folder it finds and keeps nothing."""

    def __init__(self, folder: Path | None, torch: Version) -> None:
        self.store = None if folder is None else Store(folder)
        self._torch = torch
        self._waiting: dict[bytes, bytes] = {}
        self._known: dict[str, tuple[str, bytes]] = {}
        self._held = 0  # bytes of texts

    def __bool__(self) -> bool:
        """Return whether there is a folder."""
        return self.store is not None

    def read(self, items: Iterable[Source]) -> list[Content]:
        """Return the files with their digests; only those that changed since they were last read are read."""
        if self.store is not None and not self._known:
            self._known = self.store.files()
        news: dict[str, tuple[str, bytes]] = {}
        contents = [self._content(item, news) for item in items]
        self._known |= news
        if self.store is not None:
            self.store.put_files(news)
        return contents

    def _content(self, item: Source, news: dict[str, tuple[str, bytes]]) -> Content:
        if item.text is not None:
            return Content(item, _digest_of_text(item.text))
        path = os.path.abspath(item.path)  # noqa: PTH100 - thousands of files: pathlib takes ten times as long
        now = time.time_ns()
        try:
            status = os.stat(path)  # noqa: PTH116
            stamp = f"{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_size}:{status.st_ino}"
            known, digest = self._known.get(path, ("", b""))
            if known == stamp:
                return Content(item, digest)
            content = source.content(Path(path))
        except OSError:
            return Content(item, None)
        digest = digests.digest(content)
        if max(status.st_mtime_ns, status.st_ctime_ns) < now - _SETTLES:
            news[path] = stamp, digest
        self._held += len(content)
        return Content(replace(item, text=content) if self._held <= _HELD else item, digest)

    def missing(self, contents: Iterable[Content]) -> int:
        """Return for how many of the files the results of all rules are not known."""
        keys = [self._key(each) for each in contents]
        return len(keys) - len(self.store.has(key for key in keys if key is not None)) if self.store else len(keys)

    def find(self, contents: Iterable[Content]) -> dict[str, Collected]:
        """Return the known results of all rules for files, by path; with facts that take little room."""
        if self.store is None:
            return {}
        keys = {each.item.path: key for each in contents if (key := self._key(each)) is not None}
        found = {}
        rest = iter(keys.items())
        while some := list(islice(rest, _BATCH)):
            values = self.store.get(key for _, key in some)
            for path, key in some:
                try:
                    found[path] = decoded(values[key], path)
                except (KeyError, CodecError):
                    continue
        return found

    def keep(self, content: Content, collected: Collected, document: bytes | None = None) -> None:
        """Keep the results of all rules for a file, as `encoded` returns them; they are written by `flush`."""
        key = self._key(content)
        if key is not None and collected.lasting and not isinstance(content.item.text, str):  # unsaved: it soon changes
            document = document or encoded(collected)
            if document is None:
                return
            self._waiting[key] = document
            if len(self._waiting) >= _BATCH:
                self.flush()

    def flush(self) -> None:
        """Write the results that wait to be kept."""
        if self.store is not None:
            self.store.put(self._waiting)
        self._waiting = {}

    def _key(self, content: Content) -> bytes | None:
        if content.digest is None or self.store is None:
            return None
        name = PurePosixPath(content.item.path).name  # rules look at no more of the path
        return _key("file", tool(), str(self._torch), name, content.item.name, content.digest.hex())

    def answer_key(self, contents: Iterable[Content], around: Around) -> bytes | None:
        """Return the key of the results for a project of these files; None if one is missing or a text is unsaved."""
        digests = []
        for each in contents:
            if self.store is None or each.digest is None or isinstance(each.item.text, str):
                return None
            digests.append((each.item.path, each.item.name, each.digest))
        return _key("project", tool(), str(self._torch), repr((sorted(digests), *self._beside(around))))

    def files_key(self, contents: Iterable[Content], around: Around, kind: str) -> bytes:
        """Return the key of the last results of a `kind` for a project of these files, regardless of their contents."""
        names = sorted((each.item.path, each.item.name) for each in contents)
        return _key(kind, tool(), str(self._torch), repr((names, *self._beside(around))))

    def _beside(self, around: Around) -> tuple[object, ...]:
        """Return what a project depends on besides its files."""
        copies = sorted(path for path in around.unread if PurePosixPath(path).name == RUNTIME)
        beside = [(each.item.path, each.digest) for each in self.read(Source(path, "") for path in copies)]
        settings = around.vendored, around.runtime, around.installable, around.whole
        return beside, around.commands, sorted(around.unread), settings

    def answered(self, key: bytes | None, contents: Iterable[Content], around: Around) -> Answered | None:
        """Return the results kept for a project under a key; None if its configuration files have changed."""
        if self.store is None or key is None:
            return None
        paths = {each.item.path for each in contents}
        try:
            found = _projects().decode(self.store.get([key])[key], paths=paths)
        except (KeyError, CodecError):
            return None
        current = found.suppressions.keys() == paths and not have_changed(found.documents, around.documents)
        return found if current else None

    def before(self, contents: Sequence[Content], around: Around) -> tuple[Answered, list[Content]] | None:
        """Return the last results for a project of these files, and the files that had other contents then; or None."""
        if self.store is None:
            return None
        last = self.files_key(contents, around, "before")
        try:
            known: dict[str, str] = dict(json.loads(self.store.get([last])[last]))
            key = bytes.fromhex(known.pop(""))
            pairs = [(each, bytes.fromhex(known[each.item.path])) for each in contents]
        except (ValueError, LookupError, TypeError, RecursionError):
            return None
        answered = self.answered(key, contents, around)
        changed = [Content(replace(each.item, text=None), old) for each, old in pairs if old != each.digest]
        return None if answered is None else (answered, changed)

    def keep_answered(self, key: bytes | None, contents: Sequence[Content], around: Around, answered: Answered) -> None:
        """Keep the results for a project of these files under a key, unless the files have changed meanwhile."""
        unread = [each for each in contents if each.item.text is None]
        same = all(
            now.digest == each.digest for now, each in zip(self.read(e.item for e in unread), unread, strict=True)
        )
        if self.store is not None and key is not None and same:
            digests = [(each.item.path, (each.digest or b"").hex()) for each in contents]
            state = json.dumps([("", key.hex()), *digests]).encode()
            try:
                self.store.put({key: _projects().encode(answered), self.files_key(contents, around, "before"): state})
            except CodecError:
                return

    def note_whole(self) -> None:
        """Record that the project was analysed as a whole."""
        if self.store is not None and not self.is_whole():
            self.store.put({self._whole(): b""})

    def is_whole(self) -> bool:
        """Return whether the project was ever analysed as a whole, by this detlint and for this version of PyTorch."""
        return self.store is not None and bool(self.store.get([self._whole()]))

    def _whole(self) -> bytes:
        return _key("whole", tool(), str(self._torch))


def tool() -> str:
    """Return what identifies this detlint, with what is registered, its parser and its Python."""
    rows = in_force()
    return _key(_tool(), rows).hex() if rows else _tool()


@cache
def _tool() -> str:
    """Return the same without what is registered.

    In a source tree, any change of a file makes it a different one; an installation has a record of its files.
    """
    parser = find_spec("libcst")
    beside = Path(parser.origin).parent if parser is not None and parser.origin else None
    own, rules = Path(__file__).parent.parent, catalogues.folder()
    parts = [repr(sys.version_info), sys.implementation.name, _stamp(beside / "_version.py") if beside else ""]
    written = next(own.parent.glob("detlint-*.dist-info/RECORD"), None) if rules.parent == own else None
    if written is not None:
        parts.append(written.read_text(encoding="utf-8"))
    else:
        files = sorted([*own.rglob("*.py"), *rules.rglob("*.md"), *rules.rglob("*.toml")])
        parts += [f"{path.name} {_stamp(path)}" for path in files]
    return _key(*parts).hex()


def loaded(item: Source) -> Content:
    """Return a file with its text and the text's digest: it may have changed since its time was read."""
    if item.text is not None:
        return Content(item, _digest_of_text(item.text))
    try:
        text = source.content(Path(item.path))
    except OSError:
        return Content(item, None)
    return Content(replace(item, text=text), digests.digest(text))


def small(collected: Collected) -> Collected:
    """Return the results for a file with facts that take little room. Raises RecursionError and CodecError."""
    return collected if collected.facts is None else replace(collected, facts=packed(collected.facts))


def _can_be_shown(finding: Finding) -> bool:
    """Return whether a finding belongs to a rule, and has the details that the rule's page needs."""
    try:
        rule = catalogues.load().rules[finding.code]
        return bool(rule.why.format(**finding.details) and rule.help.format(**finding.details))
    except (AttributeError, LookupError, ValueError):
        return False


_CHECKS: Mapping[type, Callable[[Any], bool]] = {
    Finding: _can_be_shown,
    Judged: lambda judged: judged.rule.code == judged.finding.code,
    Place: is_somewhere,
    Suppression: lambda each: each.kind in KINDS,
}


def uncached_where_it_fails(run: Callable[[Config], T], config: Config) -> T:
    """Return the result of a run with these settings; if it fails with a cache, its result without one.

    What is read from the cache has the right types, but need not make sense: somebody else may have put it there.
    """
    try:
        return run(config)
    except (ConfigError, CatalogueError, OSError):
        raise
    except Exception:
        if config.cache_dir is None:
            raise
        return run(replace(config, cache_dir=None))


def _stamp(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_mtime_ns}:{status.st_size}"


def _key(*parts: str) -> bytes:
    return digests.digest(repr(parts).encode("utf-8", "backslashreplace"))


def _digest_of_text(text: str | bytes) -> bytes:
    """Return the digest of a text that is not on disk: that of a file with this text, if one decodes to it."""
    if isinstance(text, bytes):
        return digests.digest(text)
    content = text.encode("utf-8", "surrogatepass")
    try:
        same = source.decode(content) == text
    except source.UnreadableError:
        same = False
    return digests.digest(content if same else b"\0" + content)


@record(frozen=True)
class _Kept:
    """The results for a file, except for the statements of its facts."""

    path: str
    facts: Outline | None
    findings: tuple[Finding, ...]
    suppressions: Suppressions
    lasting: bool


def encoded(collected: Collected) -> bytes | None:
    """Return the document of the results for a file, as `small` gives them; None if they cannot be kept.

    It is one line, read wherever the file is known, and the bytes of its statements, read where they are needed.
    """
    outline, content = None, b""
    if collected.facts is not None:
        functions = collected.facts.functions
        assert isinstance(functions, PackedFunctions)
        outline, content = functions.body.outline, functions.body.content
    kept = _Kept(collected.path, outline, collected.findings, collected.suppressions, collected.lasting)
    try:
        return _files().encode(kept) + b"\n" + content
    except CodecError:
        return None


def decoded(document: bytes, path: str) -> Collected:
    """Return the results for a file, as `small` gives them, from their document. Raises CodecError."""
    line, _, content = document.partition(b"\n")
    kept = _files().decode(line, path)
    facts = None if kept.facts is None else unfolded(kept.facts, content)
    return Collected(kept.path, facts, kept.findings, kept.suppressions, kept.lasting)


@cache
def _files() -> Codec[_Kept]:
    return Codec(_Kept, _CHECKS)


@cache
def _projects() -> Codec[Answered]:
    rules = catalogues.load().rules
    return Codec(Answered, _CHECKS, {Rule: (lambda rule: rule.code, rules.__getitem__)})
