"""Fixes made from what was measured at a line, where the static analysis has none, as it may not know it matters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from detlint.analysis.memory.empty import LIBRARIES, allocations
from detlint.analysis.memory.zeros import zeroed
from detlint.analysis.seeds.seeding import repeats
from detlint.bisect.comparing.case import Cause
from detlint.bisect.records import Line
from detlint.editing import edits
from detlint.editing.names import library_name
from detlint.finding import Finding, Fix, Place, Remedy, Safety
from detlint.orders.hashes import Hashes, checksum
from detlint.orders.listings import Listings
from detlint.orders.sets import Sets
from detlint.orders.sorting import listing_sorted, sorted_where_taken
from detlint.repairs import entry_point
from detlint.semantics.model import Module
from detlint.tree import syntax as s

Read = Callable[[Line], "Module | None"]


@dataclass(frozen=True, slots=True)
class Measured:
    """A cause, the lines that it names, most important first, and the script that was run.

    `top` is the line of the script that leads to where the cause shows, None if that is unknown. `main` says that it
    shows in the first process and thread, `device` that it shows on a GPU.
    """

    cause: Cause
    lines: tuple[Line, ...]
    script: Line
    top: Line | None = None
    main: bool = True
    device: bool = False


def findings(measured: Measured, read: Read) -> Iterator[Finding]:
    """Yield the fixes that a measurement asks for, each as a finding of the rule that it belongs to.

    `read` returns the model of the file that contains a line.
    """
    cause = measured.cause
    kind = cause.why or cause.kind
    for line in measured.lines[:2]:
        module = read(line)
        statement = None if module is None else _statement(module, line)
        if module is None or statement is None:
            continue
        if kind == "file-order":
            yield from _listed(module, statement)
        elif kind == "set-order" or "DET601" in cause.codes:
            yield from _set(module, statement, cause.name)
        if kind == "hash":
            yield from _hash(module, statement)
        if kind == "uninitialised":
            yield from _empty(module, statement)
        if kind in ("generator", "private-generator", "entropy"):
            yield from _generator(module, statement)
        if cause.kind == "seed-value":
            yield from _seed(module, statement)
    script = read(measured.script) if measured.main else None
    if script is not None and cause.generator:
        yield from _unseeded(script, measured)
    if script is not None and cause.kind == "kernel":
        yield from _deterministic(script, measured)


def _found(module: Module, code: str, node: s.Node, fix: Fix | None) -> Iterator[Finding]:
    if fix is not None:
        yield Finding(code, module.place(node), fix.title, fix=fix)


def _statement(module: Module, line: Line) -> s.Statement | None:
    """Return the innermost statement that contains a line, or None."""
    found: s.Statement | None = None
    for node in module.nodes:  # parents before children
        if isinstance(node, s.Statement):
            place = module.place(node)
            if place.cell == line.cell and place.line <= line.line <= place.end_line:
                found = node
    return found


def _parts(statement: s.Statement) -> Iterator[s.Expression]:
    """Yield the expressions of a statement, except for those of the statements in it."""
    for node in s.walk(statement):
        if isinstance(node, s.Expression):
            around = next((a for a in node.ancestors() if isinstance(a, s.Statement)), None)
            if around is statement:
                yield node


def _calls(statement: s.Statement) -> list[s.Call]:
    return [node for node in _parts(statement) if isinstance(node, s.Call)]


def _listed(module: Module, statement: s.Statement) -> Iterator[Finding]:
    listings = Listings(module)
    calls = set(_calls(statement))
    for call, kind in listings.found():
        if call not in calls:
            continue
        fix = listing_sorted(module, call, kind, paths=listings.gives_paths(call))
        yield from _found(module, "DET602", call, fix)


def _set(module: Module, statement: s.Statement, name: str) -> Iterator[Finding]:
    sets = Sets(module)
    for node in _parts(statement):
        if module.source(node) == name or sets.is_set(node):
            yield from _found(module, "DET601", node, sorted_where_taken(module, node))


def _hash(module: Module, statement: s.Statement) -> Iterator[Finding]:
    calls = set(_calls(statement))
    for call, value in Hashes(module).found():
        if isinstance(call, s.Call) and call in calls and value is not None:
            yield from _found(module, "DET604", call, checksum(module, call))


def _empty(module: Module, statement: s.Statement) -> Iterator[Finding]:
    calls = set(_calls(statement))
    for call, row in allocations(module, LIBRARIES):
        if call in calls:
            code = "DET401" if row.text("library") == "torch" else "DET402"
            yield from _found(module, code, call, zeroed(module, call, row))


def _generator(module: Module, statement: s.Statement) -> Iterator[Finding]:
    """Yield a seed for a generator that is made without one, unless it is made again and again."""
    for call, _ in _of(module, statement, "generator"):
        fix = edits.fix("Seed with 0", edits.first(module, call, "0"))
        yield from _found(module, "DET104", call, _once(module, call, fix))


def _once(module: Module, node: s.Node, fix: Fix | None) -> Fix | None:
    """Return a fix that gives a seed, made unsafe if it may run repeatedly; None if it surely does."""
    again = repeats(module, node)
    if fix is None or again is True:
        return None
    return fix if again is False else replace(fix, safety=Safety.UNSAFE)


def _seed(module: Module, statement: s.Statement) -> Iterator[Finding]:
    """Yield a fixed value for a seed that is made once, of entropy and constants alone.

    A seed that is made of variables may be a number that somebody asked for: there, 0 replaces only the entropy.
    """
    entropy = module.catalogue.names("randomness", "entropy")
    seeds = [
        value
        for table in ("seeder", "generator")
        for call, parameter in _of(module, statement, table)
        for value in (module.argument(call, parameter).values if parameter else ())
    ]
    kept = statement.value if isinstance(statement, s.Assign) else None
    left = statement.values if isinstance(statement, s.Leave) else ()
    for value in seeds or [each for each in (kept, *left) if each is not None]:
        if _is_alone(module, value):
            fix = edits.fix("Seed with 0", edits.replaced(module, value, "0"))
            yield from _found(module, "DET105", value, _once(module, value, fix))
            continue
        calls = [node for node in s.walk(value) if isinstance(node, s.Call)]
        differ = [call for call in calls if (names := module.callee(call)) and names <= entropy]
        if differ:
            changes = [edits.replaced(module, call, "0") for call in differ]
            fix = edits.fix("Put 0 in its place", *changes, safety=Safety.UNSAFE)
            yield from _found(module, "DET105", differ[0], _once(module, value, fix))


def _is_alone(module: Module, value: s.Expression) -> bool:
    """Return whether an expression calls something and reads no variable."""
    names = [node for node in s.walk(value) if isinstance(node, s.Name)]
    return any(isinstance(node, s.Call) for node in s.walk(value)) and all(map(module.names, names))


def _of(module: Module, statement: s.Statement, table: str) -> Iterator[tuple[s.Call, str]]:
    """Yield the calls in a statement to functions in a table of randomness, with the parameter that takes a seed."""
    rows = module.catalogue.rows("randomness", table)
    for call in _calls(statement):
        names = module.callee(call)
        row = next((row for row in rows if names and names <= row.set("names")), None)
        if row is not None:
            yield call, row.text("parameter")


def _unseeded(module: Module, measured: Measured) -> Iterator[Finding]:
    """Yield the seeding of a generator that was never seeded, ahead of the line of the script that leads to the draw.

    If that line is unknown, the generator is seeded ahead of all that the script does.
    """
    statement = None if measured.top is None else _statement(module, measured.top)
    place = Place("", 1, 1, 1, 1) if statement is None else module.place(statement)  # as for a place in another file
    fix = entry_point.repaired(
        [Remedy(module.path, (), place, (measured.cause.generator,))],
        lambda path: module if path == module.path else None,
        lambda path: False,
        lambda path: True,
    )
    yield from _found(module, measured.cause.codes[0], statement or module.file, fix)


def _deterministic(module: Module, measured: Measured) -> Iterator[Finding]:
    """Yield the switch to deterministic algorithms, ahead of all that a script does, with what a GPU needs for them."""
    statements = module.file.body.statements
    first = next((each for each in statements if not isinstance(each, s.Import) and not _is_text(each)), None)
    if first is None:
        return
    if measured.device:
        line, imports = edits.new("enable_determinism()"), edits.runtime(module, "enable_determinism")
    else:
        torch, imports = library_name(module, "torch", first)
        line = edits.new(f"{torch}.use_deterministic_algorithms(True)")
    fix = edits.fix("Switch the deterministic algorithms on", edits.ahead(module, first, line), imports=imports)
    yield from _found(module, "DET301", first, None if fix is None else replace(fix, safety=Safety.UNSAFE))


def _is_text(statement: s.Statement) -> bool:
    return isinstance(statement, s.ExpressionStatement) and isinstance(statement.value, s.Constant)
