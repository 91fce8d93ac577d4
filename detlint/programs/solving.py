"""The values of a project's programs, and of the functions that none of them reaches, solved."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from detlint import catalogue
from detlint.documents.documents import Documents, none
from detlint.domain.atoms import FunctionRef, Node
from detlint.domain.library import Libraries
from detlint.domain.limits import Limits
from detlint.domain.values import LimitReachedError
from detlint.interpreter.certainty import Certainty
from detlint.interpreter.contexts import from_anyone
from detlint.interpreter.evaluation import evaluate
from detlint.interpreter.solver import Solver
from detlint.ir import nodes as ir
from detlint.models import known
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

    `seconds` went to the first, to the second, and to a solve that ended where a limit was met.
    """

    solver: Solver
    unreached: Solver
    limited: bool
    seconds: tuple[float, float, float]


def solve(
    files: Mapping[str, ir.File],
    started: frozenset[str],
    limits: Limits | None = None,
    shuffle: int | None = None,
    libraries: Libraries | None = None,
    documents: Documents | None = None,
) -> Solution:
    """Solve the programs that some `files` start, with what is known of `libraries`: by default for the newest torch.

    They read the project's `documents`, which note what was looked at.

    Any order of work gives the same tables; where a limit is met that could show the order, all is solved anew in the
    canonical one.
    """
    project = Project(Imports(files), libraries or newest(), documents or Documents(none))
    found: list[Solution] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(_solve(files, started, project, limits or Limits(), shuffle))
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


def newest() -> Libraries:
    """What is known of libraries for the newest release of torch."""
    rules = catalogue.load()
    return known(rules, rules.newest_release())


def _solve(
    files: Mapping[str, ir.File], started: frozenset[str], project: Project, limits: Limits, shuffle: int | None
) -> Solution:
    start = time.perf_counter()
    try:
        return _both(files, project, started, limits, shuffle, strict=True)
    except LimitReachedError:
        lost = time.perf_counter() - start
    found = _both(files, project, started, limits, None, strict=False)
    return replace(found, limited=True, seconds=(*found.seconds[:2], lost))


def _both(
    files: Mapping[str, ir.File], project: Project, started: frozenset[str], limits: Limits, shuffle: int | None,
    *, strict: bool,
) -> Solution:  # fmt: skip
    """Solve what programs reach, then what none does."""
    start = time.perf_counter()
    reached = _reached(files, project, started, limits, shuffle, strict=strict)
    middle = time.perf_counter()
    unreached = _unreached(reached, shuffle)
    return Solution(reached, unreached, False, (middle - start, time.perf_counter() - middle, 0.0))


def _reached(
    files: Mapping[str, ir.File], project: Project, started: frozenset[str], limits: Limits, shuffle: int | None,
    *, strict: bool,
) -> Solver:  # fmt: skip
    solver = Solver(
        files, project.imports, project.libraries, evaluate, limits,
        started=started, shuffle=shuffle, strict=strict, documents=project.documents,
    )  # fmt: skip
    for path in solver.shuffled(sorted(started)):
        solver.enter(None, Node(FunctionRef(path, ir.TOP)), {})
    solver.solve()
    Certainty(solver).settle()
    return solver


def _unreached(reached: Solver, shuffle: int | None) -> Solver:
    """Solve the functions that no program reaches, from unknown arguments, over what programs leave."""
    solver = Solver(
        reached.files, reached.imports, reached.libraries, evaluate, reached.limits,
        started=reached.started, shuffle=shuffle, strict=reached.strict, below=reached,
    )  # fmt: skip
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
    Certainty(solver).settle()
    return solver
