"""Items of containers: by key, and one after the other."""

from __future__ import annotations

from detlint.domain.atoms import (
    Atom,
    Bound,
    Choice,
    ClassRef,
    Constant,
    FunctionRef,
    GeneratorCall,
    Instance,
    IteratorOver,
    LibraryRef,
    ModuleRef,
    NotNone,
    StateSnapshot,
    TupleOf,
    Wrapped,
)
from detlint.domain.dicts import present
from detlint.domain.effects import Invoke
from detlint.domain.given import Given
from detlint.domain.library import Method
from detlint.domain.outcomes import Outcome
from detlint.domain.slots import ITEMS, Key
from detlint.domain.values import NOTHING, SOMETHING, UNKNOWN, Value, is_container, value_of
from detlint.interpreter import attributes, classes, containers, enumerations, modules, protocols
from detlint.interpreter.frames import Frame
from detlint.interpreter.frames import Key as PathKey
from detlint.interpreter.steps import CallStep

_MODULES = LibraryRef("sys.modules")
_SHOWN = ".__dict__"


def iterate(frame: Frame, value: Value) -> Value:
    """An item of a value, and what going over it does."""
    found = NOTHING
    for atom in frame.solver.lattice.each(frame.resolve(value)):
        found = frame.join(found, of_atom(frame, atom))
    return containers.tainted(found, value)


def of_atom(frame: Frame, atom: Atom) -> Value:
    """An item of an atom."""
    if isinstance(atom, TupleOf):
        return frame.solver.lattice.all(atom.items)
    if isinstance(atom, IteratorOver):
        return atom.items
    if isinstance(atom, StateSnapshot):
        return value_of(atom)  # a part of it
    if isinstance(atom, GeneratorCall):
        return _run(frame, atom)
    if isinstance(atom, Choice):
        other, found = frame.within(lambda: iterate(frame, atom.other))
        default, given = frame.within(lambda: iterate(frame, atom.default))
        frame.branch(Outcome(True, True, atom.option), other, default)
        return frame.join(found, given)
    if isinstance(atom, Constant):
        return SOMETHING if atom.kind == "str" else NOTHING
    if isinstance(atom, ClassRef) and enumerations.is_one(frame, classes.order(frame, atom)):
        return frame.solver.lattice.all(enumerations.members(frame, atom))
    if isinstance(atom, Bound) and attributes.is_part(frame, atom):
        return iterate(frame, value_of(atom.receiver))
    if isinstance(atom, Instance):
        if isinstance(atom.site.kind, ClassRef):
            return _of_object(frame, atom)
        if atom.site.kind == containers.DICT:
            return SOMETHING
        if is_container(atom):
            return frame.read((atom.site, ITEMS))
        around = (atom.site.kind,)
        return frame.once("iterate", atom.site, lambda: _of_library(frame, atom, around), NOTHING)
    return SOMETHING if isinstance(atom, NotNone) else UNKNOWN


def _run(frame: Frame, atom: GeneratorCall) -> Value:
    """Let a generator function do what it does; an iterator beside this has what it yields."""
    frame.flush()
    summary = frame.solver.enter(frame.entry, atom.node, {})
    frame.emit(Invoke((atom.node,), atom.code, beside=frame.solver.is_registered(atom.node.function)))
    frame.after_call(summary.writes)
    return NOTHING


def _of_library(frame: Frame, atom: Instance, around: classes.Order) -> Value:
    """An item of an object of a library's class, or of one that derives from it."""
    step = CallStep(frame, frame.iterating, owner=value_of(atom), receiver=atom)
    for kind in around:
        if isinstance(kind, LibraryRef):
            for klass in classes.models(frame, kind.name):
                if klass.iterated is not None:
                    return klass.iterated(step, atom, Given())
            found = frame.solver.libraries.iterate(step, atom, kind.name)
            if found is not None:
                return found
    return UNKNOWN


def _of_object(frame: Frame, atom: Instance) -> Value:
    """An item of an object of the project, by its own methods."""
    assert isinstance(atom.site.kind, ClassRef)
    around = classes.order(frame, atom.site.kind)
    for name, arguments in (("__iter__", ()), ("__aiter__", ()), ("__getitem__", (SOMETHING,))):
        value, owner = classes.lookup(frame, around, name)
        if owner == classes.PENDING:
            return NOTHING
        if isinstance(owner, ClassRef):
            given = frame.tables.call(frame, classes.bound(value, atom)[0], Given(arguments), -1)
            return given if name == "__getitem__" else _following(frame, given)
        if name == "__aiter__" and containers.is_mapping(frame, atom):
            return SOMETHING
    if classes.is_named_tuple(frame, atom):
        return frame.read((atom.site, ITEMS))
    return _of_library(frame, atom, around)


def _following(frame: Frame, iterators: Value) -> Value:
    """What iterators give next; an object of the project gives it by its own method."""
    found = NOTHING
    for atom in frame.each(iterators):
        if isinstance(atom, Choice):
            given = frame.join(_following(frame, atom.default), _following(frame, atom.other))
        elif isinstance(atom, Instance) and isinstance(atom.site.kind, ClassRef):
            given, rest = protocols.asked(frame, value_of(atom), ("__next__", "__anext__"))
            given = UNKNOWN if rest else given
        else:
            given = of_atom(frame, atom)
        found = frame.join(found, given)
    return containers.tainted(found, iterators)


def item(frame: Frame, value: Value, key: Value, *, part: bool = False, path: PathKey | None = None) -> Value:
    """`value[key]`, where `value` is what a `path` holds; with `part`, a slice of it."""
    if part:
        found, rest = protocols.asked(frame, value, ("__getitem__",), (key,))
        return frame.join(found, value.of(rest)) if len(rest) < len(frame.each(value)) else value
    found = NOTHING
    if any(isinstance(each, Choice) for each in frame.each(key)):
        return containers.by_key(frame, key, lambda each: item(frame, value, each, path=path))
    for atom in frame.each(value) if key.atoms else ():
        if isinstance(atom, Choice):
            given = frame.join(item(frame, atom.default, key), item(frame, atom.other, key))
        elif atom == _MODULES:
            given = modules.loaded(frame, key)
        elif isinstance(atom, ClassRef):
            given = _of_class(frame, atom, key)
        elif isinstance(atom, ModuleRef):
            given = _of_module(frame, atom, key)
        elif isinstance(atom, LibraryRef) and atom.name.endswith(_SHOWN):
            given = _of_module(frame, LibraryRef(atom.name.removesuffix(_SHOWN)), key)
        elif isinstance(atom, Instance) and isinstance(atom.site.kind, ClassRef):
            given = _of_own(frame, atom, atom.site.kind, key, path)
        elif isinstance(atom, Instance) and atom.site.kind == containers.DICT:
            given = of_mapping(frame, atom, key, path)
        elif isinstance(atom, Instance) and (method := _getting(frame, atom.site.kind)) is not None:
            given = method(CallStep(frame, -1, owner=value.of((atom,)), receiver=atom), value, Given((key,)))
        else:
            given = containers.tainted(_under(frame, atom, key), value)
        found = frame.join(found, given)
    return found


def _of_module(frame: Frame, atom: ModuleRef | LibraryRef, key: Value) -> Value:
    """What a module has under a name, as `globals()` shows it and its `__dict__`."""
    found = NOTHING
    for slot in containers.slots_of(frame, key):
        known = isinstance(slot, Key) and slot.key.kind == "str"
        name = slot.key.value if isinstance(slot, Key) else ""
        found = frame.join(found, frame.tables.attribute(frame, value_of(atom), name) if known else UNKNOWN)
    return found


def of_mapping(frame: Frame, atom: Instance, key: Value, path: PathKey | None = None) -> Value:
    """What a dict has under a key."""
    found = NOTHING
    for slot in containers.slots_of(frame, key):
        if isinstance(slot, Key):
            given = present(containers.entry(frame, atom, slot.key, path))
        else:
            given = containers.any_of(frame, frame.read((atom.site, ITEMS)))
        found = frame.join(found, given)
    return found.with_taints(found.taints | key.taints, found.certain | key.certain)


def _getting(frame: Frame, kind: ClassRef | LibraryRef) -> Method | None:
    """The method by which a model gives an item of an object of a library's class."""
    found = (klass.methods.get("__getitem__") for klass in classes.models(frame, kind.name))
    return next(filter(None, found), None)


def _of_own(frame: Frame, atom: Instance, kind: ClassRef, key: Value, path: PathKey | None) -> Value:
    """An item of an object of the project."""
    method, owner = classes.lookup(frame, classes.order(frame, kind), "__getitem__")
    if isinstance(owner, ClassRef):
        return frame.tables.call(frame, classes.bound(method, atom)[0], Given((key,)), -1)
    if owner == classes.PENDING:
        return NOTHING
    if classes.is_named_tuple(frame, atom):
        return frame.solver.lattice.all(frame.read((atom.site, slot)) for slot in containers.slots_of(frame, key))
    return of_mapping(frame, atom, key, path) if containers.is_mapping(frame, atom) else of_atom(frame, atom)


def _of_class(frame: Frame, klass: ClassRef, key: Value) -> Value:
    """`klass[key]`: a member of an enumeration by its name, or what the class gives."""
    around = classes.order(frame, klass)
    if enumerations.is_one(frame, around):
        names = [a.value for a in frame.each(key) if isinstance(a, Constant) and a.kind == "str"]
        known = [enumerations.member(frame, klass, name) for name in names if enumerations.assigns(frame, klass, name)]
        others = enumerations.members(frame, klass) if len(names) < len(frame.each(key)) else []
        return frame.solver.lattice.all((*known, *others))
    method, owner = classes.lookup(frame, around, "__class_getitem__")
    if not isinstance(owner, ClassRef):
        return UNKNOWN if owner != classes.PENDING else NOTHING
    functions = [a.function if isinstance(a, Wrapped) else a for a in frame.each(method)]
    bound = [Bound(each, klass) for each in functions if isinstance(each, FunctionRef)]
    return frame.tables.call(frame, method.of(bound), Given((key,)), -1)


def _under(frame: Frame, atom: Atom, key: Value) -> Value:
    """What a container has under a key."""
    found = NOTHING
    for slot in containers.slots_of(frame, key):
        index = int(slot.key.value) if isinstance(slot, Key) and slot.key.kind == "int" else None
        if isinstance(atom, TupleOf) and index is not None:
            inside = -len(atom.items) <= index < len(atom.items)
            found = frame.join(found, atom.items[index] if inside else NOTHING)
        elif isinstance(atom, Instance) and isinstance(atom.site.kind, LibraryRef):
            found = frame.join(found, containers.keyed(frame, atom, slot))
        else:
            found = frame.join(found, of_atom(frame, atom))
    return found
