"""Lookups by a name: members of modules and objects, and the variables of a module."""

from __future__ import annotations

from typing import Any

from detlint.finding import Place
from detlint.link.state.objects import UNSPELLED
from detlint.link.state.values import UNKNOWN, Atom, Class, Function, Library, Module, Object, Value, join


def members(run: Any, atom: Atom) -> Value:
    """Return what an unknown name may refer to: functions of a module or package, methods of an object.

    If an object was given attributes by unknown names, it is one of these.
    """
    found: Value = run.program.objects.stored(atom, UNSPELLED) or frozenset()
    if found:
        return found | UNKNOWN
    if isinstance(atom, Module):
        run.unrepeatable()
        own = atom.path.removesuffix("__init__.py")
        for value in run.variables_of(atom.path).values():
            found |= frozenset(a for a in value if isinstance(a, (Function, Class)) and a.path.startswith(own))
    elif isinstance(atom, Object) and isinstance(atom.kind, Class) and atom.kind in run.program.objects.classes:
        run.program.objects.ancestry(atom.kind)
        attributes = run.program.objects.classes[atom.kind].attributes.items()
        public = [value for name, value in attributes if not name.startswith("_")]
        found = run.bound(join(public), atom) if public else found
    return found | UNKNOWN


def variables(run: Any, module: Module, place: Place) -> Object:
    """Return a dict of the variables of a module by name, as `vars` shows them, made at `place`."""
    run.unrepeatable()
    made = Object(Library("builtins.dict"), *run.site(place))
    for name, value in run.variables_of(module.path).items():
        run.program.objects.replace(made, f"[{name!r}]", value)
    return made
