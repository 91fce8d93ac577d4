"""The outcomes of a project's programs, kept for later runs: those that changed files do not affect are reused.

A program has the same outcome if, of each changed file that it runs, the part that it reaches is as it was, perhaps on
other lines. Its outcome is then moved to these lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from detlint.facts import signatures
from detlint.facts.facts import Facts
from detlint.facts.packed import head
from detlint.facts.reach import Reached, Words, reached_part, words
from detlint.facts.touches import Memory
from detlint.finding import Place
from detlint.link.runs.moving import Moves, NotMovedError
from detlint.link.runs.starts import Start
from detlint.link.state.program import METHODS, Program
from detlint.support import digests

if TYPE_CHECKING:
    from detlint.link.runs.following import Course

_NONE: Mapping[Any, Any] = {}

Key: TypeAlias = tuple[str, str, str, str, str, str, bool]
_Moved = tuple[Mapping[Place, Place], Mapping[int, int]]


@dataclass(slots=True)
class Basis:
    """The basis of courses: the facts of files by path, and the `likeness` of all of them together.

    `looked` has what identifies the contents of documents that were asked for, by path, and `derived` what was made
    from single files.
    """

    facts: Mapping[str, Facts]
    likeness: str
    looked: Mapping[str, str]
    derived: Mapping[str, dict[str, Any]] = field(default_factory=dict)


class Kept:
    """The courses of programs from the last time they were followed. A project that is linked again passes it on."""

    def __init__(self, basis: Basis | None = None, courses: Mapping[Key, Course] = _NONE) -> None:
        """Begin with the `courses` of an earlier run, if any, by the keys of their starts."""
        self.followed = 0  # programs that were followed the last time
        self.basis = basis
        self._courses = courses

    @property
    def lasting(self) -> dict[Key, Course]:
        """The courses that involve no objects: processes are identified by what objects hold."""
        return {key: each for key, each in self._courses.items() if not (each.outcome.processes or each.spared)}

    def courses(self, program: Program, starts: Sequence[Start]) -> dict[Start, Course]:
        """Return the courses unchanged by these files, unless other processes are spared, by their starts now."""
        old = self.basis
        if old is None or old.likeness != _likeness(program):
            return {}
        same = {path for path, facts in program.facts.items() if facts is old.facts[path]}
        program.derived.update((path, made) for path, made in old.derived.items() if path in same)
        own = words(program.facts)
        changed = [
            _Change(before, now, own)
            for path, now in program.facts.items()
            if (before := old.facts[path]) is not now and before != now
        ]
        methods = frozenset(name for change in changed for name in change.methods)
        found: dict[Start, Course] = {}
        for start in starts:
            course = self._courses.get(_key(start))
            moved = None if course is None else _now(course, changed, methods)
            if moved is not None:
                found[start] = moved
        if found:  # it is unknown which of them looked for a document
            program.documents.looked.update(old.looked)
        lost = {start.path for start in starts if start not in found}  # programs of one file depend on each other
        return {start: course for start, course in found.items() if start.path not in lost}

    def keep(self, program: Program, courses: Mapping[Start, Course], followed: int) -> None:
        """Keep the courses that were followed, or were known."""
        self.basis = Basis(program.facts, _likeness(program), program.documents.looked, program.derived)
        self.followed = followed
        self._courses = {_key(start): course for start, course in courses.items()}


def _key(start: Start) -> Key:
    """Return what identifies a start, independent of its line."""
    return start.path, start.kind, start.script, start.name, start.function, start.target, start.self_check


def _likeness(program: Program) -> str:
    """Return a digest of what programs learn from all files together."""
    told = [*program.facts], sorted(program.imports.paths), sorted(program.own.items()), program.registered
    return digests.digest(repr(told).encode("utf-8", "surrogatepass")).hex()


class _Change:
    """The change of one file between two runs."""

    def __init__(self, old: Facts, new: Facts, own: Words) -> None:
        self.path = old.path
        self.methods = {name for name, _ in (Counter(_methods(old)) - Counter(_methods(new))).items()}
        self.methods |= {name for name, _ in (Counter(_methods(new)) - Counter(_methods(old))).items()}
        self._old, self._new, self._own = old, new, own
        self._known: dict[Reached, _Moved | None] = {}

    def moves(self, reached: Reached) -> _Moved | None:
        """Return the moves of the part of the file that is reached; None if that part has changed."""
        if reached not in self._known:
            old, new = (_followed(reached_part(each, reached, self._own)) for each in (self._old, self._new))
            if old == new:
                self._known[reached] = {}, {}
            elif signatures.signature(old, ()) != signatures.signature(new, ()):
                self._known[reached] = None
            else:
                self._known[reached] = signatures.moves(old, new)
        return self._known[reached]


def _followed(facts: Facts) -> Facts:
    """Return the facts of a file without those that only the project needs, once all programs have been followed."""
    return replace(facts, flows=(), convolving=(), memory=Memory(), draws=())


def _methods(facts: Facts) -> Iterator[str]:
    for qualified in facts.functions:
        if head(facts.functions, qualified).kind == "method":
            yield qualified.rpartition(".")[2].partition(":")[0]


def _now(course: Course, changed: Iterable[_Change], methods: frozenset[str]) -> Course | None:
    """Return a course, moved to the current lines of its files; None if its program has to be followed again."""
    if not methods.isdisjoint(name for path, name in course.asked if path == METHODS):
        return None
    places: dict[Place, Place] = {}
    orders: dict[str, Mapping[int, int]] = {}
    for change in changed:
        functions = {qualified for (path, qualified), _ in course.walks if path == change.path}
        names = {name for path, name in course.asked if path == change.path}
        if functions or names:
            found = change.moves(Reached.of(names, functions))
            if found is None:
                return None
            if found[0]:
                places |= found[0]
                orders[change.path] = found[1]
    if not orders:
        return course
    return _moved(course, Moves(places, orders))


def _moved(course: Course, moves: Moves) -> Course | None:
    outcome = course.outcome
    if outcome.processes or course.spared:  # identified by values that have orders in them
        return None
    try:
        entry = outcome.entry and moves.entry(outcome.entry)
        walks = tuple(map(moves.walked, course.walks))
    except NotMovedError:
        return None
    return replace(course, outcome=replace(outcome, entry=entry), walks=walks)
