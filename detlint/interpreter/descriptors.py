"""What classes make of the attributes of their objects: methods, properties, descriptors, methods for all names."""

from __future__ import annotations

from detlint.domain.atoms import Atom, ClassRef, Constant, FunctionRef, Instance, Wrapped
from detlint.domain.given import Given
from detlint.domain.values import NOTHING, NULL, Value, value_of
from detlint.interpreter import classes, protocols
from detlint.interpreter.frames import Frame


def got(frame: Frame, value: Value, receiver: Atom, node: int) -> Value:
    """What a class has under a name, as a receiver gets it: a method bound, a property or a descriptor called."""
    bound, properties = classes.bound(value, receiver)
    if "__get__" not in frame.solver.index.special:
        found = bound
    else:
        instance = NULL if isinstance(receiver, ClassRef) else value_of(receiver)
        kind = receiver if isinstance(receiver, ClassRef) else getattr(getattr(receiver, "site", None), "kind", None)
        given = (instance, value_of(kind) if isinstance(kind, ClassRef) else NULL)
        found, rest = protocols.asked(frame, bound, ("__get__",), given, node)
        found = frame.join(found, bound.of(rest))
    for function in properties:
        found = frame.join(found, frame.tables.method(frame, function, receiver, node))
    return found


def looked_at(frame: Frame, atom: Instance, around: classes.Order, name: str, node: int) -> None:
    """What a class does whenever an attribute of an object is read."""
    if "__getattribute__" in frame.solver.index.special:
        _tell(frame, atom, around, "__getattribute__", (value_of(Constant("str", name)),), node)


def missing(frame: Frame, atom: Instance, around: classes.Order, name: str, node: int) -> Value | None:
    """What a class gives for an attribute that an object does not have; None where it gives nothing."""
    if name.startswith("__") or "__getattr__" not in frame.solver.index.special:
        return None
    return _tell(frame, atom, around, "__getattr__", (value_of(Constant("str", name)),), node)


def set_by(frame: Frame, atom: Atom, name: str, value: Value, node: int) -> bool:
    """What a class does where an attribute of an object is set; whether the object does not keep the value itself.

    It does where the class has anything else there than what takes it.
    """
    special = frame.solver.index.special
    if not isinstance(atom, Instance) or not isinstance(atom.site.kind, ClassRef):
        return False
    around = classes.order(frame, atom.site.kind)
    if "__setattr__" in special:
        _tell(frame, atom, around, "__setattr__", (value_of(Constant("str", name)), value), node)
    if special.isdisjoint(("__set__", "setter")):
        return False
    held, owner = classes.lookup(frame, around, name)
    if not isinstance(owner, ClassRef):
        return False
    setters = [a.setter for a in frame.each(held) if isinstance(a, Wrapped) and a.setter is not None]
    for setter in setters:
        frame.tables.call(frame, classes.bound(value_of(setter), atom)[0], Given((value,)), node)
    _, rest = protocols.asked(frame, held, ("__set__",), (value_of(atom), value), node)
    return len(rest) == len(setters)


def deleted(frame: Frame, value: Value, name: str, node: int) -> None:
    """What classes do where an attribute of their objects is deleted."""
    protocols.asked(frame, value, ("__delattr__",), (value_of(Constant("str", name)),), node)


def named(frame: Frame, klass: ClassRef, name: str, value: Value, node: int) -> None:
    """Tell the descriptors of a class that is defined their name."""
    if "__set_name__" in frame.solver.index.special:
        protocols.asked(frame, value, ("__set_name__",), (value_of(klass), value_of(Constant("str", name))), node)


def _tell(
    frame: Frame, atom: Instance, around: classes.Order, name: str, given: tuple[Value, ...], node: int
) -> Value | None:
    """Call a method for all attributes; None where the class has none."""
    method, owner = classes.lookup(frame, around, name)
    if isinstance(owner, ClassRef):
        return frame.tables.call(frame, classes.bound(method, atom)[0], Given(given), node)
    return NOTHING if owner == classes.PENDING else None


def accessor(value: Value, wrapped: Wrapped, name: str) -> Value:
    """A property with another function to get it, set it or delete it."""
    found: set[Atom] = set()
    for function in value.atoms:
        if isinstance(function, FunctionRef):
            getter = function if name == "getter" else wrapped.function
            found.add(Wrapped(wrapped.kind, getter, function if name == "setter" else wrapped.setter))
    return value.of(found)
