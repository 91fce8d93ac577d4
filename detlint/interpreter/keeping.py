"""What is kept in containers, and taken out of dicts: for sure where a variable or path is known to hold one."""

from __future__ import annotations

from detlint.domain.atoms import ABSENT, AllocationSite, Atom, ClassRef, DictOf, Instance
from detlint.domain.dicts import may_be_absent, present, put
from detlint.domain.slots import ANY_KEY, CONTENTS, ITEMS, KEYS, Key, Slot
from detlint.domain.values import UNKNOWN, Value, told, under, value_of
from detlint.interpreter import containers, unsettled
from detlint.interpreter.containers import below, own_contents, under_path
from detlint.interpreter.frames import Frame, Path
from detlint.interpreter.frames import Key as PathKey


def keep(frame: Frame, base: Value, key: Value, value: Value, path: PathKey | None, *, perhaps: bool = False) -> None:
    """Keep a value under a key of a container, `perhaps` where that may not happen."""
    if frame.env is None or not value.atoms:
        return
    slots = containers.slots_of(frame, key)
    held = own_contents(frame, path)
    sites = [atom.site for atom in frame.each(base) if isinstance(atom, Instance)]
    owners: list[AllocationSite | ClassRef] = [*sites, *(a for a in frame.each(base) if isinstance(a, ClassRef))]
    unseen = len(owners) == 1 and path is not None and held is not None and _is_unseen(frame, owners[0], path)
    for owner in owners:
        for slot in slots:
            frame.write((owner, ITEMS), present(value))
            if not unseen:
                frame.write((owner, slot), present(value))
                if isinstance(slot, Key):
                    frame.write((owner, KEYS), value_of(slot.key))
        if isinstance(owner, AllocationSite) and not unseen:
            unsettled.settle(frame, owner)
    sure = not perhaps and len(slots) == 1
    for slot in slots:
        for other in _same(frame, sites, path):
            _lay(frame, other, slot, value, False)
        if held is not None and path is not None:
            _lay(frame, below(path, CONTENTS), slot, value, sure)
            if unseen:
                unsettled.now(frame, sites[0], frame.env[below(path, CONTENTS)])
        elif path is not None and isinstance(slot, Key) and len(sites) == len(frame.each(base)):
            narrowed = below(path, slot)
            old = frame.env.get(narrowed)
            if sure:
                frame.narrow(narrowed, value, tuple((site, slot) for site in sites))
            elif old is not None:
                frame.env[narrowed] = frame.join(old, value)


def _is_unseen(frame: Frame, owner: AllocationSite | ClassRef, path: PathKey) -> bool:
    """Whether a path is known to hold a dict that nobody else has seen."""
    return isinstance(owner, AllocationSite) and unsettled.holds(frame, owner, below(path, CONTENTS))


def _same(frame: Frame, sites: list[AllocationSite], path: PathKey | None) -> list[Path]:
    """The paths to entries of dicts that may be one of some, but for those of the path itself."""
    env = frame.env or {}
    paths = [key for key in env if isinstance(key, tuple) and isinstance(key[-1], (Key, type(CONTENTS)))]
    found = []
    for key in paths:
        base = key[:-1] if len(key) > 2 else key[0]
        if base != path and any(cell[0] in sites for cell in frame.cells.get(key, ())):
            found.append(key)
    return found


def _lay(frame: Frame, path: Path, slot: Slot, value: Value, sure: bool) -> None:
    """Let a path to entries of a dict have a value, for `sure` or perhaps."""
    assert frame.env is not None
    old = frame.env[path]
    if path[-1] != CONTENTS:
        if slot in (path[-1], ANY_KEY):
            frame.env[path] = frame.join(old, value)
        return
    atoms: set[Atom] = set()
    for atom in old.atoms:
        if isinstance(atom, DictOf) and isinstance(slot, Key):
            new = value if sure else frame.join(under(atom, slot.key, frame.join), value)
            atoms.add(_in_order(put(atom, slot.key, new), atom))
        elif isinstance(atom, DictOf):
            atoms.add(DictOf(atom.entries, value if atom.rest is None else frame.join(atom.rest, value)))
    frame.env[path] = old.of(atoms)


def _in_order(held: DictOf, before: DictOf) -> DictOf:
    """A dict that got another entry, with all in an order that does not depend on when others saw it."""
    if len(held.entries) == len(before.entries):
        return held
    return DictOf(tuple(sorted(held.entries, key=lambda each: told(each[0]))), held.rest)


def take(frame: Frame, base: Value, key: Value, path: PathKey | None) -> None:
    """What is under a key of a dict in a variable or path is there no more."""
    slots = [slot for slot in containers.slots_of(frame, key) if isinstance(slot, Key)]
    sure = len(slots) == len(containers.slots_of(frame, key)) == 1
    shrink(frame, base)
    _settle(frame, base)
    for slot in slots if path is not None and frame.env is not None else ():
        assert path is not None
        if own_contents(frame, path) is not None:
            _lay(frame, below(path, CONTENTS), slot, value_of(ABSENT), sure)
            continue
        left = value_of(ABSENT) if sure else frame.join(under_path(frame, base, slot.key, path), value_of(ABSENT))
        frame.narrow(
            below(path, slot),
            left,
            tuple((a.site, slot) for a in frame.each(base) if isinstance(a, Instance)),
        )
        frame.assigned.add(below(path, slot))


def _settle(frame: Frame, base: Value) -> None:
    """Leave in the heap what dicts hold of which something is taken out."""
    for atom in frame.each(base):
        if isinstance(atom, Instance):
            unsettled.settle(frame, atom.site)


def shrink(frame: Frame, base: Value) -> None:
    """Something may be taken out of a dict."""
    for atom in frame.each(base):
        if isinstance(atom, Instance) and containers.is_mapping(frame, atom):
            frame.write((atom.site, KEYS), value_of(ABSENT))


def empty(frame: Frame, base: Value, path: PathKey | None) -> None:
    """A dict in a variable or path has nothing from here on."""
    shrink(frame, base)
    _settle(frame, base)
    if path is not None and frame.env is not None:
        cells = tuple((atom.site, CONTENTS) for atom in frame.each(base) if isinstance(atom, Instance))
        frame.narrow(below(path, CONTENTS), value_of(DictOf()), cells)


def take_over(frame: Frame, base: Value, more: Value, path: PathKey | None) -> bool:
    """`base |= more` of dicts: the first takes over the entries of the other; whether it is one."""
    if not any(containers.is_mapping(frame, atom) for atom in frame.each(base)):
        return False
    held = containers.mapping(frame, more)
    for key, value in held.entries if held is not None else ():
        keep(frame, base, value_of(key), present(value), path, perhaps=may_be_absent(value))
    if held is not None and held.rest is not None:
        keep(frame, base, UNKNOWN, held.rest, path)
    return True
