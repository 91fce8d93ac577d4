"""Definitions of classes: their bases, what their bodies bind, and whom they are told of."""

from __future__ import annotations

from collections.abc import Mapping

from detlint.domain.atoms import FALSE, NOT_NONE, TRUE, Atom, Choice, ClassRef, Constant, FunctionRef, Option, Wrapped
from detlint.domain.slots import Attribute, Base
from detlint.domain.values import NOTHING, Value, value_of
from detlint.interpreter import (
    arguments,
    assignments,
    calls,
    classes,
    decorators,
    descriptors,
    enumerations,
    modules,
)
from detlint.interpreter.frames import Frame
from detlint.ir import nodes as ir

_OTHER: Mapping[Atom, Atom] = {TRUE: FALSE, FALSE: TRUE}


def define_class(frame: Frame, statement: ir.DefineClass) -> None:
    """Run the body of a class; what it binds are attributes of the class."""
    klass = ClassRef(frame.file.path, statement.qualified)
    index = 0
    for argument in statement.arguments:
        base = frame.evaluate(argument.value)
        if argument.star == "*":
            base = frame.tables.iterate(frame, base)
        if not argument.keyword and argument.star != "**":
            frame.fill((klass, Base(index)), base)
            for atom in frame.each(base):
                if isinstance(atom, ClassRef):
                    frame.write((atom, classes.DERIVED), value_of(klass))
            index += 1
        elif argument.keyword == "metaclass":
            frame.fill((klass, classes.METACLASS), base)
    env = frame.env
    frame.env = dict(env) if env is not None else None
    frame.execute(statement.body)
    inside = frame.env
    if inside is not None and env is not None:
        for name in frame.file.classes[statement.qualified].binds:
            held = inside.get(name, NOTHING)
            if name in frame.file.classes[statement.qualified].fields:
                held = _optional(frame, name, held, statement.node)
            frame.fill((klass, Attribute(name)), held)
            if name in env:
                inside[name] = env[name]
            else:
                inside.pop(name, None)
    enumerations.initialise(frame, klass, statement.node)
    _tell_of(frame, klass, statement)
    value = value_of(modules.library_of(frame, statement.qualified) or klass)
    for decorator in reversed(statement.decorators):
        value = decorators.decorated(frame, decorator, value)
    assignments.assign(frame, statement.target, value)


def _optional(frame: Frame, name: str, value: Value, node: int) -> Value:
    """What a field is: where the class gives it a constant, an option, which who makes an object may set."""
    option = Option(name, frame.code(node))
    atoms = [
        Choice(option, value_of(atom), value_of(_OTHER.get(atom, NOT_NONE))) if isinstance(atom, Constant) else atom
        for atom in frame.each(value)
    ]
    return Value(frame.solver.lattice.kept(frozenset(atoms)), value.taints, value.certain)


def _tell_of(frame: Frame, klass: ClassRef, statement: ir.DefineClass) -> None:
    """Tell descriptors and base classes of a class that is defined."""
    if "__set_name__" in frame.solver.index.special:
        for name in classes.text(frame, klass).binds:
            descriptors.named(frame, klass, name, frame.read((klass, Attribute(name))), statement.node)
    if "__init_subclass__" not in frame.solver.index.special:
        return
    value, owner = classes.lookup(frame, classes.order(frame, klass)[1:], "__init_subclass__")
    if isinstance(owner, ClassRef):
        given = [a for a in statement.arguments if (a.keyword and a.keyword != "metaclass") or a.star == "**"]
        keywords = arguments.arguments_of(frame, ir.Call(ir.Constant("None"), tuple(given), statement.node))
        for atom in frame.each(value):
            function = atom.function if isinstance(atom, Wrapped) else atom
            if isinstance(function, FunctionRef):
                calls.call_function(frame, function, klass, keywords, statement.node)
