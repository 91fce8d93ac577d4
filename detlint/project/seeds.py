"""Which calls programs give None or a value that differs in each run as a seed, and which objects they never seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from detlint.finding import Place
from detlint.link.state.program import Program
from detlint.programs.entries import Entry
from detlint.programs.events import (
    ANY,
    BEGINS,
    COPIED,
    DRAWS,
    ENTROPIC,
    OPTIONAL,
    SEEDED_ONCE,
    SEEDLESS,
    Drawing,
    Drawn,
    Marked,
    Raced,
    Sampler,
    Seeded,
)
from detlint.programs.met import Met
from detlint.questions import Copied, FromEntropy, NeverSeeded, Races, Seedless

_Places = tuple[frozenset[Place], frozenset[Place]]


class Seeds:
    """Answers about the seeds that the programs of a project give, with their options at their defaults."""

    def __init__(self, program: Program, entries: Sequence[Entry]) -> None:
        self.program = program
        self.entries = entries

    def comes_from_entropy(self, question: FromEntropy) -> bool:
        """Return whether a seed comes from entropy."""
        given, leading = self._entropic[question.always]
        return question.place in given or (question.place in leading and not question.given)

    @cached_property
    def _entropic(self) -> tuple[_Places, _Places]:
        """The calls that programs give entropy for a seed, and those that lead to such a seed of a global generator: by
        default, and where no option gives another seed.
        """
        marks = {(mark.kind, mark.place) for mark in self._marks(self.entries)}
        seeds = (met for entry in self.entries for met in entry.of(Seeded))
        optional = {met.event.place for met in seeds if met.option and met.event.certain}
        found = []
        for always in (False, True):
            seeded = [met for met in self._reseeding if not (always and met.event.place in optional)]
            given = {place for kind, place in marks if kind == ENTROPIC or (kind == OPTIONAL and not always)}
            leading = frozenset(call.place for met in seeded for call in met.path)
            found.append((frozenset((*given, *(met.event.place for met in seeded))), leading))
        return found[0], found[1]

    @cached_property
    def _missing(self) -> frozenset[Seedless]:
        """The calls that programs give None for a seed."""
        return frozenset(
            Seedless(mark.place, mark.kind.removeprefix(SEEDLESS))
            for mark in self._marks(self._own)
            if mark.kind.startswith(SEEDLESS)
        )

    def holds(self, question: NeverSeeded | Copied | Races | Seedless) -> bool:
        """Return whether a program draws from an object that it never seeds, or copies, or gives None for a seed."""
        if isinstance(question, Seedless):
            return question in self._missing
        if isinstance(question, NeverSeeded) and Sampler(question.path, question.order) not in self._made:
            return question.alone
        if isinstance(question, Copied) and question.none:
            return Sampler(question.path, question.order) in self._drawn_by_programs
        return self.drawn(question) is not None

    def drawn(self, question: NeverSeeded | Copied | Races) -> Place | None:
        """Return where a program first draws so; None if no program does."""
        if isinstance(question, Races):
            return self._raced.get(question.place)
        if isinstance(question, Copied):
            return self._copied.get(Sampler(question.path, question.order))
        return self._unseeded.get(Sampler(question.path, question.order, question.row))

    @cached_property
    def _copied(self) -> Mapping[Sampler, Place]:
        """The generators that programs copy to the workers of loaders, each with the place of the first draw."""
        met = (met for entry in self._own for met in entry.of(Drawing) if not met.option)
        copied = [m.event for m in met if m.event.kind == COPIED]
        return {event.stream: event.place for event in reversed(copied)}

    @cached_property
    def _drawn_by_programs(self) -> frozenset[Sampler]:
        """The generators that programs draw from themselves, and no worker of theirs, whatever the options are."""
        events = [met.event for entry in self._own for met in entry.of(Drawing)]
        drawn, copied = ({event.stream for event in events if event.kind == kind} for kind in (DRAWS, COPIED))
        return frozenset(drawn - copied)

    @cached_property
    def _raced(self) -> Mapping[Place, Place]:
        """The calls that start threads which compete for the numbers that they draw, each with the first draw."""
        found: dict[Place, Place] = {}
        for entry in self._own:
            started: list[Raced] = []
            for event in (met.event for met in entry.met if not met.option):
                if isinstance(event, Raced) and event.several:
                    found.setdefault(event.place, event.drawn)
                elif isinstance(event, Raced):
                    started.append(event)
                elif isinstance(event, Drawn) and not event.weights:
                    others = (each for each in started if each.generator == event.generator)
                    found |= {each.place: each.drawn for each in others if each.place not in found}
        return found

    @cached_property
    def _unseeded(self) -> Mapping[Sampler, Place]:
        """The generators of objects that programs draw from and never seed, each with the place of the first draw."""
        found: dict[Sampler, Place] = {}
        for entry in self._own:
            met = entry.of(Drawing)
            seeded = {each.event.stream for each in met if each.event.kind == SEEDED_ONCE}
            for each in met if ANY not in seeded else ():
                stream, draws = each.event.stream, each.event.kind == DRAWS and not each.option
                if draws and seeded.isdisjoint((stream, replace(stream, home=""))):
                    found.setdefault(stream, each.event.place)
        return found

    @cached_property
    def _made(self) -> frozenset[Sampler]:
        """The objects with their own generators that programs make."""
        met = (met.event for entry in self.entries for met in entry.of(Drawing))
        return frozenset(event.stream for event in met if event.kind == BEGINS)

    @cached_property
    def _own(self) -> list[Entry]:
        """The entry points, except for tests and programs that only try out a file."""
        return [each for each in self.entries if not (each.self_check or self.program.facts[each.path].tests)]

    @cached_property
    def _reseeding(self) -> list[Met[Seeded]]:
        return [met for entry in self.entries for met in entry.of(Seeded) if met.event.entropy and not met.option]

    def _marks(self, entries: Sequence[Entry]) -> Iterator[Marked]:
        return (met.event for entry in entries for met in entry.of(Marked) if not met.option)
