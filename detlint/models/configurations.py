"""Configurations: objects that show entries as attributes, classes of fields, and several of these put together."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING
from zlib import crc32

from detlint.catalogue import Row
from detlint.documents.trees import tree
from detlint.domain.atoms import (
    CUT_ALL,
    UNKNOWN_ATOM,
    Atom,
    ClassRef,
    Constant,
    DictOf,
    Instance,
)  # fmt: skip
from detlint.domain.dicts import may_be_absent, or_else, present
from detlint.domain.given import Given
from detlint.domain.slots import Attribute
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, UNKNOWN, Value, told, value_of
from detlint.models import documents
from detlint.models.arguments import Arguments

if TYPE_CHECKING:
    from detlint.models.known import Known

_MOST = 32  # ways in which configurations are put together
_DEEP = 8  # mappings within mappings


def attributes(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A dict that shows the entries as attributes that it is given in a mapping or by keyword."""
    given = args.given
    parts = list(given.positional)
    if given.keywords or given.open or not parts:
        named = {Constant("str", key): step.resolve(value) for key, value in given.keywords.items()}
        parts.append(value_of(documents.made_dict(step, named, UNKNOWN if given.open else None, "")))
    return _united(step, parts)


def filled(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A configuration that is filled in from a class of fields, or a mapping as it is."""
    return of_fields(step, args.first())


def of_fields(step: Step, value: Value) -> Value:
    """The objects of classes of fields, and the mappings and such objects that a value may be."""
    found = NOTHING
    for atom in step.each(value):
        if isinstance(atom, ClassRef):
            made = step.call_with(value_of(atom), Given())
        else:
            made = value_of(atom) if _is_dict(atom) or _is_own(atom) else UNKNOWN
        found = step.join(found, made)
    return found


def united(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """One configuration of several, of which the last counts most."""
    return _united(step, args.given.positional)


def _united(step: Step, parts: list[Value] | tuple[Value, ...]) -> Value:
    atoms = [step.each(part) for part in parts]
    if prod(map(len, atoms)) > _MOST:
        return value_of(CUT_ALL)
    found = NOTHING
    for first, *others in product(*atoms):
        below = _own(step, first)
        for other in others:
            below = merged(step, below, value_of(other), _DEEP)
        found = step.join(found, below)
    return found


def _own(step: Step, atom: Atom) -> Value:
    """What an atom is that is a configuration: of entries that are written down a dict."""
    if not isinstance(atom, DictOf):
        return value_of(atom) if _is_dict(atom) or _is_own(atom) else UNKNOWN
    return value_of(documents.made_dict(step, dict(atom.entries), atom.rest, _part(atom)))


def _part(*atoms: Atom) -> str:
    """What tells that which is made of some atoms from others."""
    return f":{crc32(' '.join(map(told, atoms)).encode(errors='replace'))}"


def merged(step: Step, below: Value, above: Value, depth: int = _DEEP) -> Value:
    """Two configurations of which the second one counts where both say something."""
    found = NOTHING
    for one in step.each(below):
        for two in step.each(above):
            found = step.join(found, _merged(step, one, two, depth))
    return found


def _merged(step: Step, below: Atom, above: Atom, depth: int) -> Value:
    more = _held(step, above) or DictOf((), UNKNOWN)
    held = _held(step, below)
    part = _part(below, above)
    if isinstance(below, Instance) and held is None and _is_own(below) and depth:
        own = value_of(below)
        said = {key.value: _over(step, step.attribute(own, key.value), value, depth) for key, value in more.entries}
        return value_of(step.version(below, part, said))
    if held is None or depth == 0:
        return UNKNOWN
    entries = dict(held.entries)
    for key, value in more.entries:
        entries[key] = _over(step, entries[key], value, depth) if key in entries else value
    rest = [each for each in (held.rest, more.rest) if each is not None]
    whole = step.join(rest[0], rest[-1]) if rest else None
    return value_of(documents.made_dict(step, entries, whole, part))


def _held(step: Step, atom: Atom) -> DictOf | None:
    """What a dict has; None for anything else."""
    return atom if isinstance(atom, DictOf) else step.mapping(value_of(atom)) if _is_dict(atom) else None


def _over(step: Step, known: Value, value: Value, depth: int) -> Value:
    """A value that is laid over another: what both hold within is put together, too."""
    within = [atom for atom in step.each(known) if _is_dict(atom) or _is_own(atom)]
    found = NOTHING
    for atom in step.each(value):
        if may_be_absent(value_of(atom)):
            found = step.join(found, or_else(value_of(atom), known, step.join))
        elif _is_dict(atom) and within:
            found = step.join(found, merged(step, known.of(within), value_of(atom), depth - 1))
        else:
            found = step.join(found, value_of(atom))
    return found


def begun(step: Step, made: Instance, given: Given) -> None:
    """Let a node of a configuration have the fields that it is made with; all of a class, those that are known."""
    for atom in step.each(given.first) if given.positional else ():
        held = _held(step, atom)
        if held is None and made.site.code is not None:
            step.fill(made, Attribute(""), UNKNOWN)
        for key, value in held.entries if held is not None else ():
            step.put(value_of(made), key.value, present(value))


def opened(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """Let a node of a configuration take over what a file says."""
    owner = step.receiver
    if isinstance(owner, Instance) and step.is_configuration(owner) and args.given.positional:
        paths, _ = documents.documents_at(step, args.given.first)
        for path in paths:
            said = step.documents.parsed(path, "yaml")
            if isinstance(said, dict):
                one = len(paths) == 1 and step.resolve(step.owner).atoms == {owner}
                _take_over(step, owner, said, path, () if one else None)
    return NOTHING


def _take_over(
    step: Step, owner: Instance, said: dict[object, object], path: str, way: tuple[str, ...] | None, where: str = ""
) -> None:
    """Set the fields of a node, and of those that it holds, to what a file may say of them.

    One that surely gets what the file says has a `way` from the whole.
    """
    for key, held in said.items():
        name = f"{where}.{key}" if where else str(key)
        inner = step.each(step.attribute(value_of(owner), str(key)))
        further = None if way is None else (*way, str(key))
        nodes = [each for each in inner if isinstance(each, Instance) and step.is_configuration(each)]
        for node in nodes if isinstance(held, dict) else ():
            _take_over(step, node, held, path, further if len(inner) == 1 else None, name)  # type: ignore[arg-type]
        if len(nodes) < len(inner) or (nodes and not isinstance(held, dict)):
            value = documents.value_of_tree(step, tree(held, path, name), f"{path}:{name}")
            if further is None:
                step.fill(owner, Attribute(str(key)), value)
            else:
                step.put_below(owner, further, value)


def interpolated(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """What another field holds, which is not known before the whole is composed."""
    found = NOTHING
    for atom in step.each(args.first("interpolation")):
        text = Constant("str", f"${{{atom.value}}}") if isinstance(atom, Constant) else UNKNOWN_ATOM
        found = step.join(found, value_of(UNKNOWN_ATOM, text))
    return found


def _is_dict(atom: Atom) -> bool:
    return isinstance(atom, Instance) and atom.site.kind == documents.DICT


def _is_own(atom: Atom) -> bool:
    """Whether an atom is an object of a class of the project."""
    return isinstance(atom, Instance) and isinstance(atom.site.kind, ClassRef)
