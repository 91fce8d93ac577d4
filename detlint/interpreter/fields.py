"""Classes of fields: the constructors that they are given, and tuples whose items have names."""

from __future__ import annotations

from detlint.domain.atoms import Atom, Bound, Choice, ClassRef, Constant, FunctionRef, Instance, LibraryRef
from detlint.domain.given import Given
from detlint.domain.library import FIELD
from detlint.domain.outcomes import is_unset
from detlint.domain.slots import ITEMS, Argument, Attribute, Key
from detlint.domain.values import NOTHING, UNKNOWN, Value
from detlint.interpreter import classes
from detlint.interpreter.arguments import Arguments
from detlint.interpreter.frames import Frame


def names(frame: Frame, around: classes.Order) -> tuple[str, ...]:
    """The fields of a class and its bases, in the order in which a constructor takes them."""
    own = [classes.text(frame, klass).fields for klass in reversed(around) if isinstance(klass, ClassRef)]
    return tuple(dict.fromkeys(name for each in own for name in each))


def parameters(frame: Frame, atom: Atom) -> tuple[str, ...] | None:
    """What a call of a function or a class may give, by name; None for what is not the project's, or not known yet."""
    if isinstance(atom, ClassRef):
        around = classes.order(frame, atom)
        value, owner = classes.lookup(frame, around, "__init__")
        functions = frame.each(value)
        if owner is None and classes.is_known(around):
            return names(frame, around)
        if not isinstance(owner, ClassRef) or len(functions) != 1 or isinstance(functions[0], ClassRef):
            return None
        found = parameters(frame, functions[0])
        return None if found is None else found[1:]
    if isinstance(atom, Bound):
        found = parameters(frame, atom.function)
        return None if found is None else found[1:]
    if not isinstance(atom, FunctionRef):
        return None
    own = frame.solver.files[atom.file].functions[atom.name].parameters
    return tuple(parameter.name for parameter in own if not parameter.star)


def holds(frame: Frame, around: classes.Order, name: str) -> bool:
    """Whether objects get an attribute by a constructor that is made of fields, so that what a class has is not it."""
    fields = (classes.text(frame, klass).fields for klass in around if isinstance(klass, ClassRef))
    if frame.solver.below is not None or not any(name in each for each in fields):
        return False
    _, owner = classes.lookup(frame, around, "__init__")
    return not isinstance(owner, ClassRef)


def fill(frame: Frame, made: Instance, around: classes.Order, arguments: Arguments, node: int) -> None:
    """Give the fields of an object what a constructor takes, or their defaults."""
    fields = names(frame, around)
    given = dict(zip(fields, arguments.positional, strict=False)) | dict(arguments.keywords)
    for name in dict.fromkeys((*fields, *given)):
        value = given.get(name)
        if value is None:
            value = _default(frame, around, name, node)
            if arguments.open and not all(
                isinstance(atom, Choice) and not is_unset(atom) for atom in frame.each(value)
            ):
                value = frame.join(value, UNKNOWN)  # who gives it sets an option otherwise
        put(frame, made, around, name, value)


def put(frame: Frame, made: Instance, around: classes.Order, name: str, value: Value) -> None:
    """Give an object a field, which is an item as well of a tuple whose items have names."""
    frame.write((made.site, Attribute(name)), value)
    fields = names(frame, around) if classes.NAMED_TUPLE in around else ()
    if name in fields:
        frame.write((made.site, Key(Constant("int", str(fields.index(name))))), value)
        frame.write((made.site, ITEMS), value)


def _default(frame: Frame, around: classes.Order, name: str, node: int) -> Value:
    """What a field is that is not given: the value in the body of the class, or what its factory makes."""
    held, _ = classes.lookup(frame, around, name)
    found = NOTHING
    for atom in frame.each(held):
        if isinstance(atom, Instance) and atom.site.kind == LibraryRef(FIELD):
            factory = frame.read((atom.site, Argument("factory")))
            found = frame.join(found, frame.tables.call(frame, factory, Given(), node))
        else:
            found = frame.join(found, held.of((atom,)))
    return found
