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
    NotNone,
    PathTo,
    StateSnapshot,
    SuperOf,
    TupleOf,
    Unknown,
    Wrapped,
)  # fmt: skip
from detlint.domain.outcomes import Outcome
from detlint.domain.slots import Attribute, Base, Key
from detlint.domain.values import NOTHING, NULL, UNKNOWN, Value, is_member, made_of, value_of
from detlint.interpreter import (
    annotated,
    classes,
    containers,
    contexts,
    descriptors,
    enumerations,
    fields,
    modules,
    paths,
)
from detlint.interpreter.frames import Frame
from detlint.interpreter.steps import CallStep

_OF_DICTS = ("items", "keys", "values", "get")


def of(frame: Frame, value: Value, name: str, node: int = -1) -> Value:
    """An attribute of a value: that of each of its atoms. What is not known of a number that differs, differs."""
    found = NOTHING
    for atom in frame.solver.lattice.each(frame.resolve(value)):
        found = frame.join(found, of_atom(frame, atom, name, node))
    return made_of(found, (value,))


def of_atom(frame: Frame, atom: Atom, name: str, node: int) -> Value:
    """An attribute of an atom; nothing where it surely has none yet, `UNKNOWN` where nothing in the text binds it."""
    if isinstance(atom, (Unknown, NotNone)):
        return _of_unknown(frame, atom, name)
    if isinstance(atom, LibraryRef):
        longest = frame.solver.limits.parts  # a loop over `x = x.next` makes names without end
        return modules.library_name(frame, f"{atom.name}.{name}") if atom.name.count(".") + 1 < longest else UNKNOWN
    if isinstance(atom, Instance):
        if name == "__dict__" and (held := classes.shown(frame, atom)) is not None:
            return containers.made(frame, Instance(contexts.copied(frame, atom, node)), value_of(held))
        if isinstance(atom.site.kind, ClassRef):
            return _of_object(frame, atom, atom.site.kind, name, node)
        return _of_library_object(frame, atom, atom.site.kind, name)
    if isinstance(atom, ModuleRef) and name == "__dict__":
        return value_of(atom)
    if isinstance(atom, ModuleRef) and name in _OF_DICTS and not modules.binds(frame, atom.file, name):
        return value_of(Bound(LibraryRef(f"builtins.dict.{name}"), atom))  # of its names, as `vars` shows them
    if isinstance(atom, ModuleRef):
        return modules.variable(frame, atom.file, name)
    if isinstance(atom, (ClassRef, FunctionRef)) and name in ("__name__", "__qualname__"):
        return value_of(Constant("str", _named(frame, atom, name)))
    if isinstance(atom, ClassRef) and name == "__dict__" and (held := classes.shown(frame, atom)) is not None:
        return containers.made(frame, Instance(contexts.site(frame, containers.DICT, node)), value_of(held))
    if isinstance(atom, ClassRef) and name == "__subclasses__":
        return value_of(Bound(LibraryRef(f"builtins.type.{name}"), atom))
    if isinstance(atom, ClassRef):
        return _of_class(frame, atom, name, node)
    if isinstance(atom, FunctionRef) or (isinstance(atom, Bound) and isinstance(atom.function, FunctionRef)):
        return _given_to(frame, "function", atom, name) or UNKNOWN
    if isinstance(atom, Wrapped) and name in ("getter", "setter", "deleter"):
        return value_of(Bound(LibraryRef(f"builtins.property.{name}"), atom))
    if isinstance(atom, SuperOf):
        return _of_super(frame, atom, name, node)
    if isinstance(atom, Choice):
        default, other = of(frame, atom.default, name, node), of(frame, atom.other, name, node)
        if not default.atoms and atom.default.atoms == NULL.atoms:  # an option that the user has to set
            return other
        return frame.chosen(Outcome(True, True, atom.option), other, default)
    if isinstance(atom, TupleOf):
        return value_of(Bound(LibraryRef(f"builtins.list.{name}"), NOT_NONE))
    if isinstance(atom, Bound) and isinstance(atom.function, LibraryRef) and is_part(frame, atom):
        named = of_atom(frame, atom.function, name, node)
        return named.of(Bound(each, atom.receiver) for each in named.atoms if isinstance(each, LibraryRef))
    if isinstance(atom, StateSnapshot):
        return value_of(atom)  # a copy of it, or a part
    if isinstance(atom, PathTo):
        return paths.attribute(frame, atom, name)
    if isinstance(atom, Constant):
        return value_of(Bound(LibraryRef(f"builtins.str.{name}"), atom)) if atom.kind == "str" else NOTHING
    return _of_unknown(frame, atom, name)


def _of_unknown(frame: Frame, atom: Atom, name: str) -> Value:
    """An attribute of what is not known: one that its name tells."""
    told = frame.solver.libraries.told_by_name(name)
    return value_of(Bound(LibraryRef(told), atom)) if told else UNKNOWN


def is_part(frame: Frame, atom: Bound) -> bool:
    """Whether an attribute of an object of a library stands for the object itself."""
    return isinstance(atom.receiver, Instance) and frame.solver.libraries.is_whole(atom.receiver)


def _of_class(frame: Frame, atom: ClassRef, name: str, node: int) -> Value:
    """An attribute of a class: what its text binds, else what decorators of libraries give a class, or a base has."""
    around = classes.order(frame, atom)
    if enumerations.assigns(frame, atom, name) and enumerations.is_one(frame, around):
        return descriptors.got(frame, enumerations.member(frame, atom, name), atom, node)
    value, owner = classes.lookup(frame, around, name)
    if owner == classes.PENDING:
        return NOTHING
    if owner is None or isinstance(owner, LibraryRef):
        given = _given_to(frame, "type", atom, name)
        if given is not None:
            return given
        if any(frame.solver.libraries.takes_class(each.name) for each in value.atoms if isinstance(each, LibraryRef)):
            return value.of(Bound(each, atom) for each in value.atoms if isinstance(each, LibraryRef))
    found = descriptors.got(frame, value, atom, node)
    return found if owner is not None else frame.join(found, _of_metaclass(frame, atom, name, node))


def _given_to(frame: Frame, kind: str, atom: Atom, name: str) -> Value | None:
    """The method of a name that decorators of libraries give what is of a kind, bound to it."""
    given = frame.solver.libraries.given_to(kind, name)
    return value_of(Bound(LibraryRef(given), atom)) if given else None


def _of_metaclass(frame: Frame, atom: ClassRef, name: str, node: int) -> Value:
    """An attribute of the class of a class; unknown where nothing in the text binds it."""
    found = NOTHING
    makers = classes.metaclasses(frame, atom)
    for maker in makers if makers is not None else ():
        owner: object = None
        if isinstance(maker, ClassRef):
            value, owner = classes.lookup(frame, classes.order(frame, maker), name)
            functions = [Bound(a, atom) if isinstance(a, FunctionRef) else a for a in frame.each(value)]
            found = frame.join(found, value.of(functions))
        found = found if isinstance(owner, ClassRef) else frame.join(found, UNKNOWN)
    return UNKNOWN if makers is None else found


def _named(frame: Frame, atom: ClassRef | FunctionRef, name: str) -> str:
    """What a class or a function is called."""
    if isinstance(atom, FunctionRef):
        own = frame.solver.files[atom.file].functions[atom.name].name
        return own if name == "__name__" else atom.name
    return atom.name.rpartition(".")[2] if name == "__name__" else atom.name


def _of_object(frame: Frame, atom: Instance, klass: ClassRef, name: str, node: int) -> Value:
    """An attribute of an object of the project: what was stored on it, and what its class has."""
    if name == "__class__":
        return value_of(klass)
    if atom.version is not None:
        return _of_version(frame, atom, name, node)
    around = classes.order(frame, klass)
    told = enumerations.attribute(frame, atom, klass, name) if is_member(atom) else None
    if told is not None:
        return told
    descriptors.looked_at(frame, atom, around, name, node)
    value, owner = classes.lookup(frame, around, name)
    found = descriptors.got(frame, value, atom, node)
    if annotated.is_told(atom):
        own = isinstance(owner, ClassRef) and not classes.stores(frame, around, name)
        return found if own or owner == classes.PENDING else frame.join(found, UNKNOWN)
    shared = name in frame.solver.index.stored
    field = shared and classes.is_configuration(frame, atom)
    stored = classes.stores(frame, around, name) or field
    if owner != classes.PENDING and fields.holds(frame, around, name):
        return frame.read((atom.site, Attribute(name)))
    if isinstance(owner, LibraryRef):
        known = frame.solver.libraries.get(CallStep(frame, node, None, value_of(atom), atom), f"{owner.name}.{name}")
        found = known if known is not None else frame.join(found, _part(frame, atom, owner, name))
    if isinstance(owner, LibraryRef) and stored:
        found = NOTHING  # what the text of the project stores is not the library's
    opened = classes.opens(frame, around)
    if owner is None and not stored:
        given = descriptors.missing(frame, atom, around, name, node)
        if given is None and classes.stores(frame, around, "__dict__"):  # as `self.__dict__ = self` does
            shown = frame.read((atom.site, Attribute("__dict__")))
            given = frame.tables.item(frame, shown, value_of(Constant("str", name)))
        if given is None and not ((opened or _awaits(frame, atom, around, name)) and not name.startswith("__")):
            given = UNKNOWN
        found = frame.join(found, given or NOTHING)
    if stored or opened or shared or isinstance(owner, ClassRef):
        found = frame.join(frame.read((atom.site, Attribute(name))), found)
    if field or "" in frame.solver.index.stored:  # by a name that is not known
        found = frame.join(frame.read((atom.site, Attribute(""))), found)
    return found


def _awaits(frame: Frame, atom: Instance, around: classes.Order, name: str) -> bool:
    """Whether an object that no library gives an attribute has one only once the project's text stores it."""
    stored = name in frame.solver.index.stored and classes.are_plain(frame, around)
    return stored and frame.solver.awaits(frame.entry, (atom.site, Attribute(name)))


def _of_version(frame: Frame, atom: Instance, name: str, node: int) -> Value:
    """An attribute of an object of the project that is another one but for some attributes."""
    found = frame.read((atom, Attribute(name)))
    return found if found.atoms else of(frame, frame.read((atom, Base(0))), name, node)


def _of_library_object(frame: Frame, atom: Instance, kind: LibraryRef, name: str) -> Value:
    """An attribute of an object of a library: by its model, what was stored on it, else a method."""
    if kind == containers.DICT and not hasattr(dict, name):  # of a dict that shows its entries as attributes
        return containers.keyed(frame, atom, Key(Constant("str", name)))
    if name in frame.solver.index.stored and classes.is_configuration(frame, atom):
        return frame.read((atom.site, Attribute(name)))
    if kind.name.startswith("builtins.") and not classes.may_have(kind, name):
        return NOTHING
    found: Value | None = None
    for klass in classes.models(frame, kind.name):
        if klass.attribute is not None:
            found = versioned(frame, atom, name)
            break
    if found is None:
        found = frame.solver.libraries.get(CallStep(frame, -1, None, value_of(atom), atom), f"{kind.name}.{name}")
        if found is None:
            found = frame.join(value_of(Bound(LibraryRef(f"{kind.name}.{name}"), atom)), _part(frame, atom, kind, name))
        if name in frame.solver.index.stored and not kind.name.startswith("builtins."):
            found = frame.join(found, frame.read((atom.site, Attribute(name))))
    return found


def _part(frame: Frame, atom: Instance, kind: LibraryRef, name: str) -> Value:
    """What an object of a library's class, or of one that derives from it, holds under a name besides its methods."""
    if frame.solver.libraries.has_method(f"{kind.name}.{name}"):
        return NOTHING
    for klass in classes.models(frame, kind.name):
        if klass.part is not None and name not in klass.methods:
            return klass.part(CallStep(frame, -1), atom, name)
    return NOTHING


def versioned(frame: Frame, atom: Instance, name: str) -> Value:
    """An attribute of a configuration object: the newest that was written to its version, over all that it came from.

    A version is known once its write is in the heap, so that what it lacks, it lacks for good.
    """
    now = frame.solver.heap.growths
    found = NOTHING
    waiting, seen = [atom], {atom}
    while waiting:
        each = waiting.pop()
        since, known = frame.versioned.get((each, name), (-1, NOTHING))
        if since == now:
            found = frame.join(found, known)
            continue
        own = frame.read((each, Attribute(name))) if each.version is not None else _first(frame, each, name)
        found = frame.join(found, own)
        if each.version is None or own.atoms:
            continue
        parents = [x for x in frame.each(frame.read((each, Base(0)))) if isinstance(x, Instance) and x not in seen]
        seen.update(parents)
        waiting.extend(reversed(parents))
    frame.versioned[atom, name] = now, found
    return found


def _first(frame: Frame, atom: Instance, name: str) -> Value:
    """An attribute of a configuration object as it was made."""
    found = frame.read((atom.site, Attribute(name)))
    for klass in classes.models(frame, str(getattr(atom.site.kind, "name", ""))):
        given = klass.attribute(CallStep(frame, -1), atom, name) if klass.attribute is not None else None
        found = frame.join(found, given if given is not None else NOTHING)
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
    if atom.klass not in around:  # that of a metaclass, on a class of it
        around = classes.order(frame, atom.klass)
    value, owner = classes.lookup(frame, around[around.index(atom.klass) + 1 :], name)
    if name == "__new__" and not isinstance(owner, ClassRef) and owner != classes.PENDING:
        return value_of(LibraryRef("builtins.object.__new__"))
    if name == "__call__" and isinstance(receiver, ClassRef) and isinstance(owner, LibraryRef) and value.atoms:
        return value_of(Bound(LibraryRef("builtins.type.__call__"), receiver))
    found = descriptors.got(frame, value, receiver, node)
    return found if owner is not None or found.atoms else UNKNOWN
