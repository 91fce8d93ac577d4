"""Objects of classes of the project: made as their metaclass, `__new__`, `__init__` and fields say."""

from __future__ import annotations

from detlint.domain.atoms import Atom, Bound, ClassRef, FunctionRef, Instance, LibraryRef, NotNone, Unknown, Wrapped
from detlint.domain.given import Given
from detlint.domain.values import NOTHING, Value, value_of
from detlint.interpreter import calls, classes, contexts, enumerations, fields
from detlint.interpreter.arguments import Arguments
from detlint.interpreter.frames import Frame
from detlint.interpreter.steps import CallStep

_DICTS = frozenset((LibraryRef("typing.TypedDict"), LibraryRef("typing_extensions.TypedDict")))


def make(frame: Frame, klass: ClassRef, arguments: Arguments, node: int) -> Value:
    """Call a class of the project: as its metaclass says, else as `type` does."""
    around = classes.order(frame, klass)
    if not _DICTS.isdisjoint(around):
        return calls.call_library(frame, "builtins.dict", arguments, node)
    if enumerations.is_one(frame, around):
        return enumerations.looked_up(frame, klass, arguments.given.first)
    makers = classes.metaclasses(frame, klass)
    if makers is None:
        return instantiate(frame, klass, arguments, node)
    found = NOTHING
    for maker in makers:
        method, owner = NOTHING, None
        if isinstance(maker, ClassRef):
            method, owner = classes.lookup(frame, classes.order(frame, maker), "__call__")
        if isinstance(owner, ClassRef):
            given = _called(frame, method, klass, arguments, node)
            unknown = Instance(contexts.site(frame, klass, node))
            found = frame.join(found, given.of(unknown if isinstance(a, Unknown) else a for a in frame.each(given)))
        elif owner != classes.PENDING:
            found = frame.join(found, instantiate(frame, klass, arguments, node))
    return found


def instantiate(frame: Frame, klass: ClassRef, arguments: Arguments, node: int) -> Value:
    """Make an object of a class, as `type` does: what `__new__` gives is initialised if it is one."""
    around = classes.order(frame, klass)
    made = Instance(contexts.site(frame, klass, node))
    method, owner = classes.lookup(frame, around, "__new__")
    if owner == classes.PENDING:
        return NOTHING
    given: list[Atom] = [made]
    if isinstance(owner, ClassRef):
        found = frame.each(_called(frame, method, klass, arguments, node))
        given = [made if isinstance(atom, (Unknown, NotNone)) else atom for atom in found]
    for atom in given:
        kind = atom.site.kind if isinstance(atom, Instance) else None
        if isinstance(atom, Instance) and isinstance(kind, ClassRef) and klass in classes.order(frame, kind):
            initialise(frame, atom, classes.order(frame, kind), arguments, node)
    if known := frame.solver.registered.get((klass.file, klass.name)):
        frame.solver.libraries.call(CallStep(frame, node), known, arguments.given)
    return value_of(*given)


def instantiate_with(frame: Frame, klass: ClassRef, given: Given, node: int) -> Value:
    """Make an object of a class, as `type` does."""
    return instantiate(frame, klass, Arguments(given.positional, given.keywords, open=given.open), node)


def copied(frame: Frame, old: Instance, given: dict[str, Value], node: int) -> Value:
    """Make an object of the class of another, with its fields but for those that are given."""
    assert isinstance(old.site.kind, ClassRef)
    around = classes.order(frame, old.site.kind)
    made = Instance(contexts.site(frame, old.site.kind, node))
    held = {name: frame.tables.attribute(frame, value_of(old), name) for name in fields.names(frame, around)}
    for name, value in {**held, **given}.items():
        fields.put(frame, made, around, name, value)
    return value_of(made)


def _called(frame: Frame, method: Value, klass: ClassRef, arguments: Arguments, node: int) -> Value:
    """Call a method of a class or of its metaclass, which gets the class."""
    found = NOTHING
    for atom in frame.each(method):
        function = atom.function if isinstance(atom, Wrapped) else atom
        if isinstance(function, FunctionRef):
            found = frame.join(found, calls.dispatch(frame, Bound(function, klass), arguments, node))
    return found


def initialise(frame: Frame, made: Instance, around: classes.Order, arguments: Arguments, node: int) -> None:
    """Run the first `__init__` of some classes on an object; without one its arguments are its fields."""
    value, owner = classes.lookup(frame, around, "__init__")
    if owner == classes.PENDING:
        return
    if isinstance(owner, ClassRef):
        for atom in frame.each(classes.bound(value, made)[0]):
            calls.dispatch(frame, atom, arguments, node)
        return
    fields.fill(frame, made, around, arguments, node)
    after, owner = classes.lookup(frame, around, "__post_init__")
    if isinstance(owner, ClassRef):
        for atom in frame.each(classes.bound(after, made)[0]):
            calls.dispatch(frame, atom, Arguments(), node)
    for klass in around:
        if isinstance(klass, LibraryRef):
            calls.construct(frame, made, klass.name, arguments, node)
            return
