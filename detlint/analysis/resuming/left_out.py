"""DET701 for what steps with the optimizer, such as a learning rate's schedule, and is left out of a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.resuming.checkpoints import Checkpoints
from detlint.analysis.resuming.resumption import last
from detlint.catalogue import Row, Rule
from detlint.finding import Finding
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_STATES = ("state_dict", "load_state_dict")


def left_out(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each object that steps with an optimizer, and whose state no checkpoint of the file keeps."""
    if not module.calls_like(words=_STATES):
        return
    checkpoints = Checkpoints(module)
    for row in module.catalogue.rows("checkpoints", "stepped"):
        stepped = [] if module.words & row.set("unless") else _stepped(module, row)
        if stepped and not any(_may_be_kept(module, each) for each in _of_row(module, row)):
            for saved in checkpoints.with_optimizer():
                name = module.short(stepped[0])
                yield module.finding(
                    rule,
                    saved,
                    related=[(stepped[0], "it steps here")],
                    lowered=_may_be_off(module, row, stepped[0]),
                    problem=rule.data["stepped"].format(name=name, does=row.text("does")),
                    remedy=rule.data["stepped_remedy"].format(name=name),
                )


def _may_be_off(module: Module, row: Row, node: s.Expression) -> bool:
    """Return whether an object is made with the option of a row that may switch it off."""
    made = [value for value in module.values(node) or () if isinstance(value, s.Call)]
    return any(argument.keyword == row.text("switch") for call in made for argument in call.arguments)


def _stepped(module: Module, row: Row) -> list[s.Expression]:
    """Return the objects of a row that the file steps, except for those that are told how far the training is."""
    steps = []
    for call in module.calls_like(words=row.list("methods")):
        owner = call.function.value if isinstance(call.function, s.Attribute) else None
        if owner is not None and _is_of(module, row, owner):
            steps.append((call, owner))
    if any(_is_caught_up(call) for call, _ in steps):
        return []
    return [owner for call, owner in steps if not call.arguments or module.types(owner) & row.set("told")]


def _is_caught_up(call: s.Call) -> bool:
    """Return whether a loop does nothing but step an object, as often as the training has before."""
    loop = next((around for around in call.ancestors() if isinstance(around, s.For)), None)
    return isinstance(loop, s.For) and loop.body.statements == [call.parent]


def _of_row(module: Module, row: Row) -> Iterator[s.Expression]:
    """Yield the names and attributes that are objects of a row."""
    every: list[s.Name | s.Attribute] = [*module.every(s.Name), *module.every(s.Attribute)]
    yield from (each for each in every if not each.stored and _is_of(module, row, each))


def _is_of(module: Module, row: Row, node: s.Expression) -> bool:
    types = module.types(node)
    return not types.isdisjoint(row.set("names")) if types else last(node) in row.list("called")


def _may_be_kept(module: Module, node: s.Expression) -> bool:
    """Return whether the state of an object may be kept: it is asked for, or something unknown is given the object."""
    parent = node.parent
    if isinstance(parent, s.Attribute):
        return parent.attribute in _STATES
    if isinstance(parent, s.Assign):
        return any(isinstance(target, s.Subscript) for target in parent.targets)
    call = parent.parent if isinstance(parent, s.Argument) else None
    if isinstance(call, s.Call):
        return not last(call.function)[:1].isupper()
    return isinstance(parent, (s.Argument, s.Collection, s.Dictionary, s.Leave))
