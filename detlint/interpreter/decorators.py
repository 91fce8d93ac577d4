"""Decorators: what they make of functions and classes."""

from __future__ import annotations

from typing import Any

from detlint.domain.atoms import Atom, Bound, ClassRef, FunctionRef, Instance, LibraryRef, PartialCall, Wrapped
from detlint.domain.given import Given
from detlint.domain.values import NOTHING, UNKNOWN, Value, value_of
from detlint.interpreter import arguments, calls, descriptors
from detlint.interpreter.frames import Frame
from detlint.ir import nodes as ir

_WRAPPERS = {
    "builtins.staticmethod": "staticmethod", "builtins.classmethod": "classmethod", "builtins.property": "property",
    "functools.cached_property": "property",
}  # fmt: skip
_DECORATED = (FunctionRef, ClassRef, Instance, Bound, PartialCall)


def decorated(frame: Frame, expression: ir.Expression, value: Value) -> Value:
    """A function or a class as its decorator gives it; one of which nothing is known gives it as it is.

    So does one of the project that is given more functions than it may have contexts, as the text tells.
    """
    decorator = frame.evaluate(expression)
    many = frame.solver.index.decorates(expression) > frame.solver.limits.contexts
    found = NOTHING
    for atom in frame.each(decorator):
        if isinstance(atom, LibraryRef) and _WRAPPERS.get(atom.name):
            kind: Any = _WRAPPERS[atom.name]
            found = frame.join(found, value.of([Wrapped(kind, a) for a in value.atoms if isinstance(a, FunctionRef)]))
        elif isinstance(atom, Bound) and isinstance(atom.receiver, Wrapped) and isinstance(atom.function, LibraryRef):
            given = descriptors.accessor(value, atom.receiver, atom.function.name.rpartition(".")[2])
            found = frame.join(found, given)
        elif many and _is_own(atom):
            calls.call_value(frame, value_of(atom), Given((UNKNOWN,)))
            found = frame.join(found, value)
        elif _decorates(frame, atom):
            given = calls.dispatch(frame, atom, arguments.Arguments((value,)), -1)
            known = [] if _is_registered(frame, value) else [a for a in frame.each(given) if isinstance(a, _DECORATED)]
            found = frame.join(found, given.of(known))
            if len(known) < len(given.atoms):
                found = frame.join(found, value)
        else:
            found = frame.join(found, value)
    return found


def _is_registered(frame: Frame, value: Value) -> bool:
    """Whether settings tell what a function does to generators, whatever is around it."""
    return any(isinstance(atom, FunctionRef) and frame.solver.is_registered(atom) for atom in value.atoms)


def _is_own(atom: Atom) -> bool:
    """Whether a decorator is something of the project, which is evaluated for each function that it is given."""
    if isinstance(atom, (Bound, PartialCall)):
        return _is_own(atom.function)
    return isinstance(atom.site.kind if isinstance(atom, Instance) else atom, (FunctionRef, ClassRef))


def _decorates(frame: Frame, atom: Atom) -> bool:
    """Whether it is known what a decorator does."""
    if isinstance(atom, (Bound, PartialCall)):
        return _decorates(frame, atom.function)
    if isinstance(atom, Instance):
        return isinstance(atom.site.kind, ClassRef) or calls.has_model(frame, atom)
    known = isinstance(atom, LibraryRef) and frame.solver.libraries.decorates(atom.name)
    return known or isinstance(atom, (FunctionRef, ClassRef))
