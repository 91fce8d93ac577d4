"""Answers to the open questions of findings, derived from the walks and the end states of all entry points."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from detlint.facts import facts as f
from detlint.facts.packed import imports as imported
from detlint.finding import Place
from detlint.link.state.program import Program
from detlint.link.state.registered import seed_is_given
from detlint.programs.entries import Entry
from detlint.programs.events import UNSEEDED, Drawn, State
from detlint.project.branches import Branches
from detlint.project.epochs import Epochs
from detlint.project.families import Families
from detlint.project.memory import Memories, always_restores
from detlint.project.modes import Modes
from detlint.project.names import Names
from detlint.project.orders import Orders
from detlint.project.resumptions import Resumptions
from detlint.project.seeds import Seeds
from detlint.project.switches import Switches
from detlint.questions import (
    Convolves,
    Copied,
    DrawsInTraining,
    Ends,
    Forgotten,
    FromEntropy,
    InForce,
    InLibrary,
    InProgram,
    InTraining,
    Loses,
    Meets,
    NeverSeeded,
    Question,
    Races,
    Reaches,
    Reseeded,
    Restores,
    Resumes,
    SameOrder,
    Seedless,
    Taken,
    Unfilled,
    Unseeded,
    UnseededLibrary,
)

_TESTS = {"test", "tests", "testing"}


class Answers:
    """Answers to questions about places in a project, based on what its programs do."""

    def __init__(self, program: Program, entries: Sequence[Entry], ends: Iterable[tuple[str, State]] = ()) -> None:
        """`entries` are the entry points that `program` has been followed from.

        `ends` pairs the file that a program with an outcome starts with and the state that it ends in.
        """
        self.program = program
        self.entries = entries
        self._branches = Branches(program, entries)
        self._last = tuple(ends)
        self._closures: dict[str, set[str]] = {}
        self._read: dict[Unfilled, tuple[Place, ...]] = {}

    def holds(self, question: Question) -> bool:
        """Return whether a question is answered with yes; False where the answer is unknown."""
        if isinstance(question, Unseeded):
            return self._unseeded(question)
        if isinstance(question, UnseededLibrary):
            return self._unseeded_library(question)
        if isinstance(question, InForce):
            return self._in_force(question)
        if isinstance(question, FromEntropy):
            return self._seeds.comes_from_entropy(question)
        if isinstance(question, (NeverSeeded, Copied, Races, Seedless)):
            return self._seeds.holds(question)
        if isinstance(question, InTraining):
            return self._modes.trains(question)
        if isinstance(question, Reaches):
            return self.orders.use(question) is not None or (question.anyhow and question.path not in self._imported)
        if isinstance(question, Unfilled):
            return bool(self.memory_read(question))
        if isinstance(question, (InProgram, Taken)):
            return self._branches.takes(question) and (isinstance(question, Taken) or self._in_program(question))
        if isinstance(question, (Meets, SameOrder)):
            return self._branches.meets(question) if isinstance(question, Meets) else bool(self.passes(question))
        if isinstance(question, Resumes):
            saves = bool(self.program.walks.get((question.path, question.function)))
            called = not saves or self._branches.mentions(question.resuming, question.path)
            return called and self._resumptions.holds(question)
        if isinstance(question, (DrawsInTraining, Loses, Forgotten, Reseeded, Restores)):
            return self._resumptions.holds(question)
        if isinstance(question, (Ends, Convolves)):
            return self._switches.holds(question, self.is_library)
        return self._in_library(question)

    def passes_over(self, asked: Taken) -> bool:
        """Return whether programs reach the function of a statement, but with no options the statement."""
        return asked.path in self._entering and self._branches.passes_over(asked)

    def _unseeded(self, question: Unseeded) -> bool:
        every = all if question.always else any
        entries = self._entering.get(question.path, ()) if question.lasting else ()
        left = [self._iterates_unseeded(entry, question.generator) for entry in entries]
        return every(word == UNSEEDED for word in self._words(question)) and (not left or every(left))

    def _words(self, question: Unseeded) -> Iterator[str]:
        """Yield the states of a generator in which programs reach a place."""
        states = self._states if question.exact else self._before
        for state in states(question.path, question.function, question.order):
            yield state[question.generator]

    def _before(self, path: str, function: str, order: int) -> Iterator[State]:
        """Yield the states in which programs reach a place, or the last point before it in the same walk."""
        for walk in self.program.walks.get((path, function), ()):
            before = [state for each, state in walk if each <= order]
            if before:
                yield before[-1]

    def _unseeded_library(self, question: UnseededLibrary) -> bool:
        path, generators = question.path, question.generators
        if question.given is not None and not self._seeds.holds(question.given):
            return False
        if question.parameter:
            if seed_is_given(self.program, question.drawn, question.parameter, question.placed):
                return False
        elif self.program.imports.find(question.library, path, path) is not None:
            return False
        if not generators:
            return not self._is_dead(path, question.function)
        found: Iterator[State] = self._before(path, question.function, question.order)
        if not any(all(state[generator] == UNSEEDED for generator in generators) for state in found):
            return False
        ends = self._outcomes.get(path, ())
        left = any(all(end[g] == UNSEEDED for g in generators) for end in ends)
        return not question.lasting or left or any(True for _ in self.drawing(question))

    def _is_dead(self, path: str, function: str) -> bool:
        """Return whether programs import a file of the project, but none reaches a given function or method of it."""
        reached = not function or bool(self.program.walks.get((path, function)))
        return not reached and bool(self._importers(path))

    def drawing(self, question: UnseededLibrary, place: Place | None = None) -> Iterator[Entry]:
        """Yield the programs that draw by a library at a place, or by what is made there, its generator unseeded."""
        for entry in self._entering.get(question.path, ()):
            drawn = (met.event for met in entry.of(Drawn) if met.event.of_library and met.event.word == UNSEEDED)
            if any(each.place == place or (question.lasting and each.what == question.drawn) for each in drawn):
                yield entry

    def _in_force(self, question: InForce) -> bool:
        words = {state[question.switch] for state in self._states(question.path, question.function, question.order)}
        if words <= set(question.words) if words else question.local:
            return True
        if not words or question.ever:
            ends = {entry.end[question.switch] for entry in self._importers(question.path)}
            if ends or words:
                return bool(ends) and ends <= set(question.words)
        return not words and question.alone

    def _in_library(self, question: InLibrary) -> bool:
        if not self.is_library(question.path):
            return False
        if not question.generator:
            return not self.program.walks.get((question.path, question.function))
        found = list(self._states(question.path, question.function, question.order))
        return not found or any(state[question.generator] != UNSEEDED for state in found)

    def _in_program(self, question: InProgram) -> bool:
        path = question.path
        facts = self.program.facts[path]
        alone = (
            question.anywhere or facts.lasting or path.endswith(".ipynb")
        )  # otherwise running the file only tries it out
        importing = self._importing.get(path) or self._finding(path)
        found = [each for each in importing if alone or each.path != path or each.marked("trains")]
        if question.on_gpu and found and not any(map(self._uses_gpu, found)):
            return False
        if question.function and not (found and self.program.walks.get((path, question.function))):
            return False
        if question.learning:
            return not found or any(self._learns(entry, "" if question.anywhere else path) for entry in found)
        walked = not facts.acts and bool(self.program.walks.get((path, f.TOP)))  # else it may be run by itself
        return bool(found) or (walked and path not in self._entering)

    def _uses_gpu(self, entry: Entry) -> bool:
        return any(self.program.facts[path].gpu for path in self.reached(entry.path) if path in self.program.facts)

    def _finding(self, path: str) -> list[Entry]:
        """Return the programs that import a file that finds others by name, in the folder of `path` or above it."""
        finders = (each for each in self._finders if path.startswith(each[: each.rfind("/") + 1]))
        return [entry for finder in finders for entry in self._importing.get(finder, ())]

    @cached_property
    def _finders(self) -> tuple[str, ...]:
        return tuple(path for path, facts in self.program.facts.items() if facts.finds)

    def _learns(self, entry: Entry, path: str) -> bool:
        """Return whether a program takes gradients, or may in what it imports, not all of which can be followed.

        Of a program that is the file at `path` itself, only that file counts.
        """
        if entry.marked("trains"):
            return True
        files = (path,) if entry.path == path else self.reached(entry.path)
        return any(self.program.facts[each].learns for each in files)

    def is_library(self, path: str) -> bool:
        """Return whether a file is meant for import: a module of a package or one that others import, and no script."""
        facts = self.program.facts[path]
        if not path.endswith(".py") or facts.guarded or facts.tests or _TESTS & set(PurePosixPath(path).parts):
            return False
        if path in self._started:
            return False
        return "." in facts.module or path in self._imported

    # Programs

    def _states(self, path: str, function: str, order: int) -> Iterator[State]:
        """Yield the states in which programs reach a place."""
        for walk in self.program.walks.get((path, function), ()):
            yield from (state for each, state in walk if each == order)

    def _importers(self, path: str) -> list[Entry]:
        """Return the programs that import a file: those that train, or all of them if none trains."""
        found = self._importing.get(path, [])
        return [entry for entry in found if entry.marked("trains")] or found

    @cached_property
    def _importing(self) -> dict[str, list[Entry]]:
        """The programs that import each file, except for tests and programs that only try out a file."""
        found: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.entries:
            if not entry.self_check and not self.program.facts[entry.path].tests:
                for path in self.reached(entry.path):
                    found[path].append(entry)
        return found

    @cached_property
    def _outcomes(self) -> dict[str, list[State]]:
        """The states in which the programs that import each file end."""
        found: dict[str, list[State]] = defaultdict(list)
        for start, end in self._last:
            for path in self.reached(start):
                found[path].append(end)
        return found

    def _iterates_unseeded(self, entry: Entry, generator: str) -> bool:
        """Return whether a program ends with a generator unseeded, or iterates over what draws from it before."""
        if entry.end[generator] == UNSEEDED:
            return True
        drawn = (met.event for met in entry.of(Drawn) if met.event.generator == generator)
        return any(event.word == UNSEEDED and event.what in self._iterated for event in drawn)

    @cached_property
    def _iterated(self) -> frozenset[str]:
        """The names of what draws when it is iterated over."""
        return self.program.catalogue.names("randomness", "consumer", kind="iteration")

    @cached_property
    def _entering(self) -> dict[str, list[Entry]]:
        """The entry points that import each file, including tests and programs that only try out a file."""
        found: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.entries:
            for path in self.reached(entry.path):
                found[path].append(entry)
        return found

    @cached_property
    def _seeds(self) -> Seeds:
        return Seeds(self.program, self.entries)

    @cached_property
    def orders(self) -> Orders:
        """Arbitrary orders, followed through the files."""
        return Orders(self.program, self._families)

    def memory_read(self, question: Unfilled) -> tuple[Place, ...]:
        """Return where memory is read that nothing in the project may have written to, after the places on the way."""
        if question not in self._read:
            self._read[question] = self._memories.read(question, self._is_trained_afresh)
        return self._read[question]

    @cached_property
    def _memories(self) -> Memories:
        return Memories(self.program, self._families, self._share)

    def _share(self, one: str, other: str, loosely: bool) -> bool:
        """Return whether one of two files loads the other or, with `loosely`, whether a third file loads both."""
        if one in self.reached(other) or other in self.reached(one):
            return True
        return loosely and any({one, other} <= self.reached(path) for path in self.program.facts)

    def _is_trained_afresh(self, klass: str) -> bool:
        """Return whether a program may train objects of a class without restoring weights, options as they are."""
        path = self._families.functions.get(f"{klass}.__init__", "")
        made = bool(self.program.walks.get((path, f"{klass}.__init__")))
        entries = self._importing.get(path, []) if made else []
        return any(entry.marked("trains") and not always_restores(entry) for entry in entries)

    @cached_property
    def _families(self) -> Families:
        return Families(self.program, Names(self.program))

    @cached_property
    def _switches(self) -> Switches:
        return Switches(self.program, self.entries, self._importing, self.reached)

    @cached_property
    def _modes(self) -> Modes:
        return Modes(self.program, self.entries)

    def passes(self, question: SameOrder) -> tuple[Place, ...]:
        """Return where programs iterate over a sampler in every epoch without telling it the epoch."""
        return self._epochs.passes(question)

    def because_of(self, question: NeverSeeded | Copied | Races | Forgotten | Reseeded) -> Place | None:
        """Return the first place in a program because of which the answer is yes; None if there is none."""
        if isinstance(question, (Forgotten, Reseeded)):
            return self._resumptions.losing(question)
        return self._seeds.drawn(question)

    @cached_property
    def _epochs(self) -> Epochs:
        return Epochs(self.program, self.entries, self.reached)

    @cached_property
    def _resumptions(self) -> Resumptions:
        return Resumptions(self.program, self.entries, self._importing, self.reached)

    @cached_property
    def _started(self) -> frozenset[str]:
        """The files that programs start with."""
        return frozenset(entry.path for entry in self.entries if entry.kind != "process")

    def reached(self, path: str) -> set[str]:
        """Return a file and all files that it imports, directly or indirectly."""
        if path in self._closures:
            return self._closures[path]
        found, waiting = {path}, [path]
        while waiting:
            new = self._imports.get(waiting.pop(), frozenset()) - found
            found |= new
            waiting += new
        self._closures[path] = found
        return found

    @cached_property
    def _imports(self) -> dict[str, frozenset[str]]:
        return {path: frozenset(self._imports_of(facts)) for path, facts in self.program.facts.items()}

    @cached_property
    def _imported(self) -> frozenset[str]:
        return frozenset(found for path, each in self._imports.items() for found in each if found != path)

    def _imports_of(self, facts: f.Facts) -> Iterator[str]:
        """Yield the files that a file imports, and the packages that contain them."""
        imports, path = self.program.imports, facts.path
        for level, target in imported(facts):
            parts = target.split(".")
            for end in range(1, len(parts) + 1):
                each = ".".join(parts[:end])
                found = imports.relative(path, level, each) if level else imports.find(each, path, path)
                if found is not None and found in self.program.facts:
                    yield found
