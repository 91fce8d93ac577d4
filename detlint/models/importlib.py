"""Modules that a program imports, or loads from a file, by a name that it puts together, and what texts name in one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import (
    CUT_ALL,
    NONE,
    UNKNOWN_ATOM,
    Bound,
    Choice,
    ClassRef,
    Constant,
    Instance,
    LibraryRef,
    ModuleRef,
)
from detlint.domain.slots import Argument
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, UNKNOWN, Value, constants, told, value_of
from detlint.models.arguments import Arguments
from detlint.models.paths import text_of

if TYPE_CHECKING:
    from detlint.models.known import Known

_LOCATION = Argument("location")


def imported(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """The module of a name; a package that imports modules by names that are not known imports all that it has."""
    package = args.given.value("package", 1)
    around = step.resolve(package) if package is not None else NOTHING
    return step.by_key(args.first("name"), lambda names: _module(step, names, around))


def _module(step: Step, name: Value, package: Value) -> Value:
    found = NOTHING
    for atom in step.each(name):
        if isinstance(atom, Constant) and atom.kind == "str":
            for full in _absolute(atom.value, package):
                found = step.join(found, step.module(full) if full else UNKNOWN)
        elif atom != NONE:
            step.package()
            found = step.join(found, UNKNOWN)
    return found


def _absolute(name: str, package: Value) -> list[str]:
    """The absolute name of a module that may be told relative to a package; "" where that is not known."""
    last = name.lstrip(".")
    if last == name:
        return [name]
    around = constants(package)
    if around is None:
        return [""]
    outer = (each.value.split(".")[: 1 - (len(name) - len(last)) or None] for each in around)
    return [".".join((*parts, last)) for parts in outer]


def spec(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """How a module is loaded from a file."""
    made = step.make(row.text("gives"))
    location = args.of("location") or (args.given.positional[1] if len(args.given.positional) > 1 else UNKNOWN)
    step.fill(made, _LOCATION, location)
    return value_of(made)


def loaded(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """The module of a spec, which is loaded next: from beside the file that says so, or from where a program starts."""
    found = NOTHING
    for atom in step.each(args.first()):
        location = step.read(atom, _LOCATION) if isinstance(atom, Instance) else UNKNOWN
        for path in step.each(location):
            text = text_of(path)
            found = step.join(found, step.module_at(text) if text is not None else UNKNOWN)
    return found


def evaluated(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """What a text names that is evaluated: where that is not known, perhaps a class of the file.

    What may be too many classes to be kept is one of these once it is called.
    """
    if isinstance(step.receiver, ModuleRef):
        return _any_made(step, step.receiver, args)
    found = NOTHING
    for atom in step.each(args.first()):
        found = step.join(found, _evaluated(step, atom, name))
    return found


def _evaluated(step: Step, atom: object, name: str) -> Value:
    if isinstance(atom, Choice):
        default, other = (_all(step, part, name) for part in (atom.default, atom.other))
        return value_of(Choice(atom.option, default, other)) if default.atoms and other.atoms else NOTHING
    if isinstance(atom, Constant) and atom.kind == "str":
        first, *rest = atom.value.split(".")
        found = step.variable(first) if first.isidentifier() else UNKNOWN
        for each in rest:
            found = step.attribute(found, each) if each.isidentifier() else UNKNOWN
        return found
    found = UNKNOWN
    for klass in _classes(step, step.file):
        found = step.join(found, value_of(klass))
    return value_of(UNKNOWN_ATOM, Bound(LibraryRef(name), step.file)) if CUT_ALL in found.atoms else found


def _classes(step: Step, module: ModuleRef) -> list[ClassRef]:
    """The classes that the variables of a module are."""
    values = step.variables(module)
    found = {atom for value in values for atom in step.each(value) if isinstance(atom, ClassRef)}
    return sorted(found, key=told)


def _any_made(step: Step, module: ModuleRef, args: Arguments) -> Value:
    """What any of the classes of a module makes."""
    for klass in _classes(step, module):
        step.perhaps(lambda klass=klass: step.call_with(value_of(klass), args.given))  # type: ignore[misc]
    return UNKNOWN


def _all(step: Step, value: Value, name: str) -> Value:
    found = NOTHING
    for atom in step.each(value):
        found = step.join(found, _evaluated(step, atom, name))
    return found
