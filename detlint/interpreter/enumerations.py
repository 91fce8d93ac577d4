"""Enumerations: their members, which are objects of their class that have a name and a value."""

from __future__ import annotations

from detlint.domain.atoms import (
    AllocationSite,
    Atom,
    ClassRef,
    Constant,
    FunctionRef,
    Instance,
    LibraryRef,
    TupleOf,
    Wrapped,
)
from detlint.domain.codes import Code
from detlint.domain.given import Given
from detlint.domain.slots import Attribute
from detlint.domain.values import NOTHING, UNKNOWN, Value, is_member, value_of
from detlint.interpreter import classes
from detlint.interpreter.frames import Frame

_VALUE, _NAME = ("value", "_value_"), ("name", "_name_")


def is_one(frame: Frame, around: classes.Order) -> bool:
    """Whether a class is an enumeration whose members are no texts and no numbers."""
    names = [klass.name for klass in around if isinstance(klass, LibraryRef)]
    found = any(frame.solver.libraries.is_of(name, "enumeration") for name in names)
    return found and not any(name in ("builtins.str", "builtins.int") for name in names)


def members(frame: Frame, klass: ClassRef) -> list[Value]:
    """The members of an enumeration, in order; what else its body assigns is a function."""
    names = (name for name, _ in classes.text(frame, klass).assigned if not name.startswith("_"))
    found = (value_of(*(a for a in frame.each(member(frame, klass, name)) if is_member(a))) for name in names)
    return [value for value in found if value.atoms]


def member(frame: Frame, klass: ClassRef, name: str) -> Value:
    """What an enumeration has under a name that its body assigns: a member, or a function as it is."""
    held = frame.read((klass, Attribute(name)))
    if name.startswith("_"):
        return held
    made = Instance(AllocationSite(klass, Code(klass.file, f"{klass.name}.{name}", -1)))
    return value_of(*(atom if _is_function(atom) else made for atom in frame.each(held)))


def _is_function(atom: Atom) -> bool:
    """Whether an atom may be a function, which is no member; a library's is told by its name."""
    if isinstance(atom, LibraryRef):
        return not atom.name.rpartition(".")[2][:1].isupper()
    return isinstance(atom, (FunctionRef, Wrapped))


def assigns(frame: Frame, klass: ClassRef, name: str) -> bool:
    """Whether the body of a class gives a name a value."""
    return any(name == each for each, _ in classes.text(frame, klass).assigned)


def attribute(frame: Frame, atom: Instance, klass: ClassRef, name: str) -> Value | None:
    """The value and the name of a member; None for another attribute."""
    assert atom.site.code is not None
    own = atom.site.code.function.rpartition(".")[2]
    if name in _VALUE:
        return frame.read((klass, Attribute(own)))
    return value_of(Constant("str", own)) if name in _NAME else None


def looked_up(frame: Frame, klass: ClassRef, value: Value) -> Value:
    """`klass(value)`: the member of a value that the text has; any where it does not."""
    known = {constant: name for name, constant in reversed(classes.text(frame, klass).assigned)}
    found = NOTHING
    for atom in frame.each(value):
        if is_member(atom):
            found = frame.join(found, value_of(atom))
        elif isinstance(atom, Constant) and atom in known:
            found = frame.join(found, member(frame, klass, known[atom]))
        else:
            found = frame.join(found, frame.solver.lattice.all((*members(frame, klass), UNKNOWN)))
    return found


def initialise(frame: Frame, klass: ClassRef, node: int) -> None:
    """Call the constructor of an enumeration for its members."""
    around = classes.order(frame, klass)
    method, owner = classes.lookup(frame, around, "__init__")
    if not isinstance(owner, ClassRef) or not is_one(frame, around):
        return
    for each in members(frame, klass):
        for atom in each.atoms:
            assert isinstance(atom, Instance)
            held = attribute(frame, atom, klass, "value") or NOTHING
            for one in frame.each(held):
                given = one.items if isinstance(one, TupleOf) else (held.of((one,)),)
                frame.tables.call(frame, classes.bound(method, atom)[0], Given(given), node)
