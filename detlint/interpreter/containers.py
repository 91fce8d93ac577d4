"""Containers: the slots of their items, and the taints that items have by their positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from detlint.domain import taints as t
from detlint.domain.atoms import (
    ABSENT,
    CUT,
    Atom,
    Choice,
    ClassRef,
    Constant,
    DictOf,
    FunctionRef,
    Instance,
    IteratorOver,
    LibraryRef,
    NotNone,
    PartialCall,
    TupleOf,
    Unknown,
)
from detlint.domain.bare import is_plain
from detlint.domain.dicts import known_by, may_be_absent, present, shown
from detlint.domain.given import Turns
from detlint.domain.outcomes import EITHER, FAILS, HOLDS, NEVER, Outcome, either
from detlint.domain.slots import ANY_KEY, CONTENTS, ITEMS, KEYS, Key, Slot
from detlint.domain.values import NOTHING, UNKNOWN, Value, is_container, told, under, value_of
from detlint.interpreter import classes, unsettled
from detlint.interpreter.frames import Frame, Path
from detlint.interpreter.frames import Key as PathKey
from detlint.ir import nodes as ir

DICT = LibraryRef("builtins.dict")
LIST = LibraryRef("builtins.list")
SET = LibraryRef("builtins.set")
_CLOSED = DictOf()
_OPEN = DictOf((), UNKNOWN)


def is_mapping(frame: Frame, atom: Atom) -> bool:
    """Whether an atom is a dict, or an object of a class that derives from one."""
    if not isinstance(atom, Instance):
        return False
    kind = atom.site.kind
    if isinstance(kind, LibraryRef):
        return kind == DICT
    return any(isinstance(each, LibraryRef) and _is_dict(frame, each) for each in classes.order(frame, kind))


def _is_dict(frame: Frame, kind: LibraryRef) -> bool:
    name = frame.solver.libraries.canonical(kind.name)
    return any(klass.name == "dict" for klass in classes.models(frame, name))


def slots_of(frame: Frame, key: Value) -> list[Slot]:
    """The slots of an item under a key: one for each that it may be."""
    return list(dict.fromkeys(Key(each) if isinstance(each, Constant) else ANY_KEY for each in keys(frame, key)))


def keys(frame: Frame, value: Value) -> list[Atom]:
    """What a value may be as a key, whatever the user sets."""
    return [known_by(atom) for atom in plain(frame, value)]


def plain(frame: Frame, value: Value) -> list[Atom]:
    """What a value may be, whatever the user sets."""
    found: dict[Atom, None] = {}
    for atom in frame.each(value):
        if isinstance(atom, Choice):
            found.update(dict.fromkeys((*plain(frame, atom.default), *plain(frame, atom.other))))
        else:
            found[atom] = None
    return list(found)


def by_key(frame: Frame, key: Value, look_up: Callable[[Value], Value]) -> Value:
    """What is found under a key: under an option what its default names, for nobody knows what the user names.

    Nor does anybody know what else is named where something is known to be.
    """
    found = NOTHING
    resolved = frame.resolve(key)
    known = [atom for atom in frame.each(resolved) if not isinstance(atom, (NotNone, Unknown))]
    if known and len(known) < len(resolved.atoms):
        found, resolved = UNKNOWN, resolved.of(known)
    rest = [atom for atom in frame.each(resolved) if not isinstance(atom, Choice)]
    for atom in frame.each(resolved):
        if not isinstance(atom, Choice):
            continue
        default = by_key(frame, atom.default, look_up)
        if all(isinstance(each, (NotNone, Unknown)) for each in atom.other.atoms):
            other = UNKNOWN if default.atoms and all(map(is_plain, default.atoms)) else default
        else:
            other = by_key(frame, atom.other, look_up)
        found = frame.join(found, frame.chosen(Outcome(True, True, atom.option), other, default))
    return frame.join(found, look_up(resolved.of(rest))) if rest else found


def at(frame: Frame, value: Value, index: int | None) -> Value:
    """The item at an index; without one, any."""
    resolved = frame.resolve(value)
    found = NOTHING
    for atom in frame.each(resolved):
        if isinstance(atom, TupleOf) and index is not None:
            found = frame.join(found, atom.items[index] if index < len(atom.items) else NOTHING)
        elif isinstance(atom, IteratorOver) and atom.rows and index is not None:
            found = frame.join(found, atom.rows[index] if index < len(atom.rows) else NOTHING)
        elif index is not None and isinstance(atom, Instance) and classes.is_named_tuple(frame, atom):
            found = frame.join(found, frame.read((atom.site, Key(Constant("int", str(index))))))
        elif index is not None and isinstance(atom, Instance) and isinstance(atom.site.kind, LibraryRef):
            found = frame.join(found, keyed(frame, atom, Key(Constant("int", str(index)))))
        else:
            found = frame.join(found, frame.tables.iterate(frame, value_of(atom)))
    return tainted(found, value)


def between(frame: Frame, value: Value, before: int, after: int) -> Value:
    """The items of a value but for so many at its begin and at its end."""
    found = NOTHING
    for atom in frame.each(value):
        told = turns(frame, atom)
        if told.items:
            items = told.items[before : len(told.items) - after]
            found = frame.join(found, value_of(TupleOf(tuple(tainted(item, value) for item in items))))
        if not told.items or told.rest.atoms:
            found = frame.join(found, value.of((atom,)))
    return found


def tainted(item: Value, container: Value) -> Value:
    """An item with the taints that it has by its position in a container."""
    if not container.taints or not item.atoms:
        return item
    taints = frozenset(x for x in t.items(container.taints) if x.kind != "filled")
    return item.with_taints(item.taints | taints, item.certain | t.items(container.certain))


def has(frame: Frame, atom: Atom, key: Atom) -> Outcome:
    """Whether a dict has a key.

    It has one that it is made with, unless something is taken out of it, and none that it never gets.
    """
    if not isinstance(atom, Instance) or atom.site.kind != DICT:
        return EITHER
    if not isinstance(key, Constant):
        held = entries(frame, atom)
        return EITHER if held.entries or held.rest is not None else FAILS
    found = entry(frame, atom, key)
    if found.atoms and not present(found).atoms:
        return FAILS
    begun = [under(each, key, frame.join) for each in _made(frame, atom)]
    sure = begun and all(value.atoms and not may_be_absent(value) for value in begun)
    return HOLDS if sure and ABSENT not in frame.read((atom.site, KEYS)).atoms else EITHER


def shows(frame: Frame, value: Value, name: str) -> Outcome:
    """Whether a value has an attribute: of a dict, one that it has an entry for."""
    outcomes = []
    for atom in frame.each(value):
        own = isinstance(atom, Instance) and atom.site.kind == DICT and not hasattr(dict, name)
        named = Constant("str", name)
        outcomes.append(has(frame, atom, named) if own else classes.has(frame, value.of((atom,)), name))
    return either(outcomes) if outcomes else NEVER


def is_filled(frame: Frame, atom: Instance, path: PathKey | None) -> Outcome:
    """Whether a dict has an entry: one that it is made with, unless something is taken out of it.

    That it has none is known of one alone that a path was given here.
    """
    strong = own_contents(frame, path)
    held = _made(frame, atom) if strong is None else [a for a in strong.atoms if isinstance(a, DictOf)]
    sure = held and all(any(value.atoms and not may_be_absent(value) for _, value in each.entries) for each in held)
    if sure and (strong is not None or ABSENT not in frame.read((atom.site, KEYS)).atoms):
        return HOLDS
    found = entries(frame, atom, path)
    return FAILS if strong is not None and not found.entries and found.rest is None else EITHER


def keyed(frame: Frame, atom: Instance, slot: Slot) -> Value:
    """What a container has in a slot."""
    if not is_container(atom):
        return frame.tables.iterate(frame, value_of(atom))
    if isinstance(slot, Key) and (slot.key.kind != "int" or not slot.key.value.startswith("-")):
        return present(entry(frame, atom, slot.key))
    number = count(frame, atom) if isinstance(slot, Key) else 0
    place = number + int(slot.key.value) if isinstance(slot, Key) and number else -1
    if place < 0:
        return frame.read((atom.site, ITEMS))
    return frame.join(present(entry(frame, atom, Constant("int", str(place)))), frame.read((atom.site, ANY_KEY)))


def any_of(frame: Frame, items: Value) -> Value:
    """One of some items, whichever a key picks that is not known: of too many functions or classes nobody knows it."""
    callables = [atom for atom in items.atoms if isinstance(atom, (FunctionRef, ClassRef, PartialCall))]
    if len(callables) <= frame.solver.limits.picked:
        return items
    frame.solver.lattice.meet()
    return UNKNOWN.with_taints(items.taints, items.certain)


# What is written down


def turns(frame: Frame, atom: Atom) -> Turns:
    """What going over an atom gives, as far as it is written down."""
    if isinstance(atom, TupleOf):
        return Turns(atom.items)
    if isinstance(atom, Instance) and atom.site.kind == DICT:
        held = entries(frame, atom)
        rest = UNKNOWN if held.rest is not None and held.rest.atoms else NOTHING
        return Turns(tuple(shown(key) for key, _ in held.entries), rest)
    if isinstance(atom, Instance) and atom.site.kind == LIST:
        items = tuple(frame.read((atom.site, slot)) for slot in places(count(frame, atom)))
        return Turns(items, frame.read((atom.site, ANY_KEY)))
    if isinstance(atom, IteratorOver) and atom.rows:
        return Turns(atom.rows)
    return Turns((), frame.tables.iterate(frame, value_of(atom)))


def count(frame: Frame, atom: Instance) -> int:
    """How many items a list is made with, as far as that is known."""
    display = frame.solver.index.display(atom.site)
    if isinstance(display, ir.Display):
        starred = any(isinstance(element, ir.Starred) for element in display.elements)
        return len(display.elements) if not starred and len(display.elements) <= frame.solver.limits.callables else 0
    made = frame.read((atom.site, CONTENTS))
    return max((len(each.items) for each in made.atoms if isinstance(each, TupleOf)), default=0)


def places(number: int) -> Iterator[Key]:
    """The slots of so many items."""
    return (Key(Constant("int", str(index))) for index in range(number))


def all_turns(frame: Frame, value: Value) -> Turns:
    """What going over a value gives: of several atoms each turn is that of any."""
    each = [turns(frame, atom) for atom in frame.each(value)]
    if len(each) == 1:
        return Turns(tuple(tainted(item, value) for item in each[0].items), tainted(each[0].rest, value))
    join = frame.solver.lattice.all
    longest = max((len(one.items) for one in each), default=0)
    items = tuple(join(one.items[index] for one in each if index < len(one.items)) for index in range(longest))
    rest = join(one.rest for one in each)
    return Turns(tuple(tainted(item, value) for item in items), tainted(rest, value), False)


# Entries of dicts


def made(frame: Frame, site: Instance, held: Value) -> Value:
    """A dict that is made here of certain entries."""
    unsettled.begin(frame, site.site, held)
    for each in frame.solver.lattice.each(held):
        if isinstance(each, DictOf):
            if len(each.entries) > frame.solver.limits.callables:  # too many to be any of them: the text tells so
                frame.fill((site.site, ITEMS), UNKNOWN)
                continue
            for _, value in each.entries:
                frame.fill((site.site, ITEMS), present(value))
            if each.rest is not None:
                frame.fill((site.site, ITEMS), present(each.rest))
    frame.just = (site.site, held)
    return value_of(site)


def own_contents(frame: Frame, path: PathKey | None) -> Value | None:
    """The entries of the dict that a variable or path was given here."""
    return None if path is None or frame.env is None else frame.env.get(below(path, CONTENTS))


def below(path: PathKey, slot: Slot) -> Path:
    """The path of a slot of what a path is."""
    return (*path, slot) if isinstance(path, tuple) else (path, slot)


def _made(frame: Frame, atom: Instance) -> list[DictOf]:
    """What a dict was made with; of a class of the project it may be made with nothing."""
    left = frame.join(frame.read((atom.site, CONTENTS)), unsettled.contents(frame, atom.site))
    found = frame.solver.lattice.each(left)
    known = [each for each in found if isinstance(each, DictOf)]
    return known if isinstance(atom.site.kind, LibraryRef) else [*known, _CLOSED]


def _cell(frame: Frame, atom: Instance, slot: Slot, own: bool) -> Value:
    """What is left in a slot of a dict; that of a variable which was given it here, by `own`, by others alone."""
    cell = (atom.site, slot)
    return frame.solver.read_others(frame.entry, cell) if own else frame.read(cell)


def entry(frame: Frame, atom: Instance, key: Constant, path: PathKey | None = None) -> Value:
    """What a dict has under a key, absent where it may have nothing."""
    if path is not None and frame.env is not None and (narrowed := frame.env.get(below(path, Key(key)))) is not None:
        return narrowed
    strong = own_contents(frame, path)
    held = _made(frame, atom) if strong is None else [a for a in strong.atoms if isinstance(a, DictOf)]
    found = frame.solver.lattice.all(under(each, key, frame.join) for each in held)
    for slot in (Key(key), ANY_KEY):
        found = frame.join(found, _cell(frame, atom, slot, strong is not None))
    return found


def entries(frame: Frame, atom: Instance, path: PathKey | None = None) -> DictOf:
    """All that a dict has."""
    strong = own_contents(frame, path)
    own = strong is not None
    held = _made(frame, atom) if strong is None else [a for a in strong.atoms if isinstance(a, DictOf)]
    names = dict.fromkeys(key for each in held for key, _ in each.entries)
    more = _cell(frame, atom, KEYS, own)
    later = [a for a in frame.solver.lattice.each(more) if isinstance(a, Constant) and a not in names]
    rest = frame.solver.lattice.all(each.rest for each in held if each.rest is not None)
    rest = frame.join(rest, _cell(frame, atom, ANY_KEY, own))
    if CUT in more.atoms:
        rest = frame.join(rest, _cell(frame, atom, ITEMS, own))
    found = tuple((key, entry(frame, atom, key, path)) for key in (*names, *later))
    kept = tuple((key, value) for key, value in found if value.atoms != {ABSENT})
    begun = [key for each in held[:1] for key, _ in each.entries]
    if [key for key, _ in kept] != begun:  # in an order that does not depend on what came first
        kept = tuple(sorted(kept, key=lambda each: told(each[0])))
    opened = rest.atoms or not held or any(each.rest is not None for each in held)
    return DictOf(kept, rest if opened else None)


def mappings(frame: Frame, value: Value, path: PathKey | None = None) -> list[DictOf]:
    """What each of the dicts has that a value may be; of anything else nothing is known."""
    found = []
    for atom in frame.each(value):
        if isinstance(atom, Choice):
            found += [*mappings(frame, atom.default), *mappings(frame, atom.other)]
        elif isinstance(atom, DictOf):
            found.append(atom)
        elif isinstance(atom, Instance) and is_mapping(frame, atom):
            found.append(entries(frame, atom, path))
        elif isinstance(atom, Constant):
            found.append(_CLOSED)
        else:
            found.append(_OPEN)
    return found


def mapping(frame: Frame, value: Value, path: PathKey | None = None) -> DictOf | None:
    """What a value has that is one of some dicts; None where it is nothing yet."""
    found = frame.solver.lattice.kept(frozenset(mappings(frame, value, path)))
    return next((atom for atom in found if isinstance(atom, DictOf)), None)


def under_path(frame: Frame, base: Value, key: Constant, path: PathKey) -> Value:
    """What the dicts that a path may be have under a key, absent where they may have nothing."""
    atoms = [atom for atom in frame.each(base) if isinstance(atom, Instance) and is_mapping(frame, atom)]
    return frame.solver.lattice.all(entry(frame, atom, key, path) for atom in atoms)
