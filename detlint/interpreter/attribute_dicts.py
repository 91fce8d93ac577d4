"""What is written to `vars(owner)` or `owner.__dict__`: attributes of the owner, by their names."""

from __future__ import annotations

from detlint.domain.atoms import Constant, LibraryRef
from detlint.domain.dicts import may_be_absent, present
from detlint.domain.values import Value, value_of
from detlint.interpreter import assignments, containers
from detlint.interpreter.arguments import Arguments
from detlint.interpreter.frames import Frame
from detlint.ir import nodes as ir
from detlint.ir.attribute_dicts import shown_by

_VARS = LibraryRef("builtins.vars")
_ANY = ""  # stands for an attribute of a name that is not known


def owner_of(frame: Frame, expression: ir.Expression) -> ir.Expression | None:
    """The variable or path whose attributes an expression shows as a dict; None for any other."""
    owner = shown_by(expression)
    if owner is None or assignments.path_of(frame, owner) is None:
        return None
    if isinstance(expression, ir.Call) and frame.evaluate(expression.function) != value_of(_VARS):
        return None
    return owner


def put(frame: Frame, target: ir.Subscript, value: Value) -> bool:
    """Give the owner an attribute where an item of what shows these is assigned; whether it is one."""
    owner = owner_of(frame, target.value)
    if owner is None:
        return False
    names = containers.plain(frame, frame.evaluate(target.key))
    for atom in names:
        known = isinstance(atom, Constant) and atom.kind == "str"
        _give(frame, owner, atom.value if known else _ANY, value, target.node, sure=known and len(names) == 1)  # type: ignore[union-attr]
    return True


def update(frame: Frame, expression: ir.Expression, arguments: Arguments, node: int) -> None:
    """Give the owner the attributes that the dict takes over which shows them."""
    owner = owner_of(frame, expression)
    if owner is None:
        return
    for place, given in enumerate(arguments.positional[:1]):
        held = containers.mapping(frame, given, arguments.paths.get(place))
        for key, value in held.entries if held is not None else ():
            if key.kind == "str":
                _give(frame, owner, key.value, present(value), node, sure=not may_be_absent(value))
        if held is not None and held.rest is not None:
            _give(frame, owner, _ANY, held.rest, node, sure=False)
    for name, value in arguments.keywords.items():
        _give(frame, owner, name, present(value), node, sure=not may_be_absent(value))


def _give(frame: Frame, owner: ir.Expression, name: str, value: Value, node: int, *, sure: bool) -> None:
    """Give an owner an attribute, for `sure` or perhaps."""
    if not value.atoms:
        return
    if sure:
        assignments.assign(frame, ir.Attribute(owner, name, node), value, node)
    else:
        assignments.store(frame, frame.evaluate(owner), name, value, node)
