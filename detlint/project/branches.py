"""Branches that programs take."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from detlint.link.state.program import Program
from detlint.places import Place
from detlint.programs.entries import Entry
from detlint.programs.events import PASSES, Marked
from detlint.questions import InProgram, Taken


class Branches:
    """The branches that findings ask about, and whether the programs of a project take them."""

    def __init__(self, program: Program, entries: Sequence[Entry]) -> None:
        self._program = program
        self._entries = entries

    def takes(self, question: Taken | InProgram) -> bool:
        """Return whether a program takes a branch, options at their defaults, or no program reaches its function."""
        asked = question.taken if isinstance(question, InProgram) else question
        if asked is None:
            return True
        walks = self._program.walks
        return self._taken.get(asked.place, not walks.get((asked.path, asked.function)))

    @cached_property
    def _taken(self) -> dict[Place, bool]:
        """The branches that programs take, each with whether one program does so by default."""
        found: dict[Place, bool] = {}
        for met in (met for entry in self._entries for met in entry.of(Marked) if met.event.kind == PASSES):
            found[met.event.place] = found.get(met.event.place, False) or not met.option
        return found
