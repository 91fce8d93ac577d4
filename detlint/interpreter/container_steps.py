"""The step of a model: what it may do with containers, and with dicts above all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

from detlint.domain.atoms import (
    ABSENT,
    Atom,
    Choice,
    Constant,
    DictOf,
    Instance,
    ModuleRef,
    TupleOf,
)
from detlint.domain.dicts import known_by, may_be_absent, present
from detlint.domain.given import Turns
from detlint.domain.slots import ANY_KEY, CONTENTS, ITEMS, KEYS, Attribute, Key, Slot
from detlint.domain.values import NOTHING, SOMETHING, Value, under, value_of
from detlint.interpreter import (
    classes,
    containers,
    contexts,
    keeping,
    modules,
    rows,
    unsettled,
)
from detlint.interpreter.frames import Frame
from detlint.interpreter.frames import Key as PathKey

_NO_PATHS: Mapping[int | str, PathKey] = {}


class ContainerSteps:
    """The containers in the evaluation of one call.

    `path` and `owner` are those of what a method is called on, `paths` those of arguments.
    """

    def __init__(
        self,
        frame: Frame,
        node: int,
        path: PathKey | None = None,
        owner: Value = NOTHING,
        receiver: Atom | None = None,
        paths: Mapping[int | str, PathKey] = _NO_PATHS,
    ) -> None:
        self.frame = frame
        self.node = node
        self.path = path
        self.owner = owner
        self.receiver = receiver
        self.paths = paths

    def join(self, a: Value, b: Value) -> Value:
        """Either of two values."""
        return self.frame.join(a, b)

    def by_key(self, key: Value, look_up: Callable[[Value], Value]) -> Value:
        """What is found under a key: under an option what its default names, for nobody knows what the user names."""
        return containers.by_key(self.frame, key, look_up)

    def each(self, value: Value) -> list[Atom]:
        """What a value may be, one by one."""
        return self.frame.each(value)

    def fill(self, owner: Instance, slot: Slot, value: Value) -> None:
        """Keep a value in a slot of an object."""
        self.frame.write((owner.site, slot), value)
        self.frame.touch((owner.site, slot), value)
        if slot == ANY_KEY or isinstance(slot, Key):
            self.frame.write((owner.site, ITEMS), value)
        if isinstance(slot, Key) and owner.site.kind == containers.DICT:
            self.frame.write((owner.site, KEYS), value_of(slot.key))
        elif isinstance(slot, Attribute):  # for who asks for all
            name = Constant("str", slot.name)
            self.frame.write((owner.site, CONTENTS), value_of(DictOf(((name, SOMETHING),))))

    def read(self, owner: Instance, slot: Slot) -> Value:
        """What a slot of an object has."""
        return self.frame.read((owner.site, slot))

    def gets_item(self) -> None:
        """A list that the method is called on surely gets an item."""
        atoms = self.frame.each(self.owner)
        site = atoms[0].site if len(atoms) == 1 and isinstance(atoms[0], Instance) else None
        if site is not None and unsettled.contents(self.frame, site).atoms and site.kind == containers.LIST:
            unsettled.now(self.frame, site, value_of(TupleOf((SOMETHING,))))

    def awaits(self, owner: Instance, slot: Slot) -> bool:
        """Whether a slot of an object has something, or may have by the time that all is solved."""
        return self.frame.solver.awaits(self.frame.entry, (owner.site, slot))

    def entry(self, owner: Instance | ModuleRef, key: Value) -> Value:
        """What the dict that a method is called on has under a key, absent where it may have nothing."""
        found = NOTHING
        if isinstance(owner, ModuleRef):
            held = modules.shown(self.frame, owner.file)
            values = (value for _, value in held.entries)
            for atom in self.each(key):
                given = (
                    under(held, atom, self.join) if isinstance(atom, Constant) else reduce(self.join, values, NOTHING)
                )
                found = self.join(found, given)
            return found
        for atom in map(known_by, self.each(key)):
            if isinstance(atom, Choice):
                found = self.join(found, self.by_key(value_of(atom), lambda each: self.entry(owner, each)))
            elif isinstance(atom, Constant):
                found = self.join(found, containers.entry(self.frame, owner, atom, self.path))
            else:
                found = self.join(
                    found, self.join(containers.any_of(self.frame, self.read(owner, ITEMS)), value_of(ABSENT))
                )
        return found

    def store(self, key: Value, value: Value) -> None:
        """Keep a value under a key of the container that a method is called on; perhaps, where it may be absent."""
        there = present(value)
        keeping.keep(self.frame, self.owner, key, there, self.path, perhaps=may_be_absent(value))

    def take(self, key: Value) -> None:
        """What is under a key of the dict that a method is called on is there no more."""
        keeping.take(self.frame, self.owner, key, self.path)

    def mapping(self, value: Value, place: int = -1) -> DictOf | None:
        """What a value has that is one of some dicts, given at a place; None where it is nothing yet."""
        return containers.mapping(self.frame, value, self.paths.get(place))

    def entries(self, atom: Atom) -> DictOf | None:
        """What a dict has that a method may be called on; None for anything else."""
        if isinstance(atom, Instance) and containers.is_mapping(self.frame, atom):
            return containers.entries(self.frame, atom, self.path)
        return modules.shown(self.frame, atom.file) if isinstance(atom, ModuleRef) else None

    def make_dict(self, held: DictOf, source: Atom | None = None) -> Value:
        """Make a dict of certain entries; a copy of a `source` is told apart from those of others."""
        made = contexts.site(self.frame, containers.DICT, self.node)
        if isinstance(source, Instance):
            made = contexts.copied(self.frame, source, self.node)
        return containers.made(self.frame, Instance(made), value_of(held))

    def shown(self, atom: Atom) -> DictOf | None:
        """The attributes of an object as a dict; None for anything else."""
        return classes.shown(self.frame, atom)

    def local_variables(self) -> DictOf | None:
        """The variables of the function as they are here; None at a top level."""
        frame = self.frame
        if frame.is_top or frame.env is None:
            return None
        names = sorted(key for key in frame.env if isinstance(key, str) and key.isidentifier())
        return DictOf(tuple((Constant("str", name), frame.env[name]) for name in names))

    def begin(self, made: Instance, held: DictOf) -> None:
        """Let an object of a class that derives from a dict have certain entries."""
        containers.made(self.frame, made, value_of(held))

    def empty(self) -> None:
        """The dict that a method is called on has nothing from here on."""
        keeping.empty(self.frame, self.owner, self.path)

    def turns(self, atom: Atom) -> Turns:
        """What going over an atom gives, as far as it is written down."""
        return containers.turns(self.frame, atom)

    def item(self, value: Value, key: Value) -> Value:
        """What a value has under a key."""
        return self.frame.tables.item(self.frame, value, key)

    def keys(self, value: Value) -> list[Atom]:
        """What a value may be as a key, whatever the user sets."""
        return containers.keys(self.frame, value)

    def iterate(self, value: Value) -> Value:
        """An item of a value, and what going over it does."""
        self.frame.iterating = self.node
        return self.frame.tables.iterate(self.frame, value)

    def rows(self, value: Value) -> list[tuple[Value, ...]]:
        """The items of what a value may be, in their order, for each that is written down; none for any other."""
        return rows.each_way(self.frame, value)

    def listed(self, atom: Atom) -> tuple[Value, ...] | None:
        """The items of a tuple or list that is written down, in their order; None of anything else."""
        return rows.listed(self.frame, atom)

    def keep_rows(self, made: Instance, items: tuple[Value, ...]) -> None:
        """Keep the items of a list that is made here in their places."""
        rows.keep(self.frame, made, items)
