"""One evaluation of a node: from its inputs to its summary."""

from __future__ import annotations

from detlint.domain import taints as t
from detlint.domain.atoms import AllocationSite, DictOf, Formal, Instance, ModuleRef
from detlint.domain.slots import CONTENTS, LOADED
from detlint.domain.summaries import Summary
from detlint.domain.values import NOTHING, SOMETHING, UNKNOWN, Value, value_of
from detlint.interpreter import attributes, calls, containers, items, making, modules, unsettled, withs
from detlint.interpreter.expressions import EXPRESSIONS
from detlint.interpreter.frames import Frame
from detlint.interpreter.returns import Returning, generated
from detlint.interpreter.solver import Entry, Solver
from detlint.interpreter.statements import STATEMENTS
from detlint.interpreter.tables import Tables
from detlint.ir import nodes as ir

TABLES = Tables(
    EXPRESSIONS, STATEMENTS, attributes.of, items.iterate, items.item, containers.under_path, calls.call_value,
    calls.call_method, making.make, making.instantiate_with, making.copied, calls.put, withs.enter,
)  # fmt: skip


def evaluate(solver: Solver, entry: Entry) -> Summary:
    """Evaluate the function of an entry with the values that all its callers give."""
    frame = Returning(solver, entry, TABLES)
    assert frame.env is not None
    _begin(frame)
    frame.run(entry.function.body)
    unsettled.settle_all(frame)
    returns = generated(frame, frame.yields) if entry.function.yields else frame.returns
    flows, passed = tuple(frame.flows), tuple(frame.passed)
    return Summary(returns, frame.left, frame.writes, tuple(frame.effects), flows, passed)


def _begin(frame: Frame) -> None:
    """Give variables what they have where the function begins: parameters are what callers give, whatever that is."""
    entry, env = frame.entry, frame.env
    assert env is not None
    if entry.function.qualified == ir.MAIN:
        env.update(entry.inputs)
    if entry.function.qualified.startswith(ir.COMMAND):
        modules.enter(frame, entry.file.path)
    if entry.function.qualified == ir.TOP:
        frame.fill((ModuleRef(entry.file.path), LOADED), SOMETHING)
    for name in entry.function.caught:
        env[f".{name}" if frame.is_top else name] = UNKNOWN
    receiver = entry.node.context.receiver
    for index, parameter in enumerate(entry.function.parameters):
        value = entry.inputs.get(parameter.name, NOTHING)
        if index == 0 and receiver is not None:
            frame.put(parameter.name, value)
        elif value.atoms and parameter.star == "**":
            _gathered(frame, parameter.name, index, value)
        elif value.atoms:
            taints = t.of_parameter(parameter.name)
            frame.put(parameter.name, Value(frozenset((Formal(parameter.name),)), taints, taints))


def _gathered(frame: Frame, name: str, index: int, value: Value) -> None:
    """A dict of the keywords that a call gives and no parameter takes."""
    site = AllocationSite(containers.DICT, frame.code(-2 - index), frame.defining)
    held = [atom if isinstance(atom, DictOf) else DictOf((), UNKNOWN) for atom in frame.each(value)]
    contents = value_of(*frame.solver.lattice.kept(frozenset(held)))
    frame.put(name, containers.made(frame, Instance(site), contents))
    frame.narrow((name, CONTENTS), contents, ((site, CONTENTS),))
