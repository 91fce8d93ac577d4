"""Attributes: of objects, classes, modules and of what libraries have."""

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
    ModuleRef,
    SuperOf,
    TupleOf,
)  # fmt: skip
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
        return value_of(LibraryRef(f"{atom.name}.{name}")) if atom.name.count(".") + 1 < longest else UNKNOWN
    if isinstance(atom, Instance):
        if isinstance(atom.site.kind, ClassRef):
            return _of_object(frame, atom, atom.site.kind, name, node)
        return _of_library_object(frame, atom, atom.site.kind, name)
    if isinstance(atom, ModuleRef):
        return modules.variable(frame, atom.file, name)
    if isinstance(atom, ClassRef):
        return _of_class(frame, atom, name)
    if isinstance(atom, (FunctionRef, Bound)):
        return _given_to(frame, "function", atom, name) or UNKNOWN
    if isinstance(atom, SuperOf):
        return _of_super(frame, atom, name, node)
    if isinstance(atom, Choice):
        return frame.join(of(frame, atom.default, name, node), of(frame, atom.other, name, node))
    if isinstance(atom, TupleOf):
        return value_of(Bound(LibraryRef(f"builtins.list.{name}"), NOT_NONE))
    if isinstance(atom, Constant):
        return value_of(Bound(LibraryRef(f"builtins.str.{name}"), atom)) if atom.kind == "str" else NOTHING
    return UNKNOWN


def _of_class(frame: Frame, atom: ClassRef, name: str) -> Value:
    """An attribute of a class: what its text binds, else what decorators of libraries give a class, or a base has."""
    value, owner = classes.lookup(frame, classes.order(frame, atom), name)
    if owner == classes.PENDING:
        return NOTHING
    if owner is None or isinstance(owner, LibraryRef):
        given = _given_to(frame, "type", atom, name)
        if given is not None:
            return given
        if any(frame.solver.libraries.takes_class(each.name) for each in value.atoms if isinstance(each, LibraryRef)):
            return value.of(Bound(each, atom) for each in value.atoms if isinstance(each, LibraryRef))
    return classes.bound(value, atom)[0] if owner is not None else UNKNOWN


def _given_to(frame: Frame, kind: str, atom: Atom, name: str) -> Value | None:
    """The method of a name that decorators of libraries give what is of a kind, bound to it."""
    given = frame.solver.libraries.given_to(kind, name)
    return value_of(Bound(LibraryRef(given), atom)) if given else None


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
    if isinstance(owner, LibraryRef):
        known = frame.solver.libraries.get(CallStep(frame, node, None, value_of(atom), atom), f"{owner.name}.{name}")
        found = known if known is not None else found
    if isinstance(owner, LibraryRef) and stored:
        found = NOTHING  # what the text of the project stores is not the library's
    if owner is None and not stored:
        found = frame.join(found, UNKNOWN)
    if stored or name in frame.solver.index.stored or name in _added(frame):
        found = frame.join(frame.read((atom.site, Attribute(name))), found)
    return found


def _added(frame: Frame) -> frozenset[str]:
    """The attributes that calls add by name."""
    return frame.solver.index.added(frame.solver.libraries.adding)


def _of_library_object(frame: Frame, atom: Instance, kind: LibraryRef, name: str) -> Value:
    """An attribute of an object of a library: by its model, what was stored on it, else a method."""
    found: Value | None = None
    for klass in classes.models(frame, kind.name):
        if klass.attribute is not None:
            found = versioned(frame, atom, name)
            break
    if found is None:
        known = frame.solver.libraries.get(CallStep(frame, -1, None, value_of(atom), atom), f"{kind.name}.{name}")
        found = known if known is not None else value_of(Bound(LibraryRef(f"{kind.name}.{name}"), atom))
        if (name in frame.solver.index.stored or name in _added(frame)) and not kind.name.startswith("builtins."):
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
