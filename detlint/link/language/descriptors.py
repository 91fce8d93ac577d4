"""Attributes with a meaning defined by the project's classes: descriptors, and hooks for all attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.link.state.objects import PARTIAL_METHOD
from detlint.link.state.values import NONE, Atom, Class, Function, Object, Partial, Value, constant, each, join, single

if TYPE_CHECKING:
    from detlint.link.language.attributes import Attributes as Run
else:
    Run = Any


def got(run: Run, owner: Object | Class, name: str, value: Value) -> Value:
    """Return the value of an attribute, through `__get__` if the class holds a descriptor."""
    if run.program.objects.has_of_its_own(owner, name) or run.state is None:
        return value
    instance, kind = (single(owner), owner.kind) if isinstance(owner, Object) else (NONE, owner)
    found = []
    for atom in each(value):
        if isinstance(atom, Partial) and PARTIAL_METHOD in atom.function:
            found.append(_with_arguments(run, owner, atom))
            continue
        methods = _methods(run, atom, "__get__")
        given = (instance, single(kind))
        called = run.call_value(methods, given, {}, run.place_of(methods)) if methods else single(atom)
        found.append(called)
    return join(found)


def _with_arguments(run: Run, owner: Object | Class, atom: Partial) -> Value:
    """Return the method that `partialmethod(function, ...)` defines."""
    function, *positional = atom.positional
    return single(Partial(run.bound(function, owner), tuple(positional), atom.keywords))


def looked_at(run: Run, owner: Object, name: str) -> None:
    """Call the `__getattribute__` of the class, as for each read of an attribute."""
    _call_once(run, owner, "__getattribute__", (constant(name),))


def set_by(run: Run, owner: Object, name: str, value: Value) -> bool:
    """Call `__setattr__` of the class and `__set__` of its descriptors; return whether a descriptor takes the value."""
    if run.state is None or not isinstance(owner.kind, Class):
        return False
    _call_once(run, owner, "__setattr__", (constant(name), value))
    held = run.program.objects.attribute(owner.kind, name) or frozenset()
    taken = False
    for atom in each(held):
        methods = _methods(run, atom, "__set__")
        if methods and run.state is not None:
            run.call_value(methods, (single(owner), value), {}, run.place_of(methods))
            taken = True
    return taken


def name_attributes(run: Run, klass: Class) -> None:
    """Call `__set_name__` of the descriptors of a newly defined class."""
    for name, value in list(run.program.objects.classes[klass].attributes.items()):
        for atom in each(value):
            methods = _methods(run, atom, "__set_name__")
            if methods and run.state is not None:
                run.call_value(methods, (single(klass), constant(name)), {}, run.place_of(methods))


def _methods(run: Run, atom: Atom, name: str) -> Value:
    """Return a method of an object of the project, bound to the object; empty for anything else."""
    if not isinstance(atom, Object) or not isinstance(atom.kind, Class):
        return frozenset()
    found = run.program.objects.attribute(atom.kind, name) or frozenset()
    return run.bound(frozenset(a for a in found if isinstance(a, Function)), atom)


def _call_once(run: Run, owner: Object, name: str, given: tuple[Value, ...]) -> None:
    """Call a hook for all attributes, unless a call of it is already active."""
    methods = _methods(run, owner, name)
    active = ((a.path, a.qualified) in run.active for a in methods if isinstance(a, Function))
    if methods and run.state is not None and not any(active):
        run.call_value(methods, given, {}, run.place_of(methods))
