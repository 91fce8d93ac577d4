"""Programs that resume from checkpoints: what they take out of these, draw, and keep of their generators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property

from detlint.facts.facts import TOP
from detlint.facts.resumed import Resuming
from detlint.finding import Place
from detlint.link.state.program import Program
from detlint.programs.entries import Entry
from detlint.programs.events import ANY, HANDED, MADE, RESTORED, STEPS, Drawn, Marked, Sampler, Seeded, Stepping
from detlint.project.reseeding import reseeded
from detlint.questions import DrawsInTraining, Forgotten, Loses, Reseeded, Restores, Resumes

_NOTHING = Resuming()
_OPTIMIZER = "optimizer"  # the row of the tables


class Resumptions:
    """Answers about programs that resume from checkpoints."""

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
        self._reached = cache(reached)
        self._layers = program.catalogue.names("randomness", "consumer", mode="train")
        self._rows = {row.id: row for row in program.catalogue.rows("checkpoints", "generator")}

    def holds(self, question: Resumes | DrawsInTraining | Loses | Forgotten | Reseeded | Restores) -> bool:
        """Return whether a question is answered with yes."""
        if isinstance(question, Resumes):
            return self._resumes(question)
        if isinstance(question, DrawsInTraining):
            return self._draws(question)
        if isinstance(question, Restores):
            return self._runs(question) if question.runs else (question.path, question.qualified) in self._classes
        return self._loses(question) if isinstance(question, Loses) else self.losing(question) is not None

    def losing(self, question: Forgotten | Reseeded) -> Place | None:
        """Return where a program restores an optimizer, or seeds a generator, as a question asks; None if none does."""
        if isinstance(question, Reseeded):
            return next((self._reseeded[place] for place in question.places if place in self._reseeded), None)
        return self._forgotten[question.late].get(Sampler(question.path, question.order, question.row))

    @cached_property
    def _forgotten(self) -> tuple[Mapping[Sampler, Place], Mapping[Sampler, Place]]:
        """What programs step and do not restore, and what they make on an optimizer that was restored before.

        Each with the place where a program restores an optimizer.
        """
        forgotten: dict[Sampler, Place] = {}
        late: dict[Sampler, Place] = {}
        for entry in self._training:
            restored: dict[Sampler, Place] = {}
            current: dict[Sampler, Place] = {}  # those that were not made again since
            handed, stepped, unknown = set[Sampler](), dict[Sampler, str](), set[str]()
            for met in entry.of(Stepping):
                event = met.event
                if event.kind == RESTORED:
                    restored.setdefault(event.what, event.place)
                    current[event.what] = event.place
                elif event.kind == MADE:
                    current.pop(event.what, None)
                    if event.on is not None and event.on in current:
                        late.setdefault(event.what, current[event.on])
                elif event.kind == HANDED:
                    handed.add(event.what)
                    unknown |= {event.name} if event.what == ANY else set()
                elif event.kind == STEPS and not met.option:
                    stepped.setdefault(event.what, event.name)
            first = next((place for what, place in restored.items() if what.home == _OPTIMIZER), None)
            for what, name in stepped.items():
                known = what not in handed and not any(_may_be(name, other) for other in unknown)
                if first is not None and known and what not in restored:
                    forgotten.setdefault(what, first)
        return forgotten, late

    @cached_property
    def _classes(self) -> frozenset[tuple[str, str]]:
        """The classes of the objects that programs restore with an optimizer."""
        restored = (what for entry in self._going_on for what in _restored_by(entry))
        return frozenset((what.path, what.owner) for what in restored if what.owner)

    @cached_property
    def _going_on(self) -> list[Entry]:
        """The programs that train, and restore an optimizer."""
        return [each for each in self._training if any(what.home == _OPTIMIZER for what in _restored_by(each))]

    def _runs(self, question: Restores) -> bool:
        """Return whether a program that restores an optimizer has a file, a function of which programs run."""
        importing = self._importing.get(question.path, ())
        run = self._program.walks.get((question.path, question.qualified or TOP))
        return bool(run) and any(each in importing for each in self._going_on)

    @cached_property
    def _reseeded(self) -> Mapping[Place, Place]:
        """The calls after which a program seeds again what they put back, each with the call that leads to the seed."""
        fresh = (entry for entry in self._training if not any(each.anew for each in self._files(entry)))
        return reseeded(entry.trace for entry in fresh)

    @cached_property
    def _training(self) -> list[Entry]:
        """The programs that train, except for tests and those that only try out a file."""
        own = (each for each in self._entries if not (each.self_check or self._program.facts[each.path].tests))
        return [each for each in own if each.marked("trains")]

    def _resumes(self, question: Resumes) -> bool:
        """Return whether a program resumes from what a file saves, but keeps none of its generators' states."""
        programs = self._importing.get(question.path, ())
        if question.known:
            return not any(each.gives and each.takes for entry in programs for each in self._files(entry))
        keys = set(question.keys)
        for entry in programs:
            found = list(self._files(entry))
            if not entry.marked("trains") or any(each.keeps or each.anew for each in found):
                continue
            taken = {each.place for resuming in found for each in resuming.taken if each.key in keys}
            if taken and not taken.isdisjoint(_restored(entry)):
                return True
        return False

    def _draws(self, question: DrawsInTraining) -> bool:
        """Return whether a program that imports a file draws while it trains."""
        programs = self._importing.get(question.path, ())
        if not programs:
            return question.alone
        if question.generator:
            return any(entry.marked("trains") and self._draws_from(entry, question.generator) for entry in programs)
        for entry in programs:
            if entry.marked("trains"):
                if any(not met.event.weights for met in entry.of(Drawn)):
                    return True
                if any(each.draws for each in self._files(entry)):
                    return True
        return False

    def _loses(self, question: Loses) -> bool:
        """Return whether a program that resumes loses the state of a generator."""
        name, how = question.generator, question.how
        project = [facts.resuming or _NOTHING for facts in self._program.facts.values() if not facts.tests]
        if any(name in (each.takes if how == "saved" else each.gives) for each in project) and how != "left":
            return False
        for entry in self._importing.get(question.path, ()):
            if not entry.marked("trains") or not entry.marked("restores"):
                continue
            found = list(self._files(entry))
            if how != "left":
                lost = any(each.taken for each in found)
            else:
                kept = any(name in each.gives or name in each.takes for each in found)
                resumed = any(met.event.restores for met in entry.of(Seeded))
                lost = resumed and not kept and self._draws_from(entry, name)
            if lost:
                return True
        return False

    def _draws_from(self, entry: Entry, name: str) -> bool:
        """Return whether a program draws, not in workers, which have their own, from a generator that may be kept."""
        row = self._rows[name]
        drawn = (met.event for met in entry.of(Drawn) if not (met.apart or met.event.weights))
        found = [event for event in drawn if event.generator == row.text("drawn")]
        if row.text("where") != "cuda":
            return bool(found)
        return any(event.what in self._layers for event in found) and any(each.cuda for each in self._files(entry))

    def _files(self, entry: Entry) -> Iterator[Resuming]:
        """Yield the facts on resuming of each file of a program."""
        for path in self._reached(entry.path):
            if path in self._program.facts:
                yield self._program.facts[path].resuming or _NOTHING


def _restored_by(entry: Entry) -> set[Sampler]:
    """Return the objects that a program restores from a checkpoint."""
    return {met.event.what for met in entry.of(Stepping) if met.event.kind == RESTORED}


def _may_be(name: str, other: str) -> bool:
    """Return whether two names of variables or attributes may be of one object; a name may be unknown, ""."""
    return name in other or other in name


def _restored(entry: Entry) -> set[Place]:
    """Return the places where a program restores states from files."""
    return {met.event.place for met in entry.of(Marked) if met.event.kind == "restores"}
