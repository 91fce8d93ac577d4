"""The states in which programs, and the processes that they spawn, leave switches for determinism."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from detlint.link.state.program import Program
from detlint.programs.entries import Entry
from detlint.programs.events import Seeded, Switched
from detlint.project.convolutions import convolving, may_convolve
from detlint.questions import Convolves, Ends

_REPEATING = ("cudnn", "algorithms")  # any of these switches makes convolutions repeat


class Switches:
    """Answers about the switches that the programs of a project set."""

    def __init__(
        self,
        program: Program,
        entries: Sequence[Entry],
        importing: Mapping[str, Sequence[Entry]],
        reached: Callable[[str], set[str]],
    ) -> None:
        """Take the programs that import each file, and a function for the files that a file imports, with itself."""
        self._program = program
        self._entries = entries
        self._importing = importing
        self._reached = reached

    def holds(self, question: Ends | Convolves, is_library: Callable[[str], bool]) -> bool:
        """Return whether a question is answered with yes; `is_library` says whether a file is only imported."""
        if isinstance(question, Convolves):
            return self._convolves(question, is_library)
        entries = self._setting.get(question.place, ())
        if question.spawned:
            return any(self._leaves(entry, question) for entry in entries)
        if question.some:
            return any(entry.end[question.switch] in question.words and _sets(entry, question) for entry in entries)
        ends = {entry.end[question.switch] for entry in entries}
        return ends <= set(question.words) if ends else question.alone

    def _leaves(self, starter: Entry, question: Ends) -> bool:
        """Return whether a program spawns a process that trains, and leaves a switch in none of some words there."""
        if self._program.facts[starter.path].tests:
            return False
        spawned = (each for each in self._entries if each.kind == "process" and each.starter == starter.start)
        return any(each.marked("trains") and each.end[question.switch] not in question.words for each in spawned)

    def _convolves(self, question: Convolves, is_library: Callable[[str], bool]) -> bool:
        path = question.path
        found: Sequence[Entry] = self._setting.get(question.place, [])
        if question.perhaps:
            return not found or any(map(self._may_convolve, found))
        if not found and self._program.walks.get((path, question.function)):
            found = self._importing.get(path, [])
        if not found:
            return question.alone and is_library(path)
        return any(self._varies(entry, question.untouched) for entry in found)

    def _varies(self, entry: Entry, untouched: bool) -> bool:
        """Return whether a program is seeded, but trains convolutions without the switches that make them repeat."""
        if not entry.marked("trains") or any(entry.end[name] in ("on", "warn") for name in _REPEATING):
            return False
        if untouched and any(met.event.name in _REPEATING for met in entry.of(Switched)):
            return False
        seeds = (met.event for met in entry.of(Seeded) if "torch" in met.event.generators)
        if not any(not (seed.entropy or seed.restores or seed.guessed) for seed in seeds):
            return False
        return not self._convolving.isdisjoint(self._reached(entry.path))

    def _may_convolve(self, entry: Entry) -> bool:
        """Return whether a program convolves, does not train, or imports what may make or hold convolutions."""
        files = self._reached(entry.path)
        if not (entry.marked("trains") and self._convolving.isdisjoint(files)):
            return True
        return any(may_convolve(self._program, path) for path in files)

    @cached_property
    def _convolving(self) -> frozenset[str]:
        return frozenset(convolving(self._program))

    @cached_property
    def _setting(self) -> Mapping[object, list[Entry]]:
        """The programs that set a switch at each place."""
        found: dict[object, list[Entry]] = defaultdict(list)
        for entry in self._entries:
            for place in {met.event.place for met in entry.of(Switched)}:
                found[place].append(entry)
        return found


def _sets(entry: Entry, question: Ends) -> bool:
    """Return whether a program sets the switch to one of the words at the place, with its options at their defaults."""
    here = (met for met in entry.of(Switched) if met.event.place == question.place and not met.option)
    return any(met.event.name == question.switch and met.event.word in question.words for met in here)
