"""The results for the programs of a project, kept for the next run: what no change touches is not followed again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import get_args

from detlint.analyse import Collected, Models
from detlint.cache.cache import Cache, Content
from detlint.documents.documents import have_changed
from detlint.facts.codec import Codec, CodecError
from detlint.facts.packed import is_somewhere
from detlint.finding import Fix, Place, Remedy
from detlint.link.runs.following import Course, Outcome
from detlint.link.runs.kept import Basis, Kept, Key
from detlint.link.state.frames import roomy
from detlint.link.state.spans import Walked
from detlint.listing import Around
from detlint.programs.entries import Entry
from detlint.programs.events import Event, State
from detlint.support.interned import Interned
from detlint.support.records import record

_KIND = "programs"
_FEWEST = 1000  # walks of functions; with fewer, following them again takes as long as reading them
_MOST = 100  # changed files; the results of programs in each are compared


@record(frozen=True, slots=True, eq=False)
class _Name(metaclass=Interned):
    """A function of a file, or a variable that was looked up in one."""

    file: str
    name: str


@record(frozen=True, slots=True, eq=False)
class _Walked(metaclass=Interned):
    function: _Name
    walk: tuple[tuple[int, State], ...] | None


@record(frozen=True)
class _Course:
    """A course, with the key of its start."""

    key: Key
    entry: Entry | None
    end: tuple[str, State] | None
    errors: tuple[str, ...]
    walks: tuple[_Walked, ...]
    asked: tuple[_Name, ...]


@record(frozen=True)
class _Made:
    """The fix made of these files for programs, in folders whose modules have these names; None if there is none."""

    remedies: tuple[Remedy, ...]
    spaces: frozenset[tuple[str, str]]
    files: frozenset[str]
    fix: Fix | None


@record(frozen=True)
class _Document:
    """Courses and fixes, and what they rest on: digests of files, and what identifies configuration files, by path."""

    files: dict[str, str]
    likeness: str
    looked: dict[str, str]
    courses: tuple[_Course, ...]
    fixes: tuple[_Made, ...]


def recalled(
    cache: Cache, contents: Sequence[Content], around: Around, collected: Iterable[Collected], models: Models
) -> Kept:
    """Return the courses of programs of these files when they were last followed; empty if that is unknown.

    `collected` has the current results for the files. `models` gets the fixes made of files that have not changed.
    """
    found = _found(cache, contents, around)
    if found is None or have_changed(found.looked, around.documents):
        return Kept()
    changed = [
        Content(replace(each.item, text=None), bytes.fromhex(found.files[each.item.path]))
        for each in contents
        if found.files[each.item.path] != _hex(each)
    ]
    if len(changed) > _MOST:
        return Kept()
    before = cache.find(changed)
    if len(before) < len(changed):
        return Kept()
    for each in found.fixes:
        if each.files.isdisjoint(before):
            models.kept[each.remedies, each.spaces] = each.files, each.fix
    each_before = (before.get(each.path, each) for each in collected)
    facts = {each.path: each.facts for each in each_before if each.facts is not None}
    return Kept(Basis(facts, found.likeness, found.looked), dict(_unfolded(found.courses)))


def remember(cache: Cache, contents: Sequence[Content], around: Around, kept: Kept, models: Models) -> None:
    """Keep the courses and fixes of programs of these files for the next run, unless it is as fast without them."""
    basis, courses = kept.basis, kept.lasting
    if cache.store is None or basis is None or sum(len(each.walks) for each in courses.values()) < _FEWEST:
        return
    files = {each.item.path: _hex(each) for each in contents}
    fixes = tuple(_Made(remedies, spaces, *made) for (remedies, spaces), made in models.kept.items())
    content = _encoded(_Document(files, basis.likeness, dict(basis.looked), tuple(_folded(courses)), fixes))
    if content is not None:
        cache.store.put({cache.files_key(contents, around, _KIND): content})


def _hex(content: Content) -> str:
    return (content.digest or b"").hex()


def _found(cache: Cache, contents: Sequence[Content], around: Around) -> _Document | None:
    if cache.store is None:
        return None
    key, paths = cache.files_key(contents, around, _KIND), {each.item.path for each in contents}
    try:
        found = _codec().decode(cache.store.get([key])[key], paths=paths)
        valid = found.files.keys() == paths and all(map(bytes.fromhex, found.files.values()))
    except (KeyError, ValueError, CodecError):
        return None
    return found if valid else None


@roomy
def _encoded(document: _Document) -> bytes | None:
    try:
        return _codec().encode(document)
    except CodecError:
        return None


def _folded(courses: Mapping[Key, Course]) -> Iterator[_Course]:
    for key, course in courses.items():
        walks = tuple(_Walked(_Name(*name), walk) for name, walk in course.walks)
        asked = tuple(_Name(*each) for each in sorted(course.asked))
        outcome = course.outcome
        yield _Course(key, outcome.entry, outcome.end, tuple(outcome.errors), walks, asked)


def _unfolded(courses: Iterable[_Course]) -> Iterator[tuple[Key, Course]]:
    known: dict[_Walked, Walked] = {}  # walks are told apart by identity, too
    names: dict[_Name, tuple[str, str]] = {}

    def named(name: _Name) -> tuple[str, str]:
        return names.setdefault(name, (name.file, name.name))

    for each in courses:
        walks = tuple(known.get(one) or known.setdefault(one, (named(one.function), one.walk)) for one in each.walks)
        outcome = Outcome(each.entry, each.end, errors=list(each.errors))
        yield each.key, Course(outcome, walks, frozenset(map(named, each.asked)), frozenset())


@cache
def _codec() -> Codec[_Document]:
    return Codec(_Document, {Place: is_somewhere}, shared=frozenset((*get_args(Event), State, _Name, _Walked)))
