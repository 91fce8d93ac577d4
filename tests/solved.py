"""Small projects, solved by the interpreter of values: text in, flows and observations out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import dedent

from detlint.documents.documents import Documents, Given
from detlint.domain.codes import Code
from detlint.domain.limits import Limits
from detlint.domain.taints import Kind
from detlint.finding import Place
from detlint.flows.flows import flows
from detlint.ir import nodes as ir
from detlint.ir.lower_files import lower
from detlint.ir.places import Places
from detlint.programs.entries import Entry
from detlint.programs.entry_points import followed
from detlint.programs.solving import Problem, Solution, newest, solve
from detlint.programs.views import Views
from detlint.programs.walking import walk_of

Drawn = tuple[str, str, int, str, tuple[tuple[str, bool], ...]]


@dataclass(frozen=True)
class Solved:
    """A project that was solved."""

    files: Mapping[str, ir.File]
    places: Mapping[str, Places]
    solution: Solution

    def line(self, code: Code) -> tuple[str, int]:
        """The file and line of a code."""
        return code.file, self.places[code.file].line(code.function, code.node)

    def place(self, code: Code) -> Place:
        """The place of a code."""
        return self.places[code.file].place(code.file, code.function, code.node)

    def flows(self, kind: Kind = "order") -> list[tuple[int, int]]:
        """The lines of the sources and uses of all flows of a kind."""
        return [(self.line(each.source)[1], self.line(each.sink)[1]) for each in flows(self.solution, kind)]

    def draws(self, program: str, *words: str) -> list[Drawn]:
        """What a program draws from generators of these words: stream, file, line, word, options of its condition."""
        found: list[Drawn] = []
        solver = self.solution.solver
        walk = walk_of(solver, program, Views(solver).of(program), Limits(), self.place)
        for seen in walk.run().observations:
            if seen.word in (words or ("unseeded", "reseeded")):
                terms = tuple(sorted((option.name, set_) for option, set_ in seen.condition.terms))
                found.append((str(seen.stream), *self.line(seen.code), seen.word, terms))
        return found

    def entries(self, *programs: str) -> list[Entry]:
        """The entry points of programs, those of processes right after what starts these."""
        begun = [Entry(path, "main", self_check=True) for path in programs]
        return followed(self.solution.solver, begun, self.place, frozenset()).entries


def solved(
    texts: Mapping[str, str] | str,
    started: set[str] | None = None,
    limits: Limits | None = None,
    order: int | None = None,
    unread: frozenset[str] = frozenset(),
    alone: bool = False,
) -> Solved:
    """Solve a project of these files, or of one; all of Python are programs unless some are `started`.

    There may be others, which are `unread`. What no program reaches is solved unless programs `alone` are asked for.
    """
    named = {"train.py": texts} if isinstance(texts, str) else texts
    files, places = {}, {}
    for path, text in named.items():
        if path.endswith(".py"):
            files[path], places[path] = lower(dedent(text), path)
    programs = frozenset(files if started is None else started)
    read = Documents(Given(named))
    problem = Problem(
        files, programs, newest(), limits or Limits(), order, alone=alone, documents=read, unread=unread
    )  # fmt: skip
    return Solved(files, places, solve(problem))
