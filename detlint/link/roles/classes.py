"""Classes that calls make or return: by `type`, from lists of fields, and those that derive from another class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.link.roles.role import Role
from detlint.link.state.arguments import Arguments
from detlint.link.state.mappings import entries, key, written_items
from detlint.link.state.objects import ClassInfo
from detlint.link.state.values import (
    SOME,
    UNKNOWN,
    Class,
    Library,
    Object,
    Tuple,
    Value,
    each,
    exact,
    only,
    single,
)

if TYPE_CHECKING:
    from detlint.link.libraries.library import Interpreter as Run
else:
    Run = Any

_PARTS = 3  # of a class: its name, its bases and its attributes


def _type(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return the class of an object, or a new class with a name, bases and attributes."""
    if len(given.positional) == _PARTS:
        name, bases, attributes = given.positional
        atom = only(bases)
        held = {
            word: value
            for each_of in each(attributes)
            for slot, value in entries(run.program.objects, each_of).items()
            if isinstance(word := key(slot), str)
        }
        return _defined(run, name, atom.items if isinstance(atom, Tuple) else (UNKNOWN,), held, (), place)
    found = frozenset(atom.kind for atom in given.first() if isinstance(atom, Object))
    return found or UNKNOWN


def _made_of_fields(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return a new class whose fields are listed, by name, type and default."""
    fields: dict[str, Value] = {}
    atom = only((*given.positional, UNKNOWN, UNKNOWN)[1])
    items = None if atom is None else written_items(run.program.objects, atom)
    for item in items or ():
        field = only(item)
        parts = (field.items if isinstance(field, Tuple) else (item,)) + (SOME,) * _PARTS
        name = exact(parts[0])
        if not isinstance(name, str):
            return UNKNOWN
        fields[name] = parts[_PARTS - 1]
    return UNKNOWN if items is None else _defined(run, given.first(), (), fields, tuple(fields), place)


def _defined(
    run: Run,
    name: Value,
    bases: tuple[Value, ...],
    attributes: dict[str, Value],
    fields: tuple[str, ...],
    place: Place,
) -> Value:
    path, order = run.site(place)
    klass = Class(path, f"{exact(name) or 'type'}:{order}")
    run.program.objects.define(klass, ClassInfo(bases, attributes, fields))
    return single(klass)


def _subclasses(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return a list of the classes that derive from one, in the files that were imported."""
    base, objects = only(given.first()), run.program.objects
    run.unrepeatable()
    made = run.container("list", *run.site(place))
    derived = [k for k, info in objects.classes.items() if any(base in value for value in info.bases)]
    known = (klass for klass in derived if any(run.has_run(klass.path)))
    for number, klass in enumerate(sorted(known, key=lambda klass: (klass.path, klass.qualified))):
        objects.store(made, f"[{number}]", single(klass))
    return single(made)


CLASS_ROLES: dict[str, Role] = {"type": _type, "class-of-fields": _made_of_fields, "subclasses": _subclasses}
