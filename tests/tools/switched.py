"""A plugin of pytest by which programs are followed by the interpreter of values instead of the link.

    pytest -p tests.tools.switched

Files are lowered where their facts are collected, and kept by their paths in this process, so that all is analysed in
one. What fails with it and passes without is what the interpreter lacks before it can take the place of the link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from detlint import processes
from detlint.domain.codes import Code
from detlint.facts import collect as collecting
from detlint.facts.facts import Facts
from detlint.finding import Place
from detlint.ir import nodes as ir
from detlint.ir.counting import counts
from detlint.ir.lower_statements import Statements
from detlint.link.program import Program
from detlint.link.starts import Imported, Start
from detlint.link.tables import Tables
from detlint.models import known
from detlint.programs.commands import Command
from detlint.programs.entries import Entry
from detlint.programs.entry_points import followed
from detlint.programs.solving import Problem, solve
from detlint.project import programs
from detlint.project.programs import Ran
from detlint.semantics.model import Module


@dataclass
class Lowered:
    """A file that was lowered, the places of its numbered nodes, their orders, and what facts call its functions."""

    file: ir.File
    spans: dict[str, list[tuple[int, int]]]
    orders: dict[str, list[int]]
    names: dict[str, str]
    lines: Any

    def place(self, code: Code) -> Place:
        """The place of a node; of one of -1 the first line of the file."""
        if code.node < 0:
            return Place(code.file, 1, 1, 1, 1)
        start, end = self.spans[code.function][code.node]
        cell, line, column = self.lines.locate(start)
        _, end_line, end_column = self.lines.locate(end)
        return Place(code.file, line, column, end_line, end_column, cell)


LOWERED: dict[str, Lowered] = {}


def lower(module: Module, facts: Facts) -> Lowered:
    """Lower the model of a file."""
    made = Statements()
    made.top(module.file)
    names = {ir.TOP: "", ir.MAIN: ""}
    for qualified, node in made.defined.items():
        name = module.qualified(node)
        numbered = f"{name}:{node.order}"
        names[qualified] = numbered if numbered in facts.functions else name
    spans = {name: [module.span(node) for node in nodes] for name, nodes in made.numbered.items()}
    orders = {name: [node.order for node in nodes] for name, nodes in made.numbered.items()}
    binds, stars = tuple(sorted(module.file.scope.bindings)), tuple(dict.fromkeys(made.stars))
    file = ir.File(module.path, made.functions, made.classes, binds, counts(made.functions.values()), stars)
    return Lowered(file, spans, orders, names, module.lines)


def run(program: Program, tables: Tables, starts: Sequence[Start], imports: Imported, jobs: int) -> Ran:
    """Follow programs, as `detlint.project.programs.run` does."""
    files = {path: LOWERED[path].file for path in program.facts}

    def place(code: Code) -> Place:
        lowered = LOWERED[code.file]
        if code.node < 0 and code.function in lowered.names:
            function = program.facts[code.file].functions.get(lowered.names[code.function])
            if function is not None:
                return function.place
        return lowered.place(code)

    begun = [Entry(start.path, start.kind, start.name, start.place, start.self_check, start.target) for start in starts]
    commands = tuple(dict.fromkeys(Command(entry.path, entry.target) for entry in begun if entry.kind == "command"))
    started = frozenset(entry.path for entry in begun if entry.kind != "command")
    libraries = known(program.catalogue, tables.torch)
    problem = Problem(
        files, started, libraries, asked=True, commands=commands, documents=program.documents,
        unread=program.imports.paths.difference(files), alone=True,
    )  # fmt: skip
    solution = solve(problem)
    loaded = [path for path, facts in program.facts.items() if not facts.lasting]
    found = followed(solution.solver, begun, place, tables.initialisers, loaded)
    program.walks.clear()
    program.asked |= solution.asked
    for node, visits in found.visits.items():
        lowered, function = LOWERED[node.function.file], node.function.name
        name = node.function.file, lowered.names.get(function, function)
        for visit in visits:
            own = [(code, state) for code, state in visit if code.function == function]
            orders = [lowered.orders[function][code.node] if code.node >= 0 else 0 for code, _ in own]
            program.walks[name][tuple(zip(orders, (state for _, state in own), strict=True))] = None
    return Ran(found.entries, found.ends)


@pytest.fixture(autouse=True)
def _switched(monkeypatch: pytest.MonkeyPatch) -> None:
    collect = collecting.collect

    def collected(module: Module) -> Facts:
        facts = collect(module)
        LOWERED[module.path] = lower(module, facts)
        return facts

    monkeypatch.setattr(collecting, "collect", collected)
    monkeypatch.setattr(programs, "run", run)
    monkeypatch.setattr(processes, "usable_cores", lambda: 1)
