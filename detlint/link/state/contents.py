"""The contents of a program's objects: attributes, items of containers and variables, by slot, and their versions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

from detlint.link.state.records import Record
from detlint.link.state.values import Atom, Class, Library, Object, Tuple, Value, bounded, each, join
from detlint.link.state.watch import Watch, acts

Mark = tuple[int, int]  # the versions of an object's contents in one program and in all
GONE: Value = frozenset()  # the content of a slot that was removed
_MOST_VERSIONS = 60_000  # versions that are distinguished: about 10 MB


def _put(run: Any, owner: Atom, name: str, value: Value, version: int) -> None:
    run.program.objects.put(owner, name, value, version)


class Contents:
    """The contents of objects, which only ever grow, except where slots are removed."""

    def __init__(self, shared: Contents | None = None) -> None:
        """Begin with `shared`, what modules put into objects when they were imported, as all programs do."""
        self._begins = shared is None
        self._stored: dict[Atom, dict[str, Value]] = defaultdict(dict)
        self.versions: dict[Atom, int] = defaultdict(int)  # of contents: equal for equal ones
        self._reduced: set[Atom] = set() if shared is None else shared._reduced  # objects with a removed slot
        self._begun: dict[Atom, dict[str, Value]] = {} if shared is None else shared._stored  # the contents in `shared`
        self._begun_versions: dict[Atom, int] = {} if shared is None else shared.versions
        self._items: dict[tuple[Atom, Mark], Value] = {}  # what containers may hold, by their contents
        self._marks: dict[object, int] = {} if shared is None else shared._marks
        self._numbers: Iterator[int] = count(1) if shared is None else shared._numbers
        self._set_later: set[Class | Library] = set() if shared is None else shared._set_later
        self.record: Record | None = None  # of the function that is being run
        self.watch: Watch = Watch() if shared is None else shared.watch

    def store(self, owner: Atom, name: str, value: Value) -> None:
        """Add to what an attribute, or a slot such as "[key]", may hold."""
        value, old = bounded(value), self.stored(owner, name)
        new = value if old is None else join((old, value))
        if new != old:
            self._put(owner, name, new)

    def replace(self, owner: Atom, name: str, value: Value) -> None:
        """Set a slot, regardless of what it held."""
        value = bounded(value)
        self.look(owner)
        if self._stored[owner].get(name) != value:
            self._put(owner, name, value)

    def remove(self, owner: Atom, name: str) -> None:
        """Remove a slot; `taken` still returns what it held."""
        held = self.stored(owner, name)
        if held is not None:
            self._put(owner, f"-{name}", held)
            self._put(owner, name, GONE)

    def taken(self, owner: Atom, name: str) -> Value | None:
        """Return what a removed slot held; None if it was not removed."""
        return self.stored(owner, f"-{name}")

    def _put(self, owner: Atom, name: str, value: Value) -> None:
        if self._begins:
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
        """Set a slot, and give the contents of its owner this version."""
        if owner in self.watch.lookers and acts(self._stored[owner].get(name), value, owner):
            self.watch.change(owner)
        self._stored[owner][name] = value
        self.versions[owner] = version
        if isinstance(owner, Class):
            self._set_later.add(owner)
        if not value:
            self._reduced.add(owner)

    def forget_versions(self) -> bool:
        """Forget which contents versions stand for, if there are many; return whether it did. No version is reused."""
        if len(self._marks) <= _MOST_VERSIONS:
            return False
        self._marks.clear()
        return True

    def mark(self, owner: Atom) -> Mark:
        """Return the mark of an object's contents: their versions in this program and in all programs."""
        return self.versions.get(owner, 0), self._begun_versions.get(owner, 0)

    def look(self, owner: Atom) -> int:
        """Record a look at an object's contents; return their version in this program."""
        if self.record is not None and owner not in self.record.marks:
            self.record.marks[owner] = self.mark(owner)
        return self.versions.get(owner, 0)

    def carry(self, values: Iterable[Value], source: Contents) -> None:
        """Copy what `values` hold in the objects of another process, which passes them on."""
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
        """Return what a slot may hold; None if there is nothing in it."""
        if self.record is not None and owner not in self.record.marks:
            self.record.marks[owner] = self.mark(owner)
        slots = self._stored.get(owner)
        if slots is not None and name in slots:
            return slots[name] or None
        slots = self._begun.get(owner)
        return None if slots is None else slots.get(name) or None

    def slots(self, owner: Atom) -> dict[str, Value]:
        """Return all slots of an object, as they are now."""
        return dict(self._slots(owner))

    def _slots(self, owner: Atom) -> dict[str, Value]:
        if self.record is not None and owner not in self.record.marks:
            self.look(owner)
        own, begun = self._stored.get(owner), self._begun.get(owner)
        if own is None:
            return begun or {}
        found = begun | own if begun else own
        return {name: value for name, value in found.items() if value} if owner in self._reduced else found

    def items(self, owner: Atom) -> Value:
        """Return what a container may hold."""
        self.look(owner)
        key = owner, self.mark(owner)
        if key not in self._items:
            self._items[key] = join([value for name, value in self._slots(owner).items() if name.startswith("[")])
        return self._items[key]
