"""What a file sets outside its own values: environment variables, deterministic algorithms."""

from __future__ import annotations

from collections.abc import Iterator, Set

from detlint.analysis.values.conditions import applies
from detlint.catalogue import Row
from detlint.questions import InForce
from detlint.semantics.index import asked_once
from detlint.semantics.model import Module
from detlint.support.records import record
from detlint.tree import syntax as s
from detlint.tree.scopes import block_of


@record(frozen=True, slots=True)
class Write:
    """A write to an environment variable: its name, the value, and the statement or call that sets it."""

    variable: str
    value: s.Expression
    node: s.Node


@asked_once
def writes(module: Module) -> tuple[Write, ...]:
    """Return each `os.environ[...] = ...`, `.setdefault`, `.update`, `|=` and `os.putenv` with known names."""
    return tuple(_writes(module)) if may_write(module) else ()


def may_write(module: Module) -> bool:
    """Return whether the file has a word for something that sets variables."""
    return module.speaks_of(_named(module, "held") | _named(module, "functions"))


def _named(module: Module, what: str) -> frozenset[str]:
    return module.catalogue.names("switches", "variables", id=what)


def _writes(module: Module) -> Iterator[Write]:
    held, many = _named(module, "held"), _named(module, "update")
    for assign in module.assignments:
        for target in assign.targets if assign.value is not None else ():
            if isinstance(target, s.Subscript) and _is_one(module.names(target.value), held):
                yield from _one(module, assign, target.indices[0], assign.value)
            elif assign.operator == "|=" and _is_one(module.names(target), held):
                yield from _many(module, assign, assign.value)
    for call in module.calls_to(_named(module, "setdefault") | _named(module, "functions") | many):
        given = call.arguments
        if _is_one(module.callee(call), many):
            for argument in given:
                if argument.keyword is None:
                    yield from _many(module, call, argument.value)
                else:
                    yield Write(argument.keyword, argument.value, call)
        elif len(given) == 2 and not any(argument.star for argument in given):
            yield from _one(module, call, given[0].value, given[1].value)


def _is_one(names: Set[str], known: Set[str]) -> bool:
    return len(names) == 1 and names <= known


def _one(module: Module, node: s.Node, key: s.Expression, value: s.Expression | None) -> Iterator[Write]:
    names = module.constants(key) or []
    if len(names) == 1 and isinstance(names[0], str) and value is not None:
        yield Write(names[0], value, node)


def _many(module: Module, node: s.Node, mapping: s.Expression | None) -> Iterator[Write]:
    for name, values in ((module.entries(mapping) if mapping is not None else None) or {}).items():
        for value in values:
            yield Write(name, value, node)


def mentions(module: Module, variable: str) -> bool:
    """Return whether the file names the variable at all: it may set, check or pass it on in a way not understood."""
    return any(node.value == variable for node in module.every(s.Constant)) or any(
        node.keyword == variable for node in module.every(s.Argument)
    )


def always_before(first: s.Node, second: s.Node) -> bool:
    """Return whether every run that reaches `second` has passed `first`, as far as their blocks show."""
    if first.order >= second.order:
        return False
    for around in first.ancestors():
        if isinstance(around, s.Block):
            break
        may_skip = isinstance(around, s.Operation) and around.operator in ("and", "or")
        if may_skip or isinstance(around, (s.Conditional, s.Lambda, s.Comprehension)):
            return False
    home = block_of(first)
    return any(around is home for around in second.ancestors())


@asked_once
def deterministic(module: Module) -> tuple[tuple[Row, s.Call], ...]:
    """Return the calls that switch deterministic algorithms on, each with its row of the table."""
    return tuple(
        (row, call)
        for row in module.rows_like("switches", "deterministic")
        for call in module.calls_to(row.list("calls"))
        if applies(module, call, row.list("when"), row.list("unless"))
    )


def overruled(module: Module, row: Row) -> bool:
    """Return whether deterministic algorithms, which the file switches on, make what the row reports harmless."""
    return "unless_on" in row.data and row.holds_for(module.torch, "unless_on") and bool(deterministic(module))


def harmless(module: Module, row: Row, node: s.Node) -> Iterator[InForce]:
    """Yield the question whether all programs that reach `node` switch on what makes the row's report harmless."""
    if "unless_on" in row.data and row.holds_for(module.torch, "unless_on"):
        yield InForce("algorithms", ("on", "warn"), *module.point(node), overruled(module, row), ever=True)
