"""Which calls programs give None for a seed, or what differs in each run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from detlint.finding import Place
from detlint.link.program import Program
from detlint.programs.entries import Entry, Met
from detlint.programs.events import ENTROPIC, SEEDLESS, Marked, Seeded
from detlint.questions import Seedless


class Seeds:
    """Answers about the seeds that the programs of a project give, options at their defaults."""

    def __init__(self, program: Program, entries: Sequence[Entry]) -> None:
        self.program = program
        self.entries = entries

    @cached_property
    def entropic(self) -> frozenset[Place]:
        """The calls by which programs seed from entropy, and those that lead to what seeds a global generator so."""
        return self.given_entropy | {call.place for met in self._reseeding for call in met.path}

    @cached_property
    def given_entropy(self) -> frozenset[Place]:
        """The calls that programs give entropy for a seed."""
        given = (mark.place for mark in self._marks(self.entries) if mark.kind == ENTROPIC)
        return frozenset((*(met.event.place for met in self._reseeding), *given))

    @cached_property
    def missing(self) -> frozenset[Seedless]:
        """The calls that programs give None for a seed, tests and those that try out a file aside."""
        own = [each for each in self.entries if not (each.self_check or self.program.facts[each.path].tests)]
        return frozenset(
            Seedless(mark.place, mark.kind.removeprefix(SEEDLESS))
            for mark in self._marks(own)
            if mark.kind.startswith(SEEDLESS)
        )

    @cached_property
    def _reseeding(self) -> list[Met[Seeded]]:
        return [met for entry in self.entries for met in entry.of(Seeded) if met.event.entropy and not met.option]

    def _marks(self, entries: Sequence[Entry]) -> Iterator[Marked]:
        return (met.event for entry in entries for met in entry.of(Marked) if not met.option)
