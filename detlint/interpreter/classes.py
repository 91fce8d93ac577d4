"""Classes: their order of resolution, and what they and their objects have under a name."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from itertools import chain

from detlint.domain.atoms import (
    Atom,
    Bound,
    ClassRef,
    Constant,
    DictOf,
    FunctionRef,
    Instance,
    LibraryRef,
    PartialCall,
    TupleOf,
    Wrapped,
)
from detlint.domain.bare import CONFIGURATION
from detlint.domain.library import Class
from detlint.domain.outcomes import EITHER, FAILS, HOLDS, NEVER, Outcome, either
from detlint.domain.slots import CONTENTS, Argument, Attribute, Base
from detlint.domain.values import NOTHING, UNKNOWN, Value, value_of
from detlint.interpreter import made_classes
from detlint.interpreter.frames import Frame
from detlint.interpreter.frames import Order as Order
from detlint.ir import nodes as ir

_OPAQUE = LibraryRef("")  # a base of which nothing is known
PENDING = LibraryRef("?")  # a base of which nothing is known yet
METACLASS = Argument("metaclass")
DERIVED = Argument("derived")
"""What has the classes that derive from a class, once they are defined."""
NAMED_TUPLE = LibraryRef("typing.NamedTuple")


def order(frame: Frame, klass: ClassRef) -> Order:
    """The classes whose attributes those of a class are, first to last: depth first, a class that several have last."""
    now = frame.solver.heap.derivations
    since, found = frame.orders.get(klass, (-1, ()))
    if since != now:
        found = _order(frame, klass, {})
        frame.orders[klass] = now, found
    return found


def _order(frame: Frame, klass: ClassRef | LibraryRef, known: dict[ClassRef | LibraryRef, Order]) -> Order:
    """The order of a class, of whose bases some are known; one that is asked for while it is found has none yet."""
    found = known.get(klass)
    if found is not None or not isinstance(klass, ClassRef):
        return (klass,) if found is None else found
    known[klass] = ()
    below: dict[ClassRef | LibraryRef, None] = {klass: None}
    for index in range(text(frame, klass).bases):
        value = frame.read((klass, Base(index)))
        orders = (
            _order(frame, atom, known) if isinstance(atom, (ClassRef, LibraryRef)) else (_OPAQUE,)
            for atom in frame.each(value)
        )  # fmt: skip
        for each in chain.from_iterable(orders) if value.atoms else (PENDING,):
            below.pop(each, None)
            below[each] = None
    known[klass] = tuple(below)
    return known[klass]


def text(frame: Frame, klass: ClassRef) -> ir.Class:
    """What the text says of a class."""
    return frame.solver.files[klass.file].classes.get(klass.name) or frame.solver.index.made(klass.file, klass.name)


def binds(frame: Frame, klass: ClassRef, name: str) -> bool:
    """Whether the text of a class's body binds a name."""
    return name in text(frame, klass).binds


def stores(frame: Frame, classes: Order, name: str) -> bool:
    """Whether a method of one of `classes` stores an attribute of a name on its first parameter."""
    return any(isinstance(k, ClassRef) and name in text(frame, k).stores for k in classes)


def opens(frame: Frame, classes: Order) -> bool:
    """Whether `classes` give their objects attributes by names that are computed, and no library gives any."""
    return any(isinstance(k, ClassRef) and text(frame, k).opens for k in classes) and are_plain(frame, classes)


def are_plain(frame: Frame, classes: Order) -> bool:
    """Whether no library gives objects of `classes` attributes that hold something."""
    named = (each for each in classes if isinstance(each, LibraryRef))
    return all(is_stateless(frame, each) or each.name.startswith("builtins.") for each in named)


def stored_names(frame: Frame, made: Instance) -> list[str]:
    """The attributes that methods of an object's class store on their first parameter."""
    kind = made.site.kind
    around = order(frame, kind) if isinstance(kind, ClassRef) else ()
    files = frame.solver.files
    own = (files[k.file].classes[k.name].stores for k in around if isinstance(k, ClassRef))
    return list(dict.fromkeys(name for names in own for name in names))


def names_bound(frame: Frame, made: Instance) -> tuple[str, ...]:
    """The names that the bodies of the classes of the project bind that an object is of, those of bases first."""
    kind, files = made.site.kind, frame.solver.files
    found: dict[str, None] = {}
    for klass in reversed(order(frame, kind)) if isinstance(kind, ClassRef) else ():
        if isinstance(klass, ClassRef):
            found.update(dict.fromkeys(files[klass.file].classes[klass.name].binds))
    return tuple(found)


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

    Those of the project come first: which names a library's class has, no text says. What it has is for its model.
    Classes that bind it not may have been given it all the same.
    """
    given = NOTHING
    for klass in classes:
        if isinstance(klass, ClassRef):
            bound_here = binds(frame, klass, name)
            if bound_here or name in frame.solver.index.stored:
                given = frame.join(given, frame.read((klass, Attribute(name))))
            if bound_here:
                return given, klass
        elif klass == PENDING:
            return given, klass
    for klass in classes:
        if klass == _OPAQUE:
            return UNKNOWN, None
        if isinstance(klass, LibraryRef) and may_have(klass, name):
            return frame.join(given, value_of(LibraryRef(f"{klass.name}.{name}"))), klass
    return given, None


def may_have(klass: LibraryRef, name: str) -> bool:
    """Whether a class of a library may have an attribute of a name that says something about its objects."""
    root, _, last = klass.name.partition(".")
    if root == "builtins":
        return last != "object" and hasattr(getattr(builtins, last, None), name)
    return klass == NAMED_TUPLE or (klass.name != "abc.ABC" and root != "typing")


def has(frame: Frame, value: Value, name: str) -> Outcome:
    """Whether a value has an attribute, as far as the text of the classes of the project tells."""
    return either([_has(frame, atom, name) for atom in frame.each(value)]) if value.atoms else NEVER


def is_known(around: Order) -> bool:
    """Whether all bases of a class are known."""
    return _OPAQUE not in around and PENDING not in around


def is_named_tuple(frame: Frame, atom: Instance) -> bool:
    """Whether an object is a tuple whose items have names."""
    return isinstance(atom.site.kind, ClassRef) and NAMED_TUPLE in order(frame, atom.site.kind)


def is_stateless(frame: Frame, klass: LibraryRef) -> bool:
    """Whether a class of a library gives its objects no attributes that hold something."""
    return frame.solver.libraries.is_of(klass.name, "stateless") or klass.name.endswith("Mixin")


def _has(frame: Frame, atom: Atom, name: str) -> Outcome:
    klass = atom.site.kind if isinstance(atom, Instance) else atom
    if klass in CONFIGURATION:
        if name in frame.solver.index.options(frame.solver.libraries.naming):
            return HOLDS
        perhaps = name in frame.solver.index.spelled or name in frame.solver.index.stored
        return EITHER if perhaps else FAILS
    if isinstance(atom, LibraryRef):
        known = frame.solver.libraries.speaks_of(f"{atom.name}.{name}")
        return HOLDS if known and atom.name.partition(".")[0] == "torch" else EITHER
    if not isinstance(klass, ClassRef):
        return EITHER
    around = order(frame, klass)
    if PENDING in around:
        return NEVER
    own = [text(frame, each) for each in around if isinstance(each, ClassRef)]
    if any(name in each.binds or name in each.fields for each in own):
        return HOLDS
    stored = name in frame.solver.index.stored or any("__getattr__" in each.binds for each in own)
    plain = all(is_stateless(frame, each) for each in around if isinstance(each, LibraryRef))
    return EITHER if stored or not plain or isinstance(atom, ClassRef) else FAILS


def metaclasses(frame: Frame, klass: ClassRef) -> list[Atom] | None:
    """What the class of a class may be that it, or a base, names; None where none does."""
    own = (each for each in order(frame, klass) if isinstance(each, ClassRef))
    named = next((each for each in own if text(frame, each).metaclass), None)
    return None if named is None else frame.each(frame.read((named, METACLASS)))


def define(frame: Frame, node: int, bases: Value, attribute: Callable[[str], Value]) -> Value:
    """Make the class that a call makes whose text says what it has; unknown where that does not."""
    name = f"{frame.function.qualified}:{node}"
    call = frame.solver.index.call(frame.file.path, name)
    if call is None or not made_classes.is_read(call):
        return UNKNOWN
    klass = ClassRef(frame.file.path, name)
    known = text(frame, klass)
    for index in range(known.bases):
        found = NOTHING
        for atom in frame.each(bases):
            inside = atom.items[index : index + 1] if isinstance(atom, TupleOf) else (bases.of((atom,)),)
            found = frame.join(found, frame.solver.lattice.all(inside))
        frame.fill((klass, Base(index)), found if bases.atoms else value_of(LibraryRef("builtins.object")))
    for each in known.binds:
        frame.fill((klass, Attribute(each)), attribute(each))
    return value_of(klass)


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
        elif isinstance(atom, PartialCall) and isinstance(atom.function, Wrapped):
            function = Bound(atom.function.function, receiver)
            atoms.add(PartialCall(function, atom.site, atom.count, atom.keywords))
        else:
            atoms.add(atom)
    return value.of(atoms), sorted(properties, key=repr)


def is_configuration(frame: Frame, atom: Atom) -> bool:
    """Whether an atom is a node of a configuration, all fields of which a user may set."""
    if not isinstance(atom, Instance):
        return False
    around = order(frame, atom.site.kind) if isinstance(atom.site.kind, ClassRef) else (atom.site.kind,)
    return any(isinstance(k, LibraryRef) and frame.solver.libraries.is_configuration(k.name) for k in around)


def methods(partial: Value) -> Value:
    """Partial calls that give methods where an object is asked for them."""
    calls = (
        PartialCall(Wrapped("partialmethod", atom.function), atom.site, atom.count, atom.keywords)
        for atom in partial.atoms
        if isinstance(atom, PartialCall) and isinstance(atom.function, FunctionRef)
    )
    return partial.of(calls)


def models(frame: Frame, name: str) -> Iterator[Class]:
    """The model of a library's class and those that it goes on to."""
    found = frame.solver.libraries.classes.get(name)
    if found is not None:
        yield found
        for base in found.bases:
            yield from models(frame, base)


def shown(frame: Frame, atom: Atom) -> DictOf | None:
    """The attributes of an object or a class as a dict, by the names that the text stores; None for anything else."""
    if isinstance(atom, ClassRef):
        bound = ((name, frame.read((atom, Attribute(name)))) for name in text(frame, atom).binds)
        return DictOf(tuple((Constant("str", name), value) for name, value in bound if value.atoms), NOTHING)
    if not isinstance(atom, Instance):
        return None
    names: dict[str, None] = {}
    if isinstance(atom.site.kind, ClassRef):
        for klass in (each for each in order(frame, atom.site.kind) if isinstance(each, ClassRef)):
            functions = frame.solver.files[klass.file].functions
            own = text(frame, klass)
            names.update(dict.fromkeys(own.stores))
            names.update((name, None) for name in own.binds if f"{klass.name}.{name}" not in functions)
    else:
        makers = frame.each(frame.read((atom.site, Argument("parser"))))
        for made in (atom, *(maker for maker in makers if isinstance(maker, Instance))):
            for each in frame.each(frame.read((made.site, CONTENTS))):
                names.update((key.value, None) for key, _ in (each.entries if isinstance(each, DictOf) else ()))
        stored = sorted(frame.solver.index.stored)
        names.update((name, None) for name in stored if frame.read((atom.site, Attribute(name))).atoms)
    names.pop("__dict__", None)  # `self.__dict__ = self`
    entries = ((Constant("str", name), frame.tables.attribute(frame, value_of(atom), name)) for name in names)
    return DictOf(tuple(entries), NOTHING)
