"""Where the project reads memory that one file leaves uninitialised, and whether anything may write to it first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from detlint.facts.packed import mentioned
from detlint.facts.touches import ALLOCATES, FILLS, HANDS, LOADS, OPEN, OTHERS, READS, Touch
from detlint.finding import Place
from detlint.link.state.program import Program
from detlint.programs.entries import Entry
from detlint.programs.events import Marked
from detlint.project.families import Families
from detlint.questions import Carrier, Unfilled
from detlint.sources.source import is_test

_MOST = 200  # the most carriers examined for one question
_MAKES = "__init__"
_SWEPT = ("class", "held", "given")  # what is filled without being named


def always_restores(entry: Entry) -> bool:
    """Return whether a program loads weights before it trains, whatever it finds: a checkpoint of an earlier run."""
    marks = entry.of(Marked)
    trained = [number for number, met in enumerate(marks) if met.event.kind == "trains"]
    before = (met for met in marks[: trained[-1] if trained else None] if met.event.kind == "restores")
    return entry.restores and any(not (met.guarded or met.arms or met.sides) for met in before)


class FilledError(Exception):
    """Raised where something may write to the memory."""


class Memories:
    """Memory, followed through the touches of all files of a project."""

    def __init__(self, program: Program, families: Families, shares: Callable[[str, str, bool], bool]) -> None:
        """Take `shares(one, other, loosely)`: whether one file loads the other or, if `loosely`, a third loads both."""
        self.program = program
        self.families = families
        self.names = families.names
        self.shares = shares

    def read(self, question: Unfilled, is_trained: Callable[[str], bool]) -> tuple[Place, ...]:
        """Return the shortest path of places to a read of memory, the read last; empty if something may fill the
        memory.

        It is also empty if nothing reads it, or if a checkpoint may hold it and is loaded. `is_trained` says whether a
        program trains a given class without loading what it holds. Of a class that no program makes, users may train
        objects, if it gives its other weights values.
        """
        if question.emptied and not self._is_emptied(question):
            return ()
        search = _Search(self, question)
        try:
            found = search.reads(*self.same(question.carrier, question.path))
        except FilledError:
            return ()
        lent = question.self_made and not self._is_made(search.owner)
        if not found or (search.loaded and not (search.forgotten or lent or is_trained(search.owner))):
            return ()
        return min(found, key=lambda way: (len(way), way))

    def _is_made(self, klass: str) -> bool:
        """Return whether a program makes an object of a class."""
        name = f"{klass}.__init__"
        return bool(self.program.walks.get((self.families.functions.get(name, ""), name)))

    def same(self, carrier: Carrier, path: str) -> tuple[Carrier, str]:
        """Return a carrier under the qualified name of its definition, and the file that it belongs to."""
        name = self.names.defined(carrier.name, path) if carrier.name else ""
        part = carrier.part
        if carrier.kind == "parameter":
            name = self.families.constructor(name)
            part = self.families.parameter(name, part)
        return Carrier(carrier.kind, name, part), path

    def of(self, carrier: Carrier) -> list[tuple[str, Touch]]:
        """Return the touches of a carrier, with the files that contain them."""
        every = self._by_word.get((carrier.kind, carrier.part or carrier.name.rpartition(".")[2]), ())
        return [(path, touch) for path, touch in every if self.same(touch.carrier, path)[0] == carrier]

    def of_attribute(self, name: str) -> list[tuple[str, Touch]]:
        """Return the touches of attributes with a given name, with the files that contain them."""
        return self._by_word.get(("attribute", name), [])

    def sweeps(self) -> list[tuple[str, Touch]]:
        """Return the touches that may fill or load all that objects hold, with the files that contain them."""
        return self._sweeps

    def is_open(self, name: str) -> bool:
        """Return whether some base of a class is unknown."""
        return name in self._open or any(base not in self._classes for base in self.families.bases.get(name, ()))

    def is_own(self, name: str, path: str) -> bool:
        """Return whether a name that a file uses is a function or a class of the project."""
        defined = self.names.defined(name, path)
        return defined in self.families.functions or defined in self.families.classes

    def is_called(self, family: Iterable[str], method: str) -> bool:
        """Return whether something may call a method without arguments on objects of some classes."""
        owners = self._called.get(method, set())
        return "" in owners or not owners.isdisjoint(family)

    def needs(self, family: Iterable[str], method: str) -> bool:
        """Return whether a method of one of these classes requires an argument."""
        return any(f"{each}.{method}" in self._needing for each in family)

    @cached_property
    def _classes(self) -> frozenset[str]:
        return self.families.classes

    @cached_property
    def _by_word(self) -> dict[tuple[str, str], list[tuple[str, Touch]]]:
        """Touches by the kind of their carrier and its part, or else the last component of its name."""
        found: dict[tuple[str, str], list[tuple[str, Touch]]] = defaultdict(list)
        for path, touch in self._every():
            carrier = touch.carrier
            if carrier.kind not in _SWEPT:
                found[carrier.kind, carrier.part or carrier.name.rpartition(".")[2]].append((path, touch))
        return found

    def _every(self) -> Iterator[tuple[str, Touch]]:
        for path, facts in self.program.facts.items():
            for touch in facts.memory.touches:
                yield path, touch

    @cached_property
    def _sweeps(self) -> list[tuple[str, Touch]]:
        found: list[tuple[str, Touch]] = []
        for path, touch in self._every():
            carrier = touch.carrier
            if carrier.kind == "given":
                objects = self._given.get(self.names.defined(carrier.name, path), [(path, "")])  # its users may call it
                classes = ((o, Carrier("class", name, carrier.part)) for o, name in objects if name != OTHERS)
                found += [(other, replace(touch, carrier=each)) for other, each in classes]
            elif carrier.kind in _SWEPT and touch.kind != OPEN:
                found.append((path, touch))
        return found

    @cached_property
    def _given(self) -> dict[str, list[tuple[str, str]]]:
        """The classes of the objects that functions are given, "" standing for any, each with the file of the call."""
        found: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for path, facts in self.program.facts.items():
            for each in facts.memory.given.split("/") if facts.memory.given else ():
                function, _, owner = each.partition(":")
                found[self.names.defined(function, path)].append((path, owner))
        return found

    @cached_property
    def allocated(self) -> frozenset[tuple[str, str]]:
        """The classes and attributes that are made to hold uninitialised memory."""
        made = (each for each in self._every() if each[1].kind == ALLOCATES)
        return frozenset((self.names.defined(t.carrier.name, path), t.carrier.part) for path, t in made)

    def _is_emptied(self, question: Unfilled) -> bool:
        """Return whether a program may empty a model, and no other file speaks of the buffer, or any of all buffers."""

        def shared(paths: Iterable[str]) -> bool:
            return any(self.shares(path, question.path, True) for path in paths)

        emptying, keeping = self._emptying
        named = (path for path, texts in self._texts.items() if question.carrier.part in texts)
        return shared(emptying) and not shared(keeping) and not shared(path for path in named if path != question.path)

    @cached_property
    def _emptying(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The files that speak of what empties models, and those that speak of all buffers."""
        names = self.program.catalogue.names

        def speaking(words: frozenset[str]) -> tuple[str, ...]:
            return tuple(path for path, texts in self._texts.items() if not words.isdisjoint(texts))

        empties = names("memory", "allocator", "methods", id="torch.to-empty")
        return speaking(empties), speaking(names("memory", "owner", "buffers"))

    @cached_property
    def _texts(self) -> dict[str, frozenset[str]]:
        return mentioned(self.program.facts.values())

    @cached_property
    def _open(self) -> frozenset[str]:
        return frozenset(touch.carrier.name for _, touch in self._every() if touch.kind == OPEN)

    @cached_property
    def _called(self) -> dict[str, set[str]]:
        """The classes on whose objects each method is called, "" where the class may be any."""
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
    """The search for an answer; `loaded` if a checkpoint may hold the memory, which objects of the class `owner` hold.

    It is `forgotten` if the code that fills it exists but never runs, or if the class fills other memory itself.
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
        """Return the paths to reads of what a carrier holds. Raise FilledError if something may write to it."""
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
        """Return the paths to reads of what a function returns, where each call returns memory of its own."""
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
        computed: list[tuple[Place, ...]] = []
        for file, touch in memories.of_attribute(carrier.part):
            owner = memories.names.defined(touch.carrier.name, file) if touch.carrier.name else ""
            if (owner and owner not in family) or not self._counts(file, path, loosely=True):
                continue
            if touch.place is not None and touch.kind == FILLS and touch.place in self._kept_at:
                continue  # the assignment that stores this memory in the attribute
            if touch.kind == LOADS:
                self.loaded = True
            elif touch.kind == FILLS and self._is_idle(family, touch.within):
                self.forgotten = True
            elif touch.kind == HANDS and touch.to is None and self.kept == "parameter" and touch.within != _MAKES:
                if touch.place is not None:
                    computed.append((touch.place,))  # computing with a leaf that takes gradients does not write to it
            elif touch.kind == HANDS and touch.to is not None and touch.to.kind == "result":
                raise FilledError  # the caller that receives it may write to it
            else:
                found += self._followed(file, touch)
        self.forgotten = self.forgotten or self._fills_others(family, carrier.part)
        return found or computed

    def _counts(self, file: str, path: str, *, loosely: bool, owned: bool = False) -> bool:
        """Return whether what a file does may concern memory of another one, that it shares and does not only test."""
        return (file == path or not is_test(file)) and (owned or self.memories.shares(file, path, loosely))

    def _is_idle(self, family: list[str], method: str) -> bool:
        """Return whether nothing calls a method of a module that takes no arguments."""
        if not self.kept or not method or (method.startswith("__") and method.endswith("__")) or method == "forward":
            return False
        return not self.memories.is_called(family, method) and not self.memories.needs(family, method)

    def _fills_others(self, family: list[str], name: str) -> bool:
        """Return whether a class fills memory that other attributes of its objects hold."""
        memories = self.memories
        others = {part for owner, part in memories.allocated if owner in family}
        for other in others - {name}:
            for file, touch in memories.of_attribute(other):
                own = touch.within and memories.names.defined(touch.carrier.name, file) in family
                if own and touch.kind == FILLS and not self._is_idle(family, touch.within):
                    return True
        return False

    def _swept(self, family: set[str], path: str) -> None:
        """Check the touches that fill objects without naming what they hold.

        Raise FilledError if one may write to the memory; set `loaded` if one may load it from a checkpoint.
        """
        for file, touch in self.memories.sweeps():
            owner = self.memories.names.defined(touch.carrier.name, file) if touch.carrier.name else ""
            if touch.carrier.part == "weights" and not self.kept:
                continue  # iterating over parameters yields no other values
            own = owner in family
            if (touch.carrier.kind == "held") if own else (touch.carrier.part == "own"):
                continue
            if touch.to is not None and self.memories.is_own(touch.to.name, file):
                continue
            if self._counts(file, path, loosely=not owner, owned=own):
                if touch.kind == LOADS:
                    self.loaded = self.loaded or bool(self.kept)
                elif touch.kind == FILLS:
                    raise FilledError
