"""Where a program can be seeded: the statements that lead to a draw, and where to put a line ahead of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from detlint.analysis.seeds.seeds import Seed, seed_at
from detlint.analysis.values import parsers
from detlint.editing import edits
from detlint.editing.edits import Code
from detlint.finding import Edit, Place, Remedy
from detlint.semantics import libraries
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def places(module: Module, statement: s.Statement, seed: Seed | None) -> Iterator[s.Statement]:
    """Yield where to seed ahead of a statement in its block, after imports and once the seed is known.

    The first place is ahead of the first statement that may draw, as far as the tables know. Then come all candidates,
    the last first, in case the first place shares its line.
    """
    assert isinstance(statement.parent, s.Block)
    statements = statement.parent.statements
    begin = end = statements.index(statement)
    while begin and not _imports(statements[begin - 1]) and seed_at(module, statements[begin - 1]) == seed:
        begin -= 1
    yield next(x for x in statements[begin : end + 1] if x is statement or not is_quiet(module, x))
    yield from reversed(statements[begin : end + 1])


def ahead(module: Module, statement: s.Statement, lines: Sequence[Code]) -> Edit | None:
    """Return an edit that puts lines ahead of a statement; None if they would land inside the statement before it.

    They would where that one ends in a string whose last lines look like comments.
    """
    change = edits.ahead(module, statement, *lines)
    assert isinstance(statement.parent, s.Block)
    before = [module.place(x) for x in statement.parent.statements if x.order < statement.order]
    if change is not None and before and before[-1].cell == change.place.cell:
        return change if change.place.line > before[-1].end_line else None
    return change


def _imports(statement: s.Statement) -> bool:
    """Return whether a statement imports something where it runs, not in a function that it defines."""
    inner = (child for child in statement if not isinstance(statement, s.Function) for child in s.walk(child))
    return isinstance(statement, s.Import) or any(isinstance(node, s.Import) for node in inner)


def is_quiet(module: Module, statement: s.Statement) -> bool:
    """Return whether a statement defines something, or calls nothing but functions that are known never to draw."""
    if isinstance(statement, (s.Function, s.Class)):
        return True
    calls = [node for node in s.walk(statement) if isinstance(node, s.Call)]
    return all(never_draws(module, call) for call in calls)


def never_draws(module: Module, call: s.Call) -> bool:
    """Return whether a call is of a known library, whose tables list what draws, or else of a parser's method."""
    names = module.callee(call)
    if not names:
        return isinstance(call.function, s.Attribute) and call.function.attribute in parsers.methods(parsers.ALL)
    return all(name.partition(".")[0] in libraries.KNOWN and name not in module.functions for name in names)


def statements(module: Module, remedy: Remedy) -> Iterator[s.Statement]:
    """Yield the statements in the entry point's file that lead to a draw, outermost first.

    Each is in a block that always runs. Where Python calls a method of another file, as for an operator, the text has
    no call: the first statement of all is used.
    """
    for index, step in enumerate((*remedy.steps, None)):
        if step is not None and step.imports:
            return
        place = remedy.draw if step is None else step.place
        if index == 0 and remedy.begins:
            continue
        if place.path != remedy.path:
            first = _first(module) if index == 0 else None
            if first is not None:
                yield first
            return
        if index == 0 and remedy.inner:
            continue  # seeded inside the function, for the programs that start there
        statement = statement_at(module, place)
        if statement is not None:
            by_python = any(module.place(function) == place for function in module.functions.values())
            yield _after(module, statement) if by_python else statement


def _first(module: Module) -> s.Statement | None:
    """Return the first statement of the main block, or else the first in the file that may call project code."""
    statements = module.file.body.statements
    main = next((x for x in statements if isinstance(x, s.If) and "__name__" in module.source(x.test)), None)
    return (
        main.body.statements[0] if main is not None else next((x for x in statements if not is_quiet(module, x)), None)
    )


def _after(module: Module, definition: s.Statement) -> s.Statement:
    """Return where Python may first call what a statement defines, as for an operator: the text has no call then."""
    assert isinstance(definition.parent, s.Block)
    after = [x for x in definition.parent.statements if x.order > definition.order]
    return next((x for x in after if not is_quiet(module, x)), after[0] if after else definition)


def statement_at(module: Module, place: Place) -> s.Statement | None:
    """Return the statement around a place that is in the body of a function, the file or its main block, or None."""
    try:
        offset = module.lines.offset(place.cell, place.line, place.column)
    except KeyError:
        return None
    found: s.Statement | None = None
    block: s.Block | None = module.file.body
    always = True
    while block is not None:
        inner = next((x for x in block.statements if _holds(module, x, offset)), None)
        if inner is None:
            break
        found = inner if always else found
        block = next((b for b in _blocks(inner) if any(_holds(module, x, offset) for x in b.statements)), None)
        in_main = isinstance(inner, s.If) and block is inner.body and "__name__" in module.source(inner.test)
        always = isinstance(inner, s.Function) or (always and in_main)
    return found


def _holds(module: Module, statement: s.Statement, offset: int) -> bool:
    start, end = module.span(statement)
    return start <= offset < end


def _blocks(statement: s.Statement) -> Iterator[s.Block]:
    """Yield the blocks of a statement, including those of functions and classes."""
    for child in statement:
        if isinstance(child, s.Block):
            yield child
