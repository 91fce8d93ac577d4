"""Attributes: of objects, classes, modules and of what libraries have."""

from __future__ import annotations

from detlint.domain.atoms import (
    NOT_NONE,
    Atom,
    Bound,
    Choice,
    ClassRef,
    Constant,
    Instance,
    LibraryRef,
    ModuleRef,
    SuperOf,
    TupleOf,
)  # fmt: skip
from detlint.domain.outcomes import Outcome
from detlint.domain.slots import Attribute, Base
from detlint.domain.values import NOTHING, UNKNOWN, Value, value_of
from detlint.interpreter import classes, modules
from detlint.interpreter.frames import Frame
from detlint.interpreter.steps import CallStep


def of(frame: Frame, value: Value, name: str, node: int = -1) -> Value:
    """An attribute of a value: that of each of its atoms."""
    found = NOTHING
    for atom in frame.each(value):
        found = frame.join(found, of_atom(frame, atom, name, node))
    return found


def of_atom(frame: Frame, atom: Atom, name: str, node: int) -> Value:
    """An attribute of an atom; nothing where it surely has none yet, `UNKNOWN` where nothing in the text binds it."""
    if isinstance(atom, LibraryRef):
        longest = frame.solver.limits.parts  # a loop over `x = x.next` makes names without end
        return modules.library_name(frame, f"{atom.name}.{name}") if atom.name.count(".") + 1 < longest else UNKNOWN
    if isinstance(atom, Instance):
        if isinstance(atom.site.kind, ClassRef):
            return _of_object(frame, atom, atom.site.kind, name, node)
        return _of_library_object(frame, atom, atom.site.kind, name)
    if isinstance(atom, ModuleRef):
        return modules.variable(frame, atom.file, name)
    if isinstance(atom, ClassRef):
        value, owner = classes.lookup(frame, classes.order(frame, atom), name)
        return classes.bound(value, atom)[0] if owner is not None else UNKNOWN
    if isinstance(atom, SuperOf):
        return _of_super(frame, atom, name, node)
    if isinstance(atom, Choice):
        default, other = of(frame, atom.default, name, node), of(frame, atom.other, name, node)
        return frame.chosen(Outcome(True, True, atom.option), other, default)
    if isinstance(atom, TupleOf):
        return value_of(Bound(LibraryRef(f"builtins.list.{name}"), NOT_NONE))
    if isinstance(atom, Constant):
        return value_of(Bound(LibraryRef(f"builtins.str.{name}"), atom)) if atom.kind == "str" else NOTHING
    return UNKNOWN


def _of_object(frame: Frame, atom: Instance, klass: ClassRef, name: str, node: int) -> Value:
    """An attribute of an object of the project: what was stored on it, and what its class has."""
    if name == "__class__":
        return value_of(klass)
    around = classes.order(frame, klass)
    value, owner = classes.lookup(frame, around, name)
    found, properties = classes.bound(value, atom)
    for function in properties:
        found = frame.join(found, frame.tables.method(frame, function, atom, node))
    stored = classes.stores(frame, around, name)
    if isinstance(owner, LibraryRef) and stored:
        found = NOTHING  # what the text of the project stores is not the library's
    if owner is None and not stored:
        found = frame.join(found, UNKNOWN)
    if stored or name in frame.solver.index.stored or isinstance(owner, ClassRef):
        found = frame.join(frame.read((atom.site, Attribute(name))), found)
    return found


def _of_library_object(frame: Frame, atom: Instance, kind: LibraryRef, name: str) -> Value:
    """An attribute of an object of a library: by its model, what was stored on it, else a method."""
    found: Value | None = None
    for klass in classes.models(frame, kind.name):
        if klass.attribute is not None:
            found = versioned(frame, atom, name)
            break
    if found is None:
        found = value_of(Bound(LibraryRef(f"{kind.name}.{name}"), atom))
        if name in frame.solver.index.stored and not kind.name.startswith("builtins."):
            found = frame.join(found, frame.read((atom.site, Attribute(name))))
    return found


def versioned(frame: Frame, atom: Instance, name: str, seen: frozenset[Instance] = frozenset()) -> Value:
    """An attribute of a configuration object: the newest that was written to its version, over all that it came from.

    A version is known once its write is in the heap, so that what it lacks, it lacks for good.
    """
    if atom in seen:
        return NOTHING
    if atom.version is None:
        found = frame.read((atom.site, Attribute(name)))
        for klass in classes.models(frame, str(getattr(atom.site.kind, "name", ""))):
            if klass.attribute is not None:
                given = klass.attribute(CallStep(frame, -1), atom, name)
                found = frame.join(found, given if given is not None else NOTHING)
        return found
    own = frame.read((atom, Attribute(name)))
    if own.atoms:
        return own
    found = NOTHING
    for parent in frame.each(frame.read((atom, Base(0)))):
        if isinstance(parent, Instance):
            found = frame.join(found, versioned(frame, parent, name, seen | {atom}))
    return found


def _of_super(frame: Frame, atom: SuperOf, name: str, node: int) -> Value:
    """An attribute of the classes that come after one in the order of the receiver's class."""
    receiver = atom.receiver
    klass = (
        receiver
        if isinstance(receiver, ClassRef)
        else receiver.site.kind
        if isinstance(receiver, Instance)
        else atom.klass
    )
    if not isinstance(klass, ClassRef):
        return UNKNOWN
    around = classes.order(frame, klass)
    after = around[around.index(atom.klass) + 1 :] if atom.klass in around else ()
    value, owner = classes.lookup(frame, after, name)
    found, properties = classes.bound(value, receiver)
    for function in properties:
        found = frame.join(found, frame.tables.method(frame, function, receiver, node))
    return found if owner is not None or found.atoms else UNKNOWN
