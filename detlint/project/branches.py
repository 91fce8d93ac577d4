"""Branches that programs take, conditions that their calls meet, and code that they mention."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from detlint.facts.packed import mentioned
from detlint.link.state.program import Program
from detlint.places import Place
from detlint.programs.entries import Entry
from detlint.programs.events import MEETS, PASSES, Marked, is_parameter
from detlint.project.names import Names
from detlint.questions import InProgram, Meets, Taken


class Branches:
    """The branches that findings ask about, and whether the programs of a project take them."""

    def __init__(self, program: Program, entries: Sequence[Entry]) -> None:
        self._program = program
        self._entries = entries
        self._names = Names(program)

    def takes(self, question: Taken | InProgram) -> bool:
        """Return whether a program takes a branch, or no entry point reaches its function.

        Options have their defaults, but for a branch that a name chooses. False for code whose names nothing mentions.
        """
        if isinstance(question, InProgram):
            held = question.inputs is None or self._is_held(question.inputs, question.path)
            if not held or not self.mentions(question.names, question.path):
                return False
        asked = question.taken if isinstance(question, InProgram) else question
        if asked is None:
            return True
        walks = self._program.walks
        reached = bool(self._entries and walks.get((asked.path, asked.function)))
        return self._taken.get(asked.place, not reached) or (asked.named and asked.place in self._taken)

    def passes_over(self, asked: Taken) -> bool:
        """Return whether programs reach the function of a statement, but with no options the statement."""
        return bool(self._program.walks.get((asked.path, asked.function))) and asked.place not in self._taken

    def meets(self, question: Meets) -> bool:
        """Return whether a program, but for tests and those that only try out a file, meets the conditions of a row."""
        return question in self._met

    @cached_property
    def _met(self) -> frozenset[Meets]:
        own = (each for each in self._entries if not (each.self_check or self._program.facts[each.path].tests))
        marks = (met.event for entry in own for met in entry.of(Marked) if not met.option)
        return frozenset(Meets(m.place, m.kind.removeprefix(MEETS)) for m in marks if m.kind.startswith(MEETS))

    def mentions(self, names: Iterable[str], path: str) -> bool:
        """Return whether a program gets to all that a file calls by some names, or other files mention them.

        Of names "A|B" one is enough. Neither a test nor a package that only exports them counts.
        """
        every = (one_of.split("|") for one_of in names)
        return all(any(n in self._walked[path] or self._is_mentioned(n, path) for n in each) for each in every)

    def _is_held(self, names: Iterable[str], path: str) -> bool:
        """Return whether a module of another file holds an object of one of some classes of a file."""
        own = {name: f"{self._program.facts[path].module}.{name}" for name in names}
        for other, facts in self._program.facts.items():
            for name in facts.holding if other != path else ():
                wanted = own.get(name.rpartition(".")[2])
                if wanted is not None and ("." not in name or self._names.defined(name, other) == wanted):
                    return True
        return False

    def _is_mentioned(self, name: str, path: str) -> bool:
        return any(name in texts for other, texts in self._texts.items() if other != path)

    @cached_property
    def _walked(self) -> dict[str, set[str]]:
        """The names of the functions that programs get to, and of what is around them, by file."""
        found: dict[str, set[str]] = defaultdict(set)
        for path, qualified in self._program.walks:
            found[path].update(qualified.split("."))
        return found

    @cached_property
    def _texts(self) -> dict[str, frozenset[str]]:
        """The words of each file that programs may load and that does more than import."""
        facts = self._program.facts
        exporting = {
            path for path in facts if PurePosixPath(path).name.startswith("__init__.") and not facts[path].functions
        }
        return {path: texts for path, texts in mentioned(facts.values()).items() if path not in exporting}

    @cached_property
    def _taken(self) -> dict[Place, bool]:
        """The branches that programs take, each with whether one may do so with its options at their defaults."""
        found: dict[Place, bool] = {}
        for met in (met for entry in self._entries for met in entry.of(Marked) if met.event.kind == PASSES):
            usual = not met.option or is_parameter(met.option)  # which unknown code may well give
            found[met.event.place] = found.get(met.event.place, False) or usual
        return found
