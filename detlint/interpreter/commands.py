"""Command lines that are made of functions and classes: what has a default among their parameters is an option."""

from __future__ import annotations

from detlint.domain.atoms import (
    NOT_NONE,
    Atom,
    Bound,
    Choice,
    ClassRef,
    Constant,
    FunctionRef,
    Instance,
    LibraryRef,
    Option,
)  # fmt: skip
from detlint.domain.codes import Code
from detlint.domain.given import Given
from detlint.domain.slots import ITEMS, Argument
from detlint.domain.values import Value, is_container, value_of
from detlint.interpreter import alternatives, classes, modules
from detlint.interpreter.frames import Frame
from detlint.ir import nodes as ir


def run(frame: Frame, component: Value, node: int) -> None:
    """Run what a command line chooses: one function or class, of those that a container or else the file has."""

    def run_one(atom: Atom) -> Value:
        made = _call(frame, atom, node)
        for each in frame.each(made):
            if isinstance(each, Instance) and isinstance(each.site.kind, ClassRef):
                methods = value_of(*_methods(frame, each, each.site.kind))
                alternatives.call_one(frame, methods, (), lambda method: _call(frame, method, node), node)
        return made

    alternatives.call_one(frame, value_of(*_components(frame, component)), (), run_one, node)


def _components(frame: Frame, component: Value) -> list[Atom]:
    found: dict[Atom, None] = {}
    for atom in frame.each(component):
        if isinstance(atom, Instance) and isinstance(atom.site.kind, LibraryRef):
            if is_container(atom):
                found.update(dict.fromkeys(frame.each(frame.read((atom.site, ITEMS)))))
        else:
            found[atom] = None
    return list(found) if component.atoms else _of_file(frame)


def _of_file(frame: Frame) -> list[Atom]:
    """The functions that the file defines."""
    found: dict[Atom, None] = {}
    path = frame.file.path
    for function in frame.file.functions.values():
        if not (function.owner or function.klass or function.qualified in (ir.TOP, ir.MAIN)):
            for atom in frame.each(modules.global_variable(frame, function.name)):
                if isinstance(atom, FunctionRef) and atom.file == path:
                    found[atom] = None
    return list(found)


def _methods(frame: Frame, made: Instance, klass: ClassRef) -> list[Atom]:
    """The methods of an object whose names do not say that they are its own."""
    names = [name for name in frame.solver.files[klass.file].classes[klass.name].binds if name[0] != "_"]
    found: dict[Atom, None] = {}
    for name in sorted(names):
        value, _ = classes.lookup(frame, (klass,), name)
        found.update(dict.fromkeys(frame.each(classes.bound(value, made)[0])))
    return list(found)


def _call(frame: Frame, atom: Atom, node: int) -> Value:
    """Call something with the defaults of its parameters, which the user may set otherwise."""
    return frame.tables.call(frame, value_of(atom), Given((), _options(frame, atom)), node)


def _options(frame: Frame, atom: Atom) -> dict[str, Value]:
    """The parameters of a function that have defaults, as options."""
    if isinstance(atom, ClassRef):
        value, _ = classes.lookup(frame, classes.order(frame, atom), "__init__")
        atom = next((each for each in frame.each(value) if isinstance(each, FunctionRef)), atom)
    function = atom.function if isinstance(atom, Bound) else atom
    if not isinstance(function, FunctionRef):
        return {}
    code = Code(function.file, function.name, -1)
    found: dict[str, Value] = {}
    for parameter in frame.solver.files[function.file].functions[function.name].parameters:
        if parameter.default is not None and not parameter.star:
            option = Option(f"--{parameter.name.replace('_', '-')}", code)
            default = frame.read((function, Argument(parameter.name)))
            found[parameter.name] = default.of(_optional(option, each) for each in default.atoms)
    return found


def _optional(option: Option, atom: Atom) -> Atom:
    return Choice(option, value_of(atom), value_of(NOT_NONE)) if isinstance(atom, Constant) else atom
