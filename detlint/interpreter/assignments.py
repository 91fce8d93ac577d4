"""Assignments: to variables, access paths, items, and to the parts that a target unpacks."""

from __future__ import annotations

from collections.abc import Mapping

from detlint.domain import taints as t
from detlint.domain.atoms import (
    NOT_NONE,
    AllocationSite,
    Atom,
    Bound,
    Choice,
    ClassRef,
    Constant,
    FunctionRef,
    Instance,
    LibraryRef,
    ModuleRef,
    Option,
)
from detlint.domain.bare import CONFIGURATION
from detlint.domain.choices import opened
from detlint.domain.codes import Code
from detlint.domain.given import Given
from detlint.domain.outcomes import HOLDS, truth
from detlint.domain.slots import CONTENTS, Attribute, Base, Cell, Key, Slot, shared_cells
from detlint.domain.values import NOTHING, SOMETHING, UNKNOWN, Value, value_of
from detlint.interpreter import classes, containers, descriptors, keeping, protocols
from detlint.interpreter.frames import Frame, Path, own
from detlint.interpreter.frames import Key as PathKey
from detlint.ir import nodes as ir

_LONGEST = 4  # parts of an access path


def path_of(frame: Frame, expression: ir.Expression) -> PathKey | None:
    """The variable or access path that an expression reads."""
    if isinstance(expression, ir.Local):
        return expression.name
    if isinstance(expression, ir.Global):
        return f".{expression.name}"
    slot: Slot
    if isinstance(expression, ir.Attribute):
        slot = Attribute(expression.name)
    elif isinstance(expression, ir.Subscript) and isinstance(expression.key, ir.Constant):
        slot = Key(expression.key)
    else:
        return None
    base = path_of(frame, expression.value)
    if base is None:
        return None
    path: Path = (*base, slot) if isinstance(base, tuple) else (base, slot)
    return path if len(path) <= _LONGEST else None


def assign(frame: Frame, target: ir.Expression, value: Value, node: int = -1) -> None:
    """Give a target a value."""
    if frame.env is None:
        return
    if isinstance(target, ir.Local):
        frame.assign(target.name, value)
        frame.changed.pop(target.name, None)
        _begin(frame, target.name, value)
    elif isinstance(target, ir.Global):
        frame.assign(f".{target.name}", value)
        _begin(frame, f".{target.name}", value)
    elif isinstance(target, ir.Captured):
        for cell in captured_cells(frame, target):
            frame.write(cell, value)
    elif isinstance(target, ir.Attribute):
        _to_attribute(frame, target, value, node)
    elif isinstance(target, ir.Subscript):
        _to_item(frame, target, value)
    elif isinstance(target, ir.Starred):
        assign(frame, target.value, value, node)
    elif isinstance(target, ir.Display):
        for index, element in enumerate(target.elements):
            starred = isinstance(element, ir.Starred)
            after = any(isinstance(each, ir.Starred) for each in target.elements[:index])
            part = containers.at(frame, value, None if after else index)
            if starred:
                part = containers.between(frame, value, index, len(target.elements) - 1 - index)
            assign(frame, element, part, node)


def captured_cells(frame: Frame, variable: ir.Captured) -> tuple[Cell, ...]:
    """The cells of a variable of a function around this one: in the context that defined this one, else in all."""
    own = frame.node.function
    if frame.function.owner == variable.owner:
        return shared_cells(FunctionRef(own.file, variable.owner), own.within, variable.name)[:1]
    return shared_cells(FunctionRef(own.file, variable.owner), None, variable.name)[1:]


def object_cells(frame: Frame, base: Value, slot: Slot) -> tuple[Cell, ...]:
    """The cells of a slot of all that a value may be."""
    found: list[Cell] = []
    for atom in frame.each(base):
        if isinstance(atom, Instance) and isinstance(slot, Attribute) and atom.site.kind == containers.DICT:
            found.append((atom.site, Key(Constant("str", slot.name))))
        elif isinstance(atom, Instance):
            found.append((atom.site, slot))
        elif isinstance(atom, (ClassRef, ModuleRef)):
            found.append((atom, slot))
        elif isinstance(atom, Bound) and isinstance(atom.receiver, Instance) and isinstance(slot, Attribute):
            owned = atom.function.name.rpartition(".")[2]  # something that an object of a library has
            found.append((atom.receiver.site, Attribute(f"{owned}.{slot.name}")))
        elif isinstance(atom, Choice):
            found += (*object_cells(frame, atom.default, slot), *object_cells(frame, atom.other, slot))
    return tuple(found)


def _to_attribute(frame: Frame, target: ir.Attribute, value: Value, node: int) -> None:
    base = frame.evaluate(target.value)
    slot = Attribute(target.name)
    if to_version(frame, path_of(frame, target.value), base, target.name, value, node):
        return
    if frame.is_top and any(classes.is_configuration(frame, atom) for atom in frame.each(base)):
        value = _default(frame, target.name, value)
    kept = _keeping(frame, base, target.name, value, node)
    if base.atoms and not kept.atoms:
        return
    cells = object_cells(frame, kept, slot)
    path = path_of(frame, target)
    if isinstance(path, tuple):
        _join_others(frame, path, value)
        frame.assign(path, value, cells)
        if len(path) < _LONGEST:
            _begin(frame, path, value)
    else:
        for cell in cells:
            frame.write(cell, value)
    _to_entry(frame, kept, target.name, value)


def put_below(frame: Frame, path: PathKey | None, way: tuple[str, ...], owner: Instance, value: Value) -> None:
    """What a way of attributes leads to from what a path holds, an attribute of an owner, is a value from here on."""
    cells = ((owner.site, Attribute(way[-1])),)
    below: Path = (*(path if isinstance(path, tuple) else (path or "",)), *map(Attribute, way))
    if path is None or len(below) > _LONGEST:
        frame.write(*cells, value)
    else:
        _join_others(frame, below, value)
        frame.assign(below, value, cells)


def store(frame: Frame, base: Value, name: str, value: Value, node: int) -> None:
    """Give all that a value may be an attribute."""
    kept = _keeping(frame, base, name, value, node)
    for cell in object_cells(frame, kept, Attribute(name)):
        frame.write(cell, value)
    _to_entry(frame, kept, name, value)


def _to_entry(frame: Frame, base: Value, name: str, value: Value) -> None:
    """What is stored as an attribute of a dict that shows its entries is one of these."""
    dicts = base.of(a for a in frame.each(base) if isinstance(a, Instance) and a.site.kind == containers.DICT)
    if dicts.atoms:
        keeping.keep(frame, dicts, value_of(Constant("str", name)), value, None)


def _keeping(frame: Frame, base: Value, name: str, value: Value, node: int) -> Value:
    """What keeps a value as an attribute, once those have it whose class or library does something else with it."""
    kept = []
    for atom in frame.each(base):
        if isinstance(atom, LibraryRef):
            frame.tables.put(frame, f"{atom.name}.{name}", value, node)
        if not descriptors.set_by(frame, atom, name, value, node):
            kept.append(atom)
    return base.of(kept)


def _begin(frame: Frame, path: PathKey, value: Value) -> None:
    """A variable or path that is given a dict which was just made here knows its entries."""
    atom = next(iter(value.atoms), None)
    if isinstance(atom, Instance) and len(value.atoms) == 1 and frame.just is not None:
        site, held = frame.just
        if site == atom.site:
            frame.narrow(containers.below(path, CONTENTS), held, ((site, CONTENTS),))


def _default(frame: Frame, name: str, value: Value) -> Value:
    """What a configuration has by default, which a file may set too; that stands for nothing if it is -1."""
    option = Option(name, frame.code(-1))
    found: list[Atom] = []
    for atom in frame.each(value):
        if isinstance(atom, Constant) and atom.value == "-1":
            found += (atom, NOT_NONE)
        elif isinstance(atom, Constant) and atom.kind != "None" and truth(value_of(atom)) == HOLDS:
            found.append(Choice(option, value_of(atom), SOMETHING))
        else:
            found.append(atom)
    return value.of(found)


def to_version(frame: Frame, key: PathKey | None, base: Value, name: str, value: Value, node: int) -> bool:
    """An assignment to an attribute of a configuration object in a variable makes a new version of it."""
    resolved = frame.resolve(base)
    if not isinstance(key, str) or node < 0 or not any(_has_versions(atom) for atom in resolved.atoms):
        return False
    if not value.atoms:
        frame.assign(key, NOTHING)  # nothing yet: so is what has it
        return True
    new = [atom for atom in frame.each(resolved) if not _has_versions(atom)]
    for cell in object_cells(frame, resolved.of(new), Attribute(name)):
        frame.write(cell, value)
    frame.assign(key, base.of(_newer(frame, resolved, Attribute(name), value, frame.code(node)).atoms))
    given = frame.entry.inputs.get(key, NOTHING) if any(p.name == key for p in frame.function.parameters) else NOTHING
    if not _sites(given).isdisjoint(_sites(resolved)):
        frame.changed[key] = None  # who gave it has the version that is newest here
    return True


def _sites(value: Value) -> frozenset[AllocationSite]:
    """Where the objects were made that a value may be."""
    return frozenset(atom.site for atom in value.atoms if isinstance(atom, Instance))


def version(frame: Frame, owner: Instance, attributes: Mapping[str, Value], part: str, node: int) -> Instance:
    """An object that is another one but for some attributes; `part` tells those apart that one call makes."""
    code = frame.code(node)
    made = Instance(owner.site, Code(code.file, f"{code.function}<{part}>", code.node))
    for name, value in attributes.items():
        frame.fill((made, Attribute(name)), value)
    frame.fill((made, Base(0)), value_of(owner))
    return made


def newest(frame: Frame, owner: Instance, name: str) -> Value:
    """An attribute of an object as its version has it, else as that has which it was made from."""
    found = NOTHING
    waiting, seen = [owner], {owner}
    while waiting:
        each = waiting.pop()
        own = frame.read((each.site if each.version is None else each, Attribute(name)))
        found = frame.join(found, own)
        before = frame.each(frame.read((each, Base(0)))) if each.version is not None and not own.atoms else ()
        parents = [parent for parent in before if isinstance(parent, Instance) and parent not in seen]
        seen.update(parents)
        waiting += parents
    return found


def _has_versions(atom: Atom) -> bool:
    """Whether an atom is a configuration object, or a choice of such."""
    if isinstance(atom, Choice):
        return any(map(_has_versions, atom.default.atoms | atom.other.atoms))
    return isinstance(atom, Instance) and atom.site.kind in CONFIGURATION


def _newer(frame: Frame, base: Value, slot: Slot, value: Value, code: Code) -> Value:
    """A value with a new version for each configuration object that it may be."""
    found: list[Atom] = []
    for atom in frame.each(base):
        if isinstance(atom, Choice):
            parts = (_newer(frame, part, slot, value, code) for part in (atom.default, atom.other))
            found.append(Choice(atom.option, *parts))
        elif isinstance(atom, Instance) and _has_versions(atom):
            version = Instance(atom.site, code)
            frame.write((version, slot), value)
            frame.write((version, Base(0)), base.of((atom,)))
            found.append(version)
        else:
            found.append(atom)
    return base.of(found)


def _join_others(frame: Frame, path: Path, value: Value) -> None:
    """Other access paths to a slot of the same name may be to the same object."""
    env = frame.env
    if env is None or not frame.cells:
        return
    for key in list(env):
        if isinstance(key, tuple) and key[-1] == path[-1] and key != path:
            known = frame.cells.get(key)
            if not known or not set(known).isdisjoint(frame.cells.get(path, ())):
                env[key] = frame.join(env[key], value)


def _to_item(frame: Frame, target: ir.Subscript, value: Value) -> None:
    base = frame.evaluate(target.value)
    key = frame.evaluate(target.key)
    if "__setitem__" in frame.solver.index.special:
        _, rest = protocols.asked(frame, base, ("__setitem__",), (key, value), target.node)
        base = base.of(rest) if len(rest) < len(frame.each(base)) else base
    kept = value.with_taints(t.kept(value.taints), t.kept(value.certain))
    for atom in frame.each(base):
        if isinstance(atom, LibraryRef):
            method = value_of(LibraryRef(f"{atom.name}.__setitem__"))
            frame.tables.call(frame, method, Given((key, value)), target.node)
    path = path_of(frame, target.value)
    keeping.keep(frame, base, key, kept, path)
    if path is not None and base.atoms:
        taints = base.taints | t.gathered(key.taints) | t.FILLED
        certain = base.certain | t.gathered(key.certain)
        become(frame, path, base, base.with_taints(taints, certain))


def become(frame: Frame, path: PathKey | None, old: Value, new: Value) -> None:
    """What an in-place method was called on is `new` from here on; what else may be the same object may be, too."""
    env = frame.env
    if env is None:
        return
    objects = frozenset(atom for atom in opened(old.atoms) if isinstance(atom, Instance))
    for key, value in list(env.items()):
        if key != path and not objects.isdisjoint(opened(value.atoms)):
            env[key] = frame.join(value, value.with_taints(new.taints, new.certain))
    if path is None:
        return
    if isinstance(path, str):
        if path in env:
            frame.put(path, new)
            if any(parameter.name == path for parameter in frame.function.parameters):
                frame.changed[path] = None
        elif path[0] == ".":
            frame.assign(path, new)
        return
    base = frame.get(path[:-1] if len(path) > 2 else path[0])
    if base is None and isinstance(path[0], str) and path[0][0] == "." and len(path) == 2:
        base = UNKNOWN
    cells = object_cells(frame, base if base is not None else NOTHING, path[-1]) or frame.cells.get(path, ())
    frame.assign(path, new, cells)


def delete(frame: Frame, statement: ir.Delete) -> None:
    """`del` of a variable ends it; what a container loses is not followed."""
    for target in statement.targets:
        path = path_of(frame, target)
        if isinstance(path, str) and frame.env is not None:
            frame.flush()
            frame.env.pop(path, None)
            frame.env.pop(own(path), None)
        elif isinstance(target, ir.Attribute):
            descriptors.deleted(frame, frame.evaluate(target.value), target.name, target.node)
        elif isinstance(target, ir.Subscript):
            base = frame.evaluate(target.value)
            keeping.shrink(frame, base)
            protocols.asked(frame, base, ("__delitem__",), (frame.evaluate(target.key),), target.node)
