"""Where memory that one file leaves as it was is read in the project, and whether anything may write to it before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from detlint.facts.touches import ALLOCATES, FILLS, HANDS, LOADS, OPEN, READS, Touch
from detlint.finding import Place
from detlint.link.state.program import Program
from detlint.project.families import Families
from detlint.questions import Carrier, Unfilled

_MOST = 200  # carriers that are looked at for a question
_MAKES = "__init__"


class FilledError(Exception):
    """Something may write to the memory."""


class Memories:
    """Follows memory through the touches of all files of a project."""

    def __init__(self, program: Program, families: Families, shares: Callable[[str, str, bool], bool]) -> None:
        """`shares` tells of two files whether one loads the other or, where that is asked too, a third one both."""
        self.program = program
        self.families = families
        self.names = families.names
        self.shares = shares

    def read(self, question: Unfilled, is_trained: Callable[[str], bool]) -> tuple[Place, ...]:
        """The first read of memory, with the places on the way there before it; none where something may fill it.

        `is_trained` tells of a class whether a program trains it without loading what it holds.
        """
        search = _Search(self, question)
        try:
            found = search.reads(*self.same(question.carrier, question.path))
        except FilledError:
            return ()
        if not found or (search.loaded and not (search.forgotten or is_trained(search.owner))):
            return ()
        return min(found, key=lambda way: (len(way), way))

    def same(self, carrier: Carrier, path: str) -> tuple[Carrier, str]:
        """A carrier by the name that it has where it is defined, and the file that it is of."""
        name = self.names.defined(carrier.name, path) if carrier.name else ""
        part = carrier.part
        if carrier.kind == "parameter":
            name = self.families.constructor(name)
            part = self.families.parameter(name, part)
        return Carrier(carrier.kind, name, part), path

    def of(self, carrier: Carrier) -> list[tuple[str, Touch]]:
        """The touches of a carrier, with the files that they are in."""
        every = self._by_word.get((carrier.kind, carrier.part or carrier.name.rpartition(".")[2]), ())
        return [(path, touch) for path, touch in every if self.same(touch.carrier, path)[0] == carrier]

    def of_attribute(self, name: str) -> list[tuple[str, Touch]]:
        """The touches of attributes of a name, with the files that they are in."""
        return self._by_word.get(("attribute", name), [])

    def sweeps(self) -> list[tuple[str, Touch]]:
        """What may fill all that objects hold, with the files that do."""
        return self._sweeps

    def is_open(self, name: str) -> bool:
        """Whether a class is not known with all its bases."""
        return name in self._open or any(base not in self._classes for base in self.families.bases.get(name, ()))

    def is_own(self, name: str, path: str) -> bool:
        """Whether what a file calls by a name is a function or a class of the project."""
        defined = self.names.defined(name, path)
        return defined in self.families.functions or defined in self.families.classes

    def is_called(self, family: Iterable[str], method: str) -> bool:
        """Whether something may call a method of objects of some classes without giving it anything."""
        owners = self._called.get(method, set())
        return "" in owners or not owners.isdisjoint(family)

    def needs(self, family: Iterable[str], method: str) -> bool:
        """Whether a method of one of these classes has to be given something."""
        return any(f"{each}.{method}" in self._needing for each in family)

    @cached_property
    def _classes(self) -> frozenset[str]:
        return self.families.classes

    @cached_property
    def _by_word(self) -> dict[tuple[str, str], list[tuple[str, Touch]]]:
        """Touches by the kind of their carrier and the last word by which it is called."""
        found: dict[tuple[str, str], list[tuple[str, Touch]]] = defaultdict(list)
        for path, touch in self._every():
            carrier = touch.carrier
            if carrier.kind not in ("class", "held"):
                found[carrier.kind, carrier.part or carrier.name.rpartition(".")[2]].append((path, touch))
        return found

    def _every(self) -> Iterator[tuple[str, Touch]]:
        for path, facts in self.program.facts.items():
            for touch in facts.memory.touches:
                yield path, touch

    @cached_property
    def _sweeps(self) -> list[tuple[str, Touch]]:
        every = ((path, touch) for path, touch in self._every() if touch.carrier.kind in ("class", "held"))
        return [(path, touch) for path, touch in every if touch.kind != OPEN]

    @cached_property
    def allocated(self) -> frozenset[tuple[str, str]]:
        """The classes and attributes that are made to hold memory as it is."""
        made = (each for each in self._every() if each[1].kind == ALLOCATES)
        return frozenset((self.names.defined(t.carrier.name, path), t.carrier.part) for path, t in made)

    @cached_property
    def _open(self) -> frozenset[str]:
        return frozenset(touch.carrier.name for _, touch in self._every() if touch.kind == OPEN)

    @cached_property
    def _called(self) -> dict[str, set[str]]:
        """The classes of the objects of which each method is called, "" where these may be any."""
        found: dict[str, set[str]] = defaultdict(set)
        for path, facts in self.program.facts.items():
            for each in facts.memory.called.split("/") if facts.memory.called else ():
                owner, _, method = each.partition(":")
                found[method].add(self.names.defined(owner, path) if owner else "")
        return found

    @cached_property
    def _needing(self) -> frozenset[str]:
        return frozenset(name for facts in self.program.facts.values() for name in facts.memory.needing.split("/"))


class _Search:
    """What a question comes to: `loaded` where a checkpoint may hold the memory, of objects of the class `owner`.

    It is `forgotten` where what is to fill it is there and never runs, or the class fills other memory itself.
    """

    def __init__(self, memories: Memories, question: Unfilled) -> None:
        self.memories = memories
        self.kept = question.kept
        self.loaded = False
        self.forgotten = False
        self.owner = ""
        self._seen: set[Carrier] = set()
        self._kept_at = {question.at}

    def reads(self, carrier: Carrier, path: str) -> list[tuple[Place, ...]]:
        """The ways to reads of what a carrier holds. Raises FilledError where something may write to it."""
        if carrier in self._seen or len(self._seen) > _MOST:
            return []
        self._seen.add(carrier)
        if carrier.kind == "attribute":
            return self._attribute(carrier, path)
        touches = self.memories.of(carrier)
        if carrier.kind == "parameter" and not touches:
            raise FilledError
        if carrier.kind == "result":
            return self._results(touches)
        found: list[tuple[Place, ...]] = []
        for file, touch in touches:
            found += self._followed(file, touch)
        return found

    def _results(self, touches: list[tuple[str, Touch]]) -> list[tuple[Place, ...]]:
        """The ways to reads of what a function gives: each call of it has memory of its own."""
        found: list[tuple[Place, ...]] = []
        for file, touch in touches:
            try:
                found += self._followed(file, touch)
            except FilledError:
                continue
        return found

    def _followed(self, file: str, touch: Touch) -> list[tuple[Place, ...]]:
        if touch.kind in (FILLS, LOADS) or (touch.kind == HANDS and touch.to is None):
            raise FilledError
        if touch.place is None:
            return []
        if touch.kind == READS:
            return [(touch.place,)]
        assert touch.to is not None
        self._kept_at.add(touch.place)
        return [(touch.place, *way) for way in self.reads(*self.memories.same(touch.to, file))]

    def _attribute(self, carrier: Carrier, path: str) -> list[tuple[Place, ...]]:
        memories = self.memories
        family = memories.families.family(carrier.name)
        if any(map(memories.is_open, family)):
            raise FilledError
        self.owner = self.owner or carrier.name
        self._swept(set(family), path)
        found: list[tuple[Place, ...]] = []
        for file, touch in memories.of_attribute(carrier.part):
            owner = memories.names.defined(touch.carrier.name, file) if touch.carrier.name else ""
            if (owner and owner not in family) or not memories.shares(file, path, True):
                continue
            if touch.place is not None and touch.kind == FILLS and touch.place in self._kept_at:
                continue  # where this memory is put there
            if touch.kind == LOADS:
                self.loaded = True
            elif touch.kind == FILLS and self._is_idle(family, touch.within):
                self.forgotten = True
            elif touch.kind == HANDS and touch.to is None and self.kept == "parameter" and touch.within != _MAKES:
                continue  # a leaf that takes gradients is not written to by what is computed with it
            elif touch.kind == HANDS and touch.to is not None and touch.to.kind == "result":
                raise FilledError  # whoever gets it may write to it
            else:
                found += self._followed(file, touch)
        self.forgotten = self.forgotten or self._fills_others(family, carrier.part)
        return found

    def _is_idle(self, family: list[str], method: str) -> bool:
        """Whether a method of a module that needs nothing is called by nobody."""
        if not self.kept or not method or (method.startswith("__") and method.endswith("__")) or method == "forward":
            return False
        return not self.memories.is_called(family, method) and not self.memories.needs(family, method)

    def _fills_others(self, family: list[str], name: str) -> bool:
        """Whether a class fills memory that other attributes of its objects hold."""
        memories = self.memories
        others = {part for owner, part in memories.allocated if owner in family}
        for other in others - {name}:
            for file, touch in memories.of_attribute(other):
                own = touch.within and memories.names.defined(touch.carrier.name, file) in family
                if own and touch.kind == FILLS and not self._is_idle(family, touch.within):
                    return True
        return False

    def _swept(self, family: set[str], path: str) -> None:
        """Look at what fills objects without naming what they hold."""
        for file, touch in self.memories.sweeps():
            owner = self.memories.names.defined(touch.carrier.name, file) if touch.carrier.name else ""
            if touch.carrier.part == "weights" and not self.kept:
                continue  # a walk over parameters gives no other values
            own = owner in family
            if (touch.carrier.kind == "held") if own else (touch.carrier.part == "own"):
                continue
            if touch.to is not None and self.memories.is_own(touch.to.name, file):
                continue
            if own or self.memories.shares(file, path, not owner):
                if touch.kind == LOADS:
                    self.loaded = self.loaded or bool(self.kept)
                elif touch.kind == FILLS:
                    raise FilledError
