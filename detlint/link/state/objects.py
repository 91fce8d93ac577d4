"""The objects of a program: classes, their bases, and the values of attributes."""

from __future__ import annotations

import builtins
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from detlint.catalogue import Catalogue
from detlint.link.state.contents import GONE, Contents
from detlint.link.state.values import (
    NONE,
    UNKNOWN,
    Atom,
    Class,
    Function,
    Library,
    Object,
    Option,
    Partial,
    Super,
    Value,
    each,
    join,
    single,
)

PARTIAL_METHOD = Library("functools.partialmethod")
OPEN = "*"  # the slot of objects whose attributes are also set by unknown names
UNSPELLED = "[]"  # the slot of keys, and of attributes, whose names are unknown
CALLED = "called when it is left"  # the slot of a stack of contexts for callbacks
ATTENDING = frozenset(  # methods by which a class intercepts the attributes of objects
    ("__get__", "__set__", "__set_name__", "__setattr__", "__getattribute__")
)
_PLAIN = ("builtins.object", "argparse.Namespace")  # bases that say nothing of the classes derived from them
HIDDEN = "(**)"  # the slot of a library's object that was given unknown arguments
UNNAMED = "(unnamed)"  # the slot of command-line arguments some of whose options have unknown names
_DEEP, _MOST_BENEATH = 2, 8  # depth and number of held objects that distinguish runs of a function


@dataclass
class ClassInfo:
    """The information on a class: its possible bases, its own attributes, the fields that a constructor takes.

    `factories` make the defaults of some of these fields. `metaclass` is the metaclass of the project that it names, if
    any; `members` are the names of the members of an enumeration.
    """

    bases: tuple[Value, ...]
    attributes: dict[str, Value] = field(default_factory=dict)
    fields: tuple[str, ...] = ()
    factories: dict[str, Value] = field(default_factory=dict)
    metaclass: Class | None = None
    members: tuple[str, ...] = ()


_EMPTY: dict[str, Value] = {}
Lineage = tuple[tuple["Class | Library", ...], tuple["ClassInfo | None", ...]]


def _define(run: Any, klass: Class, info: ClassInfo) -> None:
    run.program.objects.define(klass, info)


class Objects(Contents):
    """The classes of a program and the attributes of its objects, which only ever grow."""

    def __init__(self, catalogue: Catalogue, shared: Objects | None = None) -> None:
        """Begin with `shared`, the objects that modules made when they were imported, as all programs do."""
        super().__init__(shared)
        self.shared = shared
        self._inner: dict[tuple[Object, tuple[int, int]], tuple[Object, ...]] = {}
        self._methods = catalogue.names("program", "role")
        loaders = (row for row in catalogue.rows("program", "role") if row.text("kind") == "loader")
        self._kept = {f"{name}.{kept}" for row in loaders for name in row.list("names") for kept in row.list("keeps")}
        self.gone_through = catalogue.names("program", "role", whole="yes")  # functions that return all items, in turn
        self._shows_entries = catalogue.names("program", "role", kind="attributes")
        self._configs = catalogue.names("program", "class", kind="config")
        self._stateless = catalogue.names("program", "class", kind="stateless")
        self._stateless_packages = catalogue.names("program", "class", key="packages", kind="stateless")
        self.classes: dict[Class, ClassInfo] = {} if shared is None else shared.classes
        self._fields: dict[str, set[Class]] = defaultdict(set) if shared is None else shared._fields
        self._lineages: dict[Class, Lineage] = {} if shared is None else shared._lineages
        self._inherited: dict[tuple[Class | Library, str], Value | str | None] = (
            {} if shared is None else shared._inherited  # what `_first` finds in an ancestry
        )
        self._undeclared: dict[tuple[Class, str], bool] = {} if shared is None else shared._undeclared
        self.attending: set[str] = set() if shared is None else shared.attending  # those that some class has
        self._accessors: set[str] = set() if shared is None else shared._accessors

    def accessor(self, name: str, kind: str) -> str:
        """Return the name of a class attribute for a property's "setter" or "deleter", and note that it exists."""
        self._accessors.add(name)
        return f"{name}.{kind}"

    def setter(self, owner: Atom, name: str) -> Value | None:
        """Return the setter of a property of an object; None if there is none."""
        if name not in self._accessors or not isinstance(owner, Object) or isinstance(owner.kind, Library):
            return None
        found = self.attribute(owner, f"{name}.setter") or GONE
        return frozenset(a for a in found if isinstance(a, Function)) or None

    def define(self, klass: Class, info: ClassInfo) -> None:
        """Add a class, or replace what is known of it."""
        if self.record is not None:
            self.record.effects.append((_define, klass, info))
        known = self.classes.get(klass)
        self.attending |= ATTENDING & info.attributes.keys()
        if any(map(gives_method, info.attributes.values())):
            self.attending.add("__get__")
        if known != info:
            self.classes[klass] = info
            self._lineages.clear()
            self._inherited.clear()
            self._undeclared.clear()
            for name in () if known is None else known.fields:
                self._fields[name].discard(klass)
            for name in info.fields:
                self._fields[name].add(klass)

    def fields(self, name: str) -> Iterator[tuple[Class, Value]]:
        """Yield the classes that declare a field of a name, and its defaults there."""
        for klass in self._fields.get(name, ()):
            attributes = self.classes[klass].attributes
            if name in attributes:  # otherwise it is inherited
                yield klass, attributes[name]

    def ancestry(self, klass: Class | Library) -> tuple[Class | Library, ...]:
        """Return a class and its bases, nearest first, those of libraries too."""
        if isinstance(klass, Library):
            return (klass,)
        found = self._lineages.get(klass) or self.lineage(klass)
        if self.record is not None and klass not in self.record.lineages:
            self.record.lineages[klass] = self.lineage_now(klass)
        return found[0]

    def lineage_now(self, klass: Class) -> tuple[Lineage, tuple[object, ...]]:
        """Return the lineage of a class, and marks of what the classes in it were given after they were defined."""
        found = self.lineage(klass)
        if self._set_later.isdisjoint(found[0]):
            return found, ()
        marks = ((each, self.mark(each)) for each in found[0] if each in self._set_later)
        return found, tuple((each, mark) for each, mark in marks if any(mark))

    def lineage(self, klass: Class) -> Lineage:
        """Return the ancestry of a class, and what is known of the classes in it."""
        found = self._lineages.get(klass)
        if found is None:
            order = tuple(dict.fromkeys(self._walk(klass, set())))
            infos = tuple(self.classes.get(each) for each in order if isinstance(each, Class))
            found = self._lineages[klass] = order, infos
        return found

    def _walk(self, klass: Class, seen: set[Class]) -> Iterator[Class | Library]:
        if klass in seen:
            return
        seen.add(klass)
        yield klass
        for base in self.classes[klass].bases if klass in self.classes else ():
            for atom in each(base):
                if isinstance(atom, Library):
                    yield Library(atom.name)
                elif isinstance(atom, Class):
                    yield from self._walk(atom, seen)

    def metaclass(self, klass: Class) -> Class | None:
        """Return the metaclass of the project that a class has; None if it has none."""
        infos = (self.classes.get(each) for each in self.ancestry(klass) if isinstance(each, Class))
        return next((info.metaclass for info in infos if info is not None and info.metaclass is not None), None)

    def beneath(self, owner: Object) -> frozenset[tuple[Object, int]]:
        """Return the objects of the project that an object holds, and those that these hold, with their versions."""
        found: dict[Object, int] = {}
        level = [owner] if type(owner.kind) is Class else []
        for _ in range(_DEEP):
            level = [atom for each in level for atom in self._objects_in(each) if atom not in found]
            found.update((atom, self.look(atom)) for atom in level)
            if not level or len(found) > _MOST_BENEATH:
                break
        return frozenset(found.items())

    def _objects_in(self, owner: Object) -> tuple[Object, ...]:
        """Return the objects of the project that an object holds."""
        self.look(owner)
        key = owner, self.mark(owner)
        if key not in self._inner:
            atoms = (atom for value in self._slots(owner).values() for atom in value)
            self._inner[key] = tuple({a: None for a in atoms if type(a) is Object and type(a.kind) is Class})
        return self._inner[key]

    def own(self, klass: Class) -> dict[str, Value]:
        """Return the attributes of a class itself: those set in its body, and those set later from outside."""
        self.ancestry(klass)
        info = self.classes.get(klass)
        later = {name: value for name, value in self._slots(klass).items() if name.isidentifier()}
        return later if info is None else info.attributes | later

    def library_bases(self, kind: Class | Library) -> list[str]:
        """Return the names of the classes of libraries among a class and its bases."""
        return [base.name for base in self.ancestry(kind) if isinstance(base, Library)]

    def attribute(self, owner: Object | Class, name: str) -> Value | None:
        """Return `owner.name`: what is stored there, an attribute of its classes, or a library's; None if unknown."""
        self.look(owner)
        own, begun = self._stored.get(owner, _EMPTY), self._begun.get(owner, _EMPTY)
        found = own[name] if name in own else begun.get(name)
        if found is None:
            found = self._not_set(owner, name)
        if found is not None and (OPEN in own or OPEN in begun):
            return found if any(map(self._is_certain, found)) else join((found, UNKNOWN))
        return found

    def _not_set(self, owner: Object | Class, name: str) -> Value | None:
        """Return an attribute that was not set: an argument of a library's object, or what the classes have."""
        kind = owner.kind if isinstance(owner, Object) else owner
        if isinstance(kind, Library) and f"{kind.name}.{name}" not in self._methods:
            found = self.given(owner, name)
            if found is not None:
                return found
        order, key = self.ancestry(kind), (kind, name)
        if not self._set_later.isdisjoint(order) and (later := self._first_set(order, name)) is not None:
            return later
        if key not in self._inherited:
            self._inherited[key] = self._first(order, name)
        inherited = self._inherited[key]
        return self._of_library(owner, inherited) if isinstance(inherited, str) else inherited

    def has_of_its_own(self, owner: Object | Class, name: str) -> bool:
        """Return whether an attribute is the object's own, where a function is no method: it is set, or a field."""
        if not isinstance(owner, Object):
            return False
        info = self.classes.get(owner.kind) if isinstance(owner.kind, Class) else None
        return self.stored(owner, name) is not None or (info is not None and name in info.fields)

    def _of_library(self, owner: Object | Class, name: str) -> Value | None:
        """Return what only a library's class may have, by qualified name, unless an unknown name may have set it."""
        kept = self.kept(owner, name)
        if kept is not None:
            return kept
        special = name.rpartition(".")[2].startswith("__")  # Python itself calls it: it is no key of the contents
        if name not in self._methods and not special and isinstance(getattr(owner, "kind", None), Class):
            unspelled = self.stored(owner, UNSPELLED)
            return _taken(name, owner) if unspelled is None else unspelled | UNKNOWN
        return _taken(name, owner)

    def kept(self, owner: Object | Class, name: str) -> Value | None:
        """Return what a loader has of the possible arguments of its call, by qualified name; None for other names."""
        held = self._slots(owner) if name in self._kept else _EMPTY
        if not any(slot.startswith("(") for slot in held):  # it was not seen being made
            return None
        return held.get(f"({name.rpartition('.')[2]})", UNKNOWN if HIDDEN in held else NONE)

    def given(self, owner: Object | Class, name: str) -> Value | None:
        """Return what a library's object was made with: most classes keep their arguments, others show their keys."""
        slots, held = (f"({name})", f"[{name!r}]"), self._slots(owner)
        return next((held[slot] for slot in slots if slot in held), None)

    def may_be_shown(self, owner: Object | Class) -> bool:
        """Return whether an object shows keys with unknown names as its attributes."""
        kind = owner.kind if isinstance(owner, Object) else None
        return isinstance(kind, Library) and kind.name in self._shows_entries and UNSPELLED in self._slots(owner)

    def _is_certain(self, atom: Atom) -> bool:
        """Return whether an atom stays the same where a file may set attributes: a method, an option with a default."""
        method = isinstance(atom, Function) or (isinstance(atom, Library) and atom.name in self._methods)
        return method or (isinstance(atom, Option) and atom.default is not None) or self.is_config(atom)

    def is_config(self, atom: Atom) -> bool:
        """Return whether an atom is a node of a configuration, all of whose fields a user may set."""
        return isinstance(atom, Object) and not self._configs.isdisjoint(self.library_bases(atom.kind))

    def lacks(self, owner: Atom, name: str) -> bool:
        """Return whether an object lacks an attribute, which its classes would declare and nothing else sets."""
        if not isinstance(owner, Object) or owner.order == -1:
            return False  # it may well be of a derived class
        if isinstance(owner.kind, Library):
            return _has_none(owner.kind, name) and self.given(owner, name) is None
        order, key = self.ancestry(owner.kind), (owner.kind, name)
        if key not in self._undeclared:
            self._undeclared[key] = self._is_undeclared(order, name)
        if not self._undeclared[key] or not self._slots(owner).keys().isdisjoint((name, OPEN, UNNAMED)):
            return False
        return self._set_later.isdisjoint(order) or self._first_set(order, name) is None

    def _is_undeclared(self, order: Sequence[Class | Library], name: str) -> bool:
        """Return whether some classes are all known, and none declares an attribute of a name or `__getattr__`."""
        plain = all(isinstance(base, Class) or self._adds_no_state(base.name) for base in order)
        known = [self.classes.get(base) for base in order if isinstance(base, Class)]
        declared = any(info is None or name in info.attributes or "__getattr__" in info.attributes for info in known)
        return plain and not declared

    def having(self, owners: Value, name: str) -> Value:
        """Return the owners that may have an attribute: not None, nor objects that lack it, unless all lack it."""
        if len(owners) < 2:
            return owners
        return frozenset(a for a in owners - NONE if not self.lacks(a, name)) or owners - NONE

    def is_known(self, order: Iterable[Class | Library]) -> bool:
        """Return whether the bases of all classes of the project in an ancestry are known."""
        infos = [self.classes.get(base) for base in order if isinstance(base, Class)]
        return all(
            info is not None and all(isinstance(a, (Class, Library)) for base in info.bases for a in base)
            for info in infos
        )

    def is_whole(self, order: Sequence[Class | Library]) -> bool:
        """Return whether all bases are known, and those of libraries have none that matter."""
        libraries = (base.name for base in order if isinstance(base, Library))
        return all(map(self._adds_no_state, libraries)) and self.is_known(order)

    def _adds_no_state(self, base: str) -> bool:
        """Return whether a class of a library gives its objects no attributes that hold something."""
        root, last = base.partition(".")[0], base.rpartition(".")[2]
        return root in self._stateless_packages or base in self._stateless or last.endswith("Mixin")

    def _first_set(self, order: Sequence[Class | Library], name: str) -> Value | None:
        """Return what the first of some classes that has a name was given after it was defined; None if nothing."""
        for klass in order:
            if klass in self._set_later:
                own, begun = self._stored.get(klass, _EMPTY), self._begun.get(klass, _EMPTY)
                if name in own or name in begun:
                    return own[name] if name in own else begun[name]
            info = self.classes.get(klass) if isinstance(klass, Class) else None
            if info is not None and name in info.attributes:
                return None
        return None

    def find(self, order: Sequence[Class | Library], owner: Object | Class, name: str) -> Value | None:
        """Return an attribute of the first class in `order` that has it; those of libraries come last."""
        return _taken(self._first(order, name), owner)

    def _first(self, order: Sequence[Class | Library], name: str) -> Value | str | None:
        """Return what classes have under a name: the value, or the qualified name if only a library's class has it."""
        for klass in order:
            info = self.classes.get(klass) if isinstance(klass, Class) else None
            if info is not None and name in info.attributes:
                return info.attributes[name]
        found = (base for base in order if isinstance(base, Library) and base.name not in _PLAIN)
        libraries = (base for base in found if not _has_none(base, name))
        return next((f"{base.name}.{name}" for base in libraries), None)

    def after(self, proxy: Super) -> tuple[Class | Library, ...]:
        """Return the classes in which `super()` looks."""
        kind = proxy.receiver.kind if isinstance(proxy.receiver, Object) else proxy.receiver
        order = self.ancestry(kind)
        if proxy.klass not in order:
            order = self.ancestry(proxy.klass)
        return order[order.index(proxy.klass) + 1 :] if proxy.klass in order else order


@cache
def gives_method(value: Value) -> bool:
    """Return whether an attribute of a class gives a method with some arguments, as `partialmethod` does."""
    return any(isinstance(atom, Partial) and PARTIAL_METHOD in atom.function for atom in value)


@cache
def within(owned: str, name: str) -> str:
    """Return the slot of an attribute of `owned`, a qualified part of a library's object, such as a configuration."""
    return f"{owned.rpartition('.')[2]}.{name}"


@cache
def given_to(name: str) -> str:
    """Return the slot of what a property of an object was given."""
    return f"{name}.given"


@cache
def _has_none(base: Library, name: str) -> bool:
    """Return whether a built-in class of Python has no attribute of a name."""
    root, _, last = base.name.partition(".")
    return root == "builtins" and not hasattr(getattr(builtins, last, None), name)


def _taken(found: Value | str | None, owner: Object | Class) -> Value | None:
    """Return what classes have, taken from an object; what a library's class has is a method of the object."""
    return single(Library(found, owner if isinstance(owner, Object) else None)) if isinstance(found, str) else found
