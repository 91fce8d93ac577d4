"""Classes: their order of resolution, and what they and their objects have under a name."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.domain.atoms import Atom, Bound, ClassRef, FunctionRef, Instance, LibraryRef, Wrapped
from detlint.domain.library import Class
from detlint.domain.slots import Attribute, Base
from detlint.domain.values import NOTHING, UNKNOWN, Value, value_of
from detlint.interpreter.frames import Frame

Order = tuple[ClassRef | LibraryRef, ...]
_OPAQUE = LibraryRef("")  # a base of which nothing is known
PENDING = LibraryRef("?")  # a base of which nothing is known yet


def order(frame: Frame, klass: ClassRef) -> Order:
    """The classes whose attributes those of a class are, first to last: depth first, a class that several have last."""
    found: dict[ClassRef | LibraryRef, None] = {}
    for each in _below(frame, klass, 0):
        found.pop(each, None)
        found[each] = None
    return tuple(found)


def _below(frame: Frame, klass: ClassRef | LibraryRef, depth: int) -> Iterator[ClassRef | LibraryRef]:
    yield klass
    if not isinstance(klass, ClassRef) or depth > 12:
        return
    for index in range(frame.solver.files[klass.file].classes[klass.name].bases):
        value = frame.read((klass, Base(index)))
        if not value.atoms:
            yield PENDING
        for atom in frame.each(value):
            if isinstance(atom, (ClassRef, LibraryRef)):
                yield from _below(frame, atom, depth + 1)
            else:
                yield _OPAQUE


def binds(frame: Frame, klass: ClassRef, name: str) -> bool:
    """Whether the text of a class's body binds a name."""
    return name in frame.solver.files[klass.file].classes[klass.name].binds


def stores(frame: Frame, classes: Order, name: str) -> bool:
    """Whether a method of one of `classes` stores an attribute of a name on its first parameter."""
    files = frame.solver.files
    return any(isinstance(k, ClassRef) and name in files[k.file].classes[k.name].stores for k in classes)


def fields(frame: Frame, klass: ClassRef) -> dict[str, Value]:
    """What the bodies of a class and of its bases bind to anything but functions."""
    found: dict[str, Value] = {}
    for each in reversed(order(frame, klass)):
        names = frame.solver.files[each.file].classes[each.name].binds if isinstance(each, ClassRef) else ()
        for name in names:
            value = frame.read((each, Attribute(name)))  # type: ignore[arg-type]
            kept = value.of(atom for atom in value.atoms if not isinstance(atom, (FunctionRef, Wrapped, ClassRef)))
            if kept.atoms:
                found[name] = kept
    return found


def lookup(frame: Frame, classes: Order, name: str) -> tuple[Value, ClassRef | LibraryRef | None]:
    """What the first of `classes` that binds a name has under it, and that class; no class where none does.

    What a library's class has is for its model.
    """
    for klass in classes:
        if isinstance(klass, ClassRef):
            if binds(frame, klass, name):
                return frame.read((klass, Attribute(name))), klass
        elif klass == PENDING:
            return NOTHING, klass
        elif klass == _OPAQUE:
            return UNKNOWN, None
        elif klass.name not in ("builtins.object", "abc.ABC") and not klass.name.startswith("typing."):
            return value_of(LibraryRef(f"{klass.name}.{name}")), klass
    return NOTHING, None


def bound(value: Value, receiver: Atom) -> tuple[Value, list[FunctionRef]]:
    """What a class has under a name, as a receiver gets it, and the properties that are to be called."""
    atoms: set[Atom] = set()
    properties: list[FunctionRef] = []
    of_class = (
        receiver if isinstance(receiver, ClassRef) else receiver.site.kind if isinstance(receiver, Instance) else None
    )
    for atom in value.atoms:
        if isinstance(atom, (FunctionRef, LibraryRef)) and not isinstance(receiver, ClassRef):
            atoms.add(Bound(atom, receiver))
        elif isinstance(atom, Wrapped):
            if atom.kind == "staticmethod":
                atoms.add(atom.function)
            elif atom.kind == "classmethod" and isinstance(of_class, ClassRef):
                atoms.add(Bound(atom.function, of_class))
            elif atom.kind == "property" and not isinstance(receiver, ClassRef):
                properties.append(atom.function)
        else:
            atoms.add(atom)
    return value.of(atoms), sorted(properties, key=repr)


def models(frame: Frame, name: str) -> Iterator[Class]:
    """The model of a library's class and those that it goes on to."""
    found = frame.solver.libraries.classes.get(name)
    if found is not None:
        yield found
        for base in found.bases:
            yield from models(frame, base)
