"""What annotations say of parameters of which nothing else is known."""

from __future__ import annotations

from detlint.domain.atoms import UNKNOWN_ATOM, AllocationSite, ClassRef, FunctionRef, Instance
from detlint.domain.codes import Code
from detlint.domain.values import Value
from detlint.interpreter import modules
from detlint.interpreter.frames import Frame
from detlint.ir import nodes as ir

_ANYWHERE = -2  # the node of objects of which nobody knows who made them


def is_told(made: Instance) -> bool:
    """Whether an annotation alone tells of an object: what is stored on it may be anything."""
    return made.site.code is not None and made.site.code.node == _ANYWHERE


def told(frame: Frame, function: FunctionRef, code: ir.Function, given: dict[str, Value]) -> None:
    """Let parameters that may be anything be objects of the classes of the project that they are annotated with."""
    for parameter in code.parameters:
        value = given.get(parameter.name)
        if not parameter.annotation or value is None or UNKNOWN_ATOM not in value.atoms:
            continue
        if parameter.annotation.rpartition(".")[2] not in frame.solver.index.classes:
            continue
        classes = [atom for atom in _named(frame, function, parameter.annotation) if isinstance(atom, ClassRef)]
        if classes:
            made = (Instance(AllocationSite(klass, Code(klass.file, klass.name, _ANYWHERE))) for klass in classes)
            given[parameter.name] = value.of((*made, *(value.atoms - {UNKNOWN_ATOM})))


def _named(frame: Frame, function: FunctionRef, name: str) -> list[object]:
    """What a dotted name stands for at the top level of a function's file."""
    first, *rest = name.split(".")
    found = modules.named(frame, frame.solver.files[function.file], first)
    for each in rest:
        found = frame.tables.attribute(frame, found, each)
    return [*frame.each(found)]
