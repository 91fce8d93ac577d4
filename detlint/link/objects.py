"""The objects of a program: classes, their bases, and what is stored in attributes, containers and modules."""

from __future__ import annotations

import builtins
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from detlint.link.records import Record
from detlint.link.values import (
    UNKNOWN,
    Atom,
    Class,
    Function,
    Library,
    Object,
    Option,
    Super,
    Tuple,
    Value,
    bounded,
    each,
    join,
)

OPEN = "*"  # the slot of objects whose attributes are also set by names that are not known
_CONFIGS = frozenset(("yacs.config.CfgNode", "fvcore.common.config.CfgNode"))
_MOST_VERSIONS = 60_000  # that are told apart: about 10 MB
UNNAMED = "(unnamed)"  # that of arguments of a command line some options of which have names that are not known


@dataclass
class ClassInfo:
    """What is known of a class: what its bases may be, its own attributes, the fields that a constructor takes."""

    bases: tuple[Value, ...]
    attributes: dict[str, Value] = field(default_factory=dict)
    fields: tuple[str, ...] = ()


Lineage = tuple[tuple["Class | Library", ...], tuple["ClassInfo | None", ...]]


def _put(run: Any, owner: Atom, name: str, value: Value, version: int) -> None:
    run.program.objects.put(owner, name, value, version)


def _define(run: Any, klass: Class, info: ClassInfo) -> None:
    run.program.objects.define(klass, info)


class Objects:
    """Classes, and the attributes of objects, which only ever grow."""

    def __init__(self, shared: Objects | None = None) -> None:
        """`shared` are the objects that modules made when they were imported, which all programs begin with."""
        self.shared = shared
        self.classes: dict[Class, ClassInfo] = {} if shared is None else shared.classes
        self._fields: dict[str, set[Class]] = defaultdict(set) if shared is None else shared._fields
        self._stored: dict[Atom, dict[str, Value]] = defaultdict(dict)
        self.versions: dict[Atom, int] = defaultdict(int)  # of what objects hold: equal for equal contents
        self._lineages: dict[Class, Lineage] = {} if shared is None else shared._lineages
        self._marks: dict[object, int] = {} if shared is None else shared._marks
        self._numbers: Iterator[int] = count(1) if shared is None else shared._numbers
        self.record: Record | None = None  # of the function that is being run

    def define(self, klass: Class, info: ClassInfo) -> None:
        """Add a class."""
        if self.record is not None:
            self.record.effects.append((_define, klass, info))
        known = self.classes.get(klass)
        if known != info:
            self.classes[klass] = info
            self._lineages.clear()
            for name in () if known is None else known.fields:
                self._fields[name].discard(klass)
            for name in info.fields:
                self._fields[name].add(klass)

    def fields(self, name: str) -> Iterator[tuple[Class, Value]]:
        """The classes that have a field of a name, and its defaults there."""
        for klass in self._fields.get(name, ()):
            yield klass, self.classes[klass].attributes[name]

    def ancestry(self, klass: Class | Library) -> tuple[Class | Library, ...]:
        """A class and its bases, nearest first, those of libraries too."""
        if isinstance(klass, Library):
            return (klass,)
        found = self._lineages.get(klass) or self.lineage(klass)
        if self.record is not None:
            self.record.lineages.setdefault(klass, found)
        return found[0]

    def lineage(self, klass: Class) -> Lineage:
        """The ancestry of a class, and what is known of the classes in it."""
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

    def library_bases(self, kind: Class | Library) -> list[str]:
        """The names of the classes of libraries among a class and its bases."""
        return [base.name for base in self.ancestry(kind) if isinstance(base, Library)]

    def store(self, owner: Atom, name: str, value: Value) -> None:
        """Add to what an attribute, or a slot such as "[key]", may hold."""
        value, old = bounded(value), self.stored(owner, name)
        new = value if old is None else join((old, value))
        if new != old:
            self._put(owner, name, new)

    def replace(self, owner: Atom, name: str, value: Value) -> None:
        """Set a slot whatever it held."""
        value = bounded(value)
        self.look(owner)
        if self._stored[owner].get(name) != value:
            self._put(owner, name, value)

    def _put(self, owner: Atom, name: str, value: Value) -> None:
        if self.shared is None:
            self.put(owner, name, value, self.versions[owner] + 1)
            return
        before = self.versions[owner], name, value
        version = self._marks.get(before)
        if version is None:
            version = self._marks[before] = next(self._numbers)
        self.put(owner, name, value, version)
        if self.record is not None:
            self.record.effects.append((_put, owner, name, value, version))

    def put(self, owner: Atom, name: str, value: Value, version: int) -> None:
        """Set a slot, which gives the contents of its owner this version."""
        self._stored[owner][name] = value
        self.versions[owner] = version

    def forget_versions(self) -> bool:
        """Forget which contents the versions stand for, if these are many; whether it did. None is given twice."""
        if len(self._marks) <= _MOST_VERSIONS:
            return False
        self._marks.clear()
        return True

    def mark(self, owner: Atom) -> tuple[int, int]:
        """What tells the contents of an object: the versions of what it holds in this program and in all."""
        return self.versions.get(owner, 0), 0 if self.shared is None else self.shared.versions.get(owner, 0)

    def look(self, owner: Atom) -> int:
        """Look at what an object holds; the version of that in this program."""
        found = self.mark(owner)
        if self.record is not None:
            self.record.marks.setdefault(owner, found)
        return found[0]

    def carry(self, values: Iterable[Value], source: Objects) -> None:
        """Take over what `values` hold in the objects of another process, which hands them on."""
        waiting, seen = [atom for value in values for atom in each(value)], set[Atom]()
        while waiting:
            atom = waiting.pop()
            if isinstance(atom, Tuple):
                waiting += [inner for item in atom.items for inner in each(item)]
            elif isinstance(atom, Object) and atom not in seen:
                seen.add(atom)
                slots = source._stored.get(atom, {})
                for name, value in slots.items():
                    self._put(atom, name, value)
                waiting += [inner for value in slots.values() for inner in each(value)]

    def stored(self, owner: Atom, name: str) -> Value | None:
        """What a slot may hold, or None."""
        if self.record is not None and owner not in self.record.marks:
            self.look(owner)
        slots = self._stored.get(owner)
        found = slots.get(name) if slots is not None else None
        if found is None and self.shared is not None:
            slots = self.shared._stored.get(owner)
            return slots.get(name) if slots is not None else None
        return found

    def slots(self, owner: Atom) -> dict[str, Value]:
        """All slots of an object, as they are now."""
        return dict(self._slots(owner))

    def _slots(self, owner: Atom) -> dict[str, Value]:
        if self.record is not None and owner not in self.record.marks:
            self.look(owner)
        own = self._stored.get(owner)
        shared = None if self.shared is None else self.shared._stored.get(owner)
        if own is None:
            return shared or {}
        return shared | own if shared else own

    def items(self, owner: Atom) -> Value:
        """What a container may hold."""
        return join(value for name, value in self._slots(owner).items() if name.startswith("["))

    def attribute(self, owner: Object | Class, name: str) -> Value | None:
        """What `owner.name` is: what is stored there, an attribute of its classes, or a library's; None: not known."""
        slots = self._slots(owner)
        found = slots.get(name) if slots else None
        if found is None:
            found = self.find(self.ancestry(owner.kind if isinstance(owner, Object) else owner), owner, name)
        if OPEN in slots and found is not None:
            certain = any(isinstance(a, Function) or _is_set(a) or self.is_config(a) for a in found)
            return found if certain else join((found, UNKNOWN))
        return found

    def is_config(self, atom: Atom) -> bool:
        """Whether an atom is a node of a configuration, all of whose fields a user may set."""
        return isinstance(atom, Object) and not _CONFIGS.isdisjoint(self.library_bases(atom.kind))

    def lacks(self, owner: Atom, name: str) -> bool:
        """Whether an object has no attribute of a name, which its classes would declare and nobody else sets."""
        if not isinstance(owner, Object) or owner.order == -1:
            return False  # one of a class that derives from its own, as likely as not
        if isinstance(owner.kind, Library):
            root, _, last = owner.kind.name.partition(".")
            return root == "builtins" and not hasattr(getattr(builtins, last, None), name)
        order, slots = self.ancestry(owner.kind), self._slots(owner)
        plain = all(isinstance(base, Class) or _adds_no_state(base.name) for base in order)
        known = [self.classes.get(base) for base in order if isinstance(base, Class)]
        declared = any(info is None or name in info.attributes or "__getattr__" in info.attributes for info in known)
        return plain and not declared and not slots.keys() & {name, OPEN, UNNAMED}

    def find(self, order: Iterable[Class | Library], owner: Object | Class, name: str) -> Value | None:
        """An attribute of the first class in `order` that has it; those of libraries come last."""
        bases = list(order)
        for klass in bases:
            info = self.classes.get(klass) if isinstance(klass, Class) else None
            if info is not None and name in info.attributes:
                return info.attributes[name]
        receiver = owner if isinstance(owner, Object) else None
        plain = ("builtins.object", "argparse.Namespace")
        libraries = (base for base in bases if isinstance(base, Library) and base.name not in plain)
        return next((frozenset((Library(f"{base.name}.{name}", receiver),)) for base in libraries), None)

    def after(self, proxy: Super) -> tuple[Class | Library, ...]:
        """The classes in which `super()` looks."""
        kind = proxy.receiver.kind if isinstance(proxy.receiver, Object) else proxy.receiver
        order = self.ancestry(kind)
        if proxy.klass not in order:
            order = self.ancestry(proxy.klass)
        return order[order.index(proxy.klass) + 1 :] if proxy.klass in order else order


def _adds_no_state(base: str) -> bool:
    """Whether a class of a library gives its objects no attributes that hold something."""
    root, last = base.partition(".")[0], base.rpartition(".")[2]
    return root in ("abc", "enum", "typing", "typing_extensions") or base == "builtins.object" or last.endswith("Mixin")


def _is_set(atom: Atom) -> bool:
    """Whether an atom is an option with a default, which is taken to hold where a file may set it too."""
    return isinstance(atom, Option) and atom.default is not None
