"""The values of a project's programs, and of the functions that none of them reaches, solved."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from detlint import catalogue
from detlint.documents.documents import Documents, none
from detlint.domain.atoms import FunctionRef, Node
from detlint.domain.lattice import LimitReachedError
from detlint.domain.library import Libraries
from detlint.domain.limits import LIMITS, Limits
from detlint.interpreter.certainty import Certainty
from detlint.interpreter.contexts import from_anyone
from detlint.interpreter.evaluation import evaluate
from detlint.interpreter.solver import Solver
from detlint.ir import nodes as ir
from detlint.models import known
from detlint.programs.commands import Command, added
from detlint.sources.imports import Imports

_STACK = 512 * 1024 * 1024  # bytes: evaluations stand in each other as the calls of a program do
_DEEPEST = 40_000  # Python frames


@dataclass(frozen=True)
class Project:
    """What programs are solved with: where imports lead, what is known of libraries, and the documents."""

    imports: Imports
    libraries: Libraries
    documents: Documents


@dataclass(frozen=True)
class Solution:
    """What was solved: the nodes that programs reach, those that none does, and whether a limit was met.

    `seconds` went to the first and to the second. `asked` are the names that programs look for in modules, by path.
    """

    solver: Solver
    unreached: Solver
    limited: bool
    seconds: tuple[float, float]
    asked: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Problem:
    """What is to be solved: the programs that some `lowered` files and `commands` start, as is known of libraries.

    Any order of work gives the same tables, that of the seed `shuffle` as well. With `asked`, walks tell the states at
    all calls. What no program reaches is solved as well, unless programs `alone` are asked for. Programs read the
    project's `documents`, which note what was looked at, and may import files of it that are `unread`.
    """

    lowered: Mapping[str, ir.File]
    started: frozenset[str]
    libraries: Libraries
    limits: Limits = LIMITS
    shuffle: int | None = None
    asked: bool = False
    alone: bool = False
    commands: Sequence[Command] = ()
    documents: Documents = field(default_factory=lambda: Documents(none))
    unread: frozenset[str] = frozenset()

    @cached_property
    def files(self) -> Mapping[str, ir.File]:
        """The files, with the functions that console scripts run among their own."""
        return added(self.lowered, self.commands)

    @cached_property
    def imports(self) -> Imports:
        """Which file an import loads."""
        return Imports([*self.files, *self.unread])

    @property
    def starts(self) -> list[Node]:
        """The nodes with which programs start."""
        scripts = [command.start for command in self.commands]
        return [*(Node(FunctionRef(path, ir.TOP)) for path in sorted(self.started)), *scripts]


def newest() -> Libraries:
    """What is known of libraries for the newest release of torch."""
    rules = catalogue.load()
    return known(rules, rules.newest_release())


def solve(problem: Problem) -> Solution:
    """Solve a problem; where another order of work meets a limit that could show it, anew in the canonical one."""
    found: list[Solution] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(_solve(problem))
        except BaseException as error:
            failed.append(error)

    limit, size = sys.getrecursionlimit(), threading.stack_size(_STACK)
    sys.setrecursionlimit(_DEEPEST)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    sys.setrecursionlimit(limit)
    threading.stack_size(size)
    if failed:
        raise failed[0]
    return found[0]


def _solve(problem: Problem) -> Solution:
    if problem.shuffle is not None:
        try:
            return _both(problem)
        except LimitReachedError:
            pass
    return _both(replace(problem, shuffle=None))


def _both(problem: Problem) -> Solution:
    """Solve what programs reach, then what none does."""
    start = time.perf_counter()
    reached = _reached(problem)
    middle, asked = time.perf_counter(), frozenset(reached.index.asked)
    unreached = _over(reached, problem.shuffle)
    if not problem.alone:
        _solve_unreached(unreached, reached)
    above = Certainty(unreached)
    Certainty(reached, above).settle()
    above.settle()
    return Solution(reached, unreached, reached.lattice.met, (middle - start, time.perf_counter() - middle), asked)


def _reached(problem: Problem) -> Solver:
    solver = Solver(
        problem.files, problem.imports, problem.libraries, evaluate, problem.limits,
        started=problem.started, shuffle=problem.shuffle, strict=problem.shuffle is not None, asked=problem.asked,
        documents=problem.documents,
    )  # fmt: skip
    for node in solver.shuffled(problem.starts):
        solver.enter(None, node, {})
    solver.solve()
    return solver


def _over(reached: Solver, shuffle: int | None) -> Solver:
    """A solver over what programs leave, which has solved nothing yet."""
    return Solver(
        reached.files, reached.imports, reached.libraries, evaluate, reached.limits,
        started=reached.started, shuffle=shuffle, below=reached,
    )  # fmt: skip


def _solve_unreached(solver: Solver, reached: Solver) -> None:
    """Solve the functions that no program reaches, from unknown arguments."""
    known = {(node.function.file, node.function.name) for node in reached.table}
    for path in solver.shuffled(sorted(reached.files)):
        if (path, ir.TOP) not in known:
            solver.enter(None, Node(FunctionRef(path, ir.TOP)), {})
    solver.solve()
    functions = [(path, function) for path, file in reached.files.items() for function in file.functions.values()]
    for path, function in solver.shuffled(functions):
        if function.qualified not in (ir.TOP, ir.MAIN) and (path, function.qualified) not in known:
            context, given = from_anyone(path, function)
            solver.enter(None, Node(FunctionRef(path, function.qualified), context), given)
    solver.solve()
