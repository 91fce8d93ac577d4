"""Measure the interpreter of values on checkouts: sizes of its tables, time, and whether the order of work shows.

    python -m tests.tools.solving FOLDER ... [--orders 5] [--raised] [--again] [--replay]

For each checkout: files, programs, nodes, functions, evaluations, expressions and seconds; how many functions are
coarse for want of contexts; the digests of the tables in so many shuffled orders, which must all be equal. `--raised`
uses limits four times as high, `--again` evaluates each node once more and names what it then does otherwise, which
an order of work may show; `--replay` also times today's replay of each program in the same run.
"""

from __future__ import annotations

import gc
import hashlib
import os
import resource
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

import detlint.config
from detlint.documents.documents import Documents, OnDisk
from detlint.domain.atoms import Node
from detlint.domain.limits import Limits
from detlint.domain.slots import Cell
from detlint.domain.summaries import Summary
from detlint.domain.values import NOTHING, Value, possible, tainted
from detlint.domain.values import told as text_of
from detlint.interpreter.certainty import Certainty
from detlint.interpreter.solver import Entry, Solver
from detlint.ir import nodes as ir
from detlint.ir.lower_files import lower
from detlint.listing import listed
from detlint.programs.solving import Problem, Solution, newest, solve
from detlint.reading import NotPythonError


def read(folder: Path) -> dict[str, ir.File]:
    """The files of a checkout, lowered; what is not Python is left out."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        sources, _ = listed([Path()], detlint.config.Config())
        files = {}
        for source in sources:
            if source.path.endswith(".py"):
                try:
                    files[source.path], _ = lower(Path(source.path).read_text("utf-8", "replace"), source.path)
                except NotPythonError:
                    continue
        return files
    finally:
        os.chdir(here)


def documents(folder: Path) -> Documents:
    """The documents of a checkout."""
    content = OnDisk.of([folder])
    return Documents(lambda path: content(str(folder / path)))


def started(files: Mapping[str, ir.File]) -> frozenset[str]:
    """The files with a `__main__` block: the programs of a checkout, as far as the text of one file tells."""
    return frozenset(path for path, file in files.items() if ir.MAIN in file.functions)


def shown(value: Value) -> str:
    """A value as text that no run changes."""
    return text_of(value)


def rows(solver: Solver) -> Iterator[str]:
    """All that was solved, line by line."""
    for node, entry in solver.table.items():
        inputs = sorted((name, shown(value)) for name, value in entry.inputs.items())
        summary = entry.summary
        changed = sorted((name, shown(value)) for name, value in summary.changed.items())
        flows = sorted(map(repr, summary.flows))
        yield repr((node, inputs, shown(summary.returns), changed, repr(summary.effects), flows))
    for cell, writers in solver.heap.cells.items():
        yield repr((cell, sorted((repr(writer), shown(value)) for writer, value in writers.items())))


def digest(solution: Solution) -> str:
    """A short name for all that was solved."""
    lines = sorted([*rows(solution.solver), "", *rows(solution.unreached)])
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


class _Again(Solver):
    """A solver whose nodes are evaluated once more: it notes what they write and give, and keeps none of it."""

    def __init__(self, solved: Solver) -> None:
        self.__dict__.update(solved.__dict__)
        self.written: dict[tuple[Cell, Node], Value] = {}
        self.grown: list[str] = []

    def enter(self, caller: Entry | None, node: Node, given: Mapping[str, Value]) -> Summary:
        """What a node gave, and whether it is given something new."""
        below = self.below.table if self.below is not None else {}
        entry = self.table.get(node) or below.get(node)
        if entry is None:
            self.grown.append(f"a node that was not solved: {node!r}")
            return Summary()
        for name, value in given.items():
            known = entry.inputs.get(name, NOTHING)
            if possible(self.lattice.join(known, self.lattice.bounded(value))) != possible(known):
                self.grown.append(f"{node!r} is given more for {name!r}")
        return entry.summary

    def write(self, writer: Entry, cell: Cell, value: Value) -> None:
        """Note what is written."""
        if value.atoms:
            known = self.written.get((cell, writer.node), NOTHING)
            self.written[cell, writer.node] = self.lattice.join(known, self.lattice.bounded(value))


def otherwise(solver: Solver) -> list[str]:
    """What nodes do otherwise when they are evaluated once more.

    What a node does no more came of a decision that a later value took back; what is new, of a reader that was not
    told. Either lets the order of work show. Where limits cut, some may be of these.
    """
    again = _Again(solver)
    needed = Certainty(solver).needed
    read = {cell for node in needed for cell in solver.table[node].reads}
    found = []
    for node, entry in solver.table.items():
        summary, old = solver.evaluate(again, entry), entry.summary
        gives = {"": summary.returns, **summary.changed}
        gave = {"": old.returns, **old.changed}
        for name in gives.keys() | gave.keys():
            now, before = again.lattice.bounded(gives.get(name, NOTHING)), gave.get(name, NOTHING)
            if _otherwise(now, before, certain=node in needed):
                found.append(f"{node!r} gives {shown(now)}, gave {shown(before)}{name and ' for '}{name}")
    for cell, writers in solver.heap.cells.items():
        for writer, value in writers.items():
            now = again.written.pop((cell, writer), NOTHING)
            if _otherwise(now, value, certain=cell in read):
                found.append(f"{writer!r} writes {shown(now)} to {cell!r}, wrote {shown(value)}")
    return [*found, *again.grown, *(f"{writer!r} writes to {cell!r}" for cell, writer in again.written)]


def _otherwise(now: Value, before: Value, *, certain: bool) -> bool:
    """Whether a value is another: what is certain of it counts where that was solved for."""
    return now != before if certain and tainted(before) else possible(now) != possible(before)


def solvers(solution: Solution) -> tuple[Solver, Solver]:
    """The solver of what programs reach, and that of what none reaches."""
    return solution.solver, solution.unreached


def told(name: str, files: Mapping[str, ir.File], solution: Solution) -> Iterator[str]:
    """Lines about a solution: of what programs reach, and of what none does."""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    met = "; limits met" if solution.limited else ""
    yield f"{name}: {len(files)} files, {len(started(files))} programs, {memory} MB{met}"
    for what, solver, seconds in zip(("reached", "not reached"), solvers(solution), solution.seconds, strict=True):
        nodes = len(solver.table)
        functions = len({(node.function.file, node.function.name) for node in solver.table})
        evaluations = sum(entry.evaluations for entry in solver.table.values())
        yield (
            f"  {what}: {nodes} nodes of {functions} functions ({nodes / max(1, functions):.2f} each), "
            f"{evaluations} evaluations ({evaluations / max(1, nodes):.2f} a node), "
            f"{solver.expressions} expressions, {seconds:.1f} s, {len(solver.coarse)} functions coarse"
        )


@click.command()
@click.argument("folders", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--orders", default=0, help="How many shuffled orders of work to try.")
@click.option("--raised", is_flag=True, help="Use limits four times as high.")
@click.option("--again", is_flag=True, help="Name what nodes do otherwise when they are evaluated once more.")
@click.option("--replay", is_flag=True, help="Time today's replay as well.")
def main(folders: tuple[Path, ...], orders: int, raised: bool, again: bool, replay: bool) -> None:
    """Measure the interpreter of values on checkouts."""
    limits = Limits().raised() if raised else Limits()
    wrong = False
    for folder in folders:
        files = read(folder)
        gc.disable()
        solution = solve(Problem(files, started(files), newest(), limits, documents=documents(folder)))
        click.echo("\n".join(told(folder.name, files, solution)))
        first = digest(solution)
        if again:
            for solver in solvers(solution):
                click.echo("".join(f"  otherwise: {each}\n" for each in otherwise(solver)), nl=False)
        del solution
        for order in range(1, orders + 1):
            gc.collect()
            problem = Problem(files, started(files), newest(), limits, order, documents=documents(folder))
            other = digest(solve(problem))
            click.echo(f"  order {order}: {'the same' if other == first else 'other tables'} ({other})")
            wrong = wrong or other != first
        if replay:
            click.echo(f"  replay: {replayed(folder):.1f} s")
    sys.exit(wrong)


def replayed(folder: Path) -> float:
    """The seconds of `detlint entries` less those of reading: today's replay of each program, without a cache."""
    import subprocess

    command = [sys.executable, "-m", "detlint", "entries", "--no-cache", "--format", "json", "."]
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
