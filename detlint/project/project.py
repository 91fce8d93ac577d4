"""The linked project: its entry points, and answers to the open questions of findings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial

from packaging.version import Version

from detlint.catalogue import Catalogue
from detlint.documents.documents import Documents
from detlint.facts.facts import Facts
from detlint.facts.packed import imports as imported
from detlint.facts.reach import Reached
from detlint.finding import MAIN, Finding, Place, Remedy
from detlint.link.runs.kept import Kept
from detlint.link.runs.starts import runs_only, starts
from detlint.link.state.program import linked
from detlint.link.state.tables import tables
from detlint.programs.entries import Entry
from detlint.project import programs
from detlint.project.answers import Answers
from detlint.project.orders import Use
from detlint.project.spaces import spaces
from detlint.questions import (
    Copied,
    Forgotten,
    NeverSeeded,
    Question,
    Races,
    Reaches,
    Reseeded,
    SameOrder,
    Taken,
    Unfilled,
    UnseededLibrary,
)
from detlint.repairs.entry_point import remedy
from detlint.sources.console_scripts import Command


class Project:
    """All files of a run, linked. `imports` maps each path to the files that the file imports.

    `entries` are the entry points, `errors` says what could not be followed.
    """

    def __init__(
        self,
        facts: Iterable[Facts],
        catalogue: Catalogue,
        torch: Version,
        commands: Iterable[Command] = (),
        unread: Iterable[str] = (),
        jobs: int = 1,
        documents: Documents | None = None,
        kept: Kept | None = None,
        halt: Callable[[], None] | None = None,
    ) -> None:
        """Link the `facts` of files and follow their programs. `commands` are the console scripts.

        `unread` are the paths of files that the project's imports may find although they were not analysed. Programs
        are followed in up to `jobs` processes (0: one per core). `documents` are the configuration files that programs
        may read. Results `kept` from an earlier run are reused where still valid, and updated. `halt` is called often,
        and may raise to stop the work when nobody waits for it any more.
        """
        self.program = linked(facts, catalogue, unread, documents)
        self.program.halt = halt or self.program.halt
        self.imports = {path: frozenset(filter(None, self._imports(each))) for path, each in self.program.facts.items()}
        begun = list(starts(self.program, self.imports, commands))
        ran = programs.run(self.program, tables(catalogue, torch), begun, self.imports, jobs, kept)
        self.entries, self.errors = ran.entries, ran.errors
        self._answers = Answers(self.program, self.entries, ran.ends)
        self._told: Mapping[str, frozenset[str]] = {}

    def _imports(self, facts: Facts) -> Iterator[str | None]:
        """Yield the files that a file imports, at its top level or in a function; None for an import not found."""
        imports, path = self.program.imports, facts.path
        for level, target in imported(facts):
            yield imports.relative(path, level, target) if level else imports.find(target, path, path)

    def programs(self) -> dict[str, frozenset[str]]:
        """Return the files that each program reaches, by the file that the user runs.

        Programs that only try out a file are left out.
        """
        started = {entry.path for entry in self.entries if entry.kind != "process" and not entry.self_check}
        return {path: frozenset(self._answers.reached(path)) for path in sorted(started)}

    def reached(self) -> dict[str, Reached]:
        """Return what the programs reached in each file; files that no program runs are left out."""
        names, functions = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
        for path, name in self.program.asked:
            names[path].append(name)
        for path, qualified in self.program.walks:
            functions[path].append(qualified)
        return {path: Reached.of(names[path], functions[path]) for path in sorted(functions)}

    def tried(self) -> frozenset[tuple[str, str]]:
        """Return the parts of files that only try out what these offer: pairs of a path and `MAIN` or a function.

        These are `__main__` blocks, and functions that such a block does nothing but call and no other program runs.
        """
        blocks = ((entry.path, MAIN) for entry in self.entries if entry.self_check)
        return frozenset((*blocks, *(name for name in self.program.tried if self._is_all(*name))))

    def _is_all(self, path: str, name: str) -> bool:
        """Return whether the `__main__` block of a file does nothing but call a function."""
        facts = self.program.facts[path]
        return runs_only(facts, name.removeprefix(f"{facts.module}."))

    def spaces(self) -> dict[str, str]:
        """Return the dotted names by which others import the modules of folders without an `__init__.py`."""
        return spaces(self.program.facts, self.program.imports)

    def remedies(self, entries: Iterable[Entry], library: bool = False) -> tuple[Remedy, ...]:
        """Return the repairs for these entry points; with `library`, ahead of the draws of other libraries."""
        found = (
            remedy(
                entry,
                self._targets,
                entry.path in self._imported,
                partial(self._using, entry.path),
                partial(self._draws, entry.path),
                library,
            )
            for entry in entries
        )
        return tuple(each for each in found if each is not None)

    def library_remedies(self, question: UnseededLibrary, place: Place) -> tuple[Remedy, ...]:
        """Return the repairs for entry points that draw by a library at a place, if a seed is enough for it."""
        return self.remedies(self._answers.drawing(question, place), library=True) if question.drawn else ()

    def _using(self, path: str, name: str) -> list[str]:
        """Return the files of a program that import the library that a dotted name belongs to."""
        library = name.partition(".")[0]
        found = {each: imported(self.program.facts[each]) for each in sorted(self._answers.reached(path))}
        return [each for each, names in found.items() if any(_is_of(library, *name) for name in names)]

    def _draws(self, path: str, generator: str) -> bool:
        """Return whether anything in the files of a program calls what draws from a generator."""
        return any(generator in self.program.facts[each].draws for each in self._answers.reached(path))

    @cached_property
    def _imported(self) -> frozenset[str]:
        """The files that others import."""
        return frozenset(found for path, each in self.imports.items() for found in each if found != path)

    @cached_property
    def _targets(self) -> frozenset[tuple[str, str]]:
        """The functions that are entry points, by path and name."""
        return frozenset((entry.path, entry.target) for entry in self.entries if entry.target)

    def use(self, question: Reaches) -> Use | None:
        """Return the use in the project's files that an arbitrary order reaches; None if there is none."""
        return self._answers.orders.use(question)

    def memory_read(self, question: Unfilled) -> tuple[Place, ...]:
        """Return where memory is read that nothing in the project may have written to, after the places on the way."""
        return self._answers.memory_read(question)

    def hear(self, findings: Iterable[Finding]) -> None:
        """Record which files have findings of which rules on single files."""
        told = defaultdict[str, set[str]](set)
        for finding in findings:
            told[finding.code].add(finding.place.path)
        self._told = {code: frozenset(paths) for code, paths in told.items()}

    def tells(self, code: str, entry: Entry) -> bool:
        """Return whether a rule on single files has a finding in a file that a program may load."""
        told = self._told.get(code)
        return told is not None and not told.isdisjoint(self._answers.reached(entry.path))

    def holds(self, question: Question) -> bool:
        """Return whether the programs of the project answer a question with yes; False where the answer is unknown."""
        self.program.halt()
        return self._answers.holds(question)

    def passes_over(self, asked: Taken) -> bool:
        """Return whether programs reach the function of a statement, but with no options the statement."""
        return self._answers.passes_over(asked)

    def because_of(self, question: NeverSeeded | Copied | Races | Forgotten | Reseeded) -> Place | None:
        """Return the first place in a program because of which the answer is yes; None if there is none."""
        return self._answers.because_of(question)

    def passes(self, question: SameOrder) -> tuple[Place, ...]:
        """Return where programs iterate over a sampler in every epoch without telling it the epoch."""
        return self._answers.passes(question)


def _is_of(library: str, level: int, name: str) -> bool:
    """Return whether what a file imports belongs to a library."""
    return not level and name.partition(".")[0] == library
