"""Programs that are resumed from checkpoints: what they take out of these, draw, and keep of their generators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from detlint.facts.resumed import Resuming
from detlint.finding import DrawsInTraining, Place, Resumes
from detlint.link.program import Program
from detlint.programs.entries import Entry
from detlint.programs.events import Drawn, Marked

_NOTHING = Resuming()


class Resumptions:
    """Answers about the programs that resume."""

    def __init__(
        self, program: Program, importing: Mapping[str, Sequence[Entry]], reached: Callable[[str], set[str]]
    ) -> None:
        """`importing` are the programs that import each file, `reached` the files that one imports, with itself."""
        self._program = program
        self._importing = importing
        self._reached = cache(reached)

    def resumes(self, question: Resumes) -> bool:
        """Whether a program resumes from what a file saves, and keeps nothing of its generators."""
        programs = self._importing.get(question.path, ())
        if not programs:
            return question.known
        keys = set(question.keys)
        for entry in programs:
            found = list(self._files(entry))
            if any(each.keeps or each.anew for each in found):
                continue
            if question.known:
                return True
            taken = {each.place for resuming in found for each in resuming.taken if each.key in keys}
            if taken and not taken.isdisjoint(_restored(entry)):
                return True
        return False

    def draws(self, question: DrawsInTraining) -> bool:
        """Whether a program with a file draws while it trains."""
        for entry in self._importing.get(question.path, ()):
            if entry.marked("trains"):
                if any(not met.event.weights for met in entry.of(Drawn)):
                    return True
                if any(each.draws for each in self._files(entry)):
                    return True
        return False

    def _files(self, entry: Entry) -> Iterator[Resuming]:
        """What the files of a program have to do with it."""
        for path in self._reached(entry.path):
            if path in self._program.facts:
                yield self._program.facts[path].resuming or _NOTHING


def _restored(entry: Entry) -> set[Place]:
    """Where a program takes states out of files."""
    return {met.event.place for met in entry.of(Marked) if met.event.kind == "restores"}
