"""Objects found or made by the name that a configuration gives: classes and functions, with their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

from detlint.catalogue import Row
from detlint.documents.documents import said
from detlint.documents.targets import PARTIAL, POSITIONAL, RECURSIVE, TARGET
from detlint.documents.trees import resolved, tree
from detlint.finding import Place
from detlint.link.language.reading import document_at, value_of
from detlint.link.roles.role import Role
from detlint.link.state.arguments import Arguments
from detlint.link.state.entropy import perhaps_seed
from detlint.link.state.mappings import DICT, LIST, entries, key
from detlint.link.state.truth import truth
from detlint.link.state.values import (
    FAR,
    NONE,
    UNKNOWN,
    Atom,
    Constant,
    Library,
    Object,
    Option,
    Partial,
    Value,
    constant,
    each,
    exact,
    join,
    only,
    settled,
    single,
)

if TYPE_CHECKING:
    from detlint.link.libraries.library import Interpreter as Run
else:
    Run = Any

_OWN = frozenset((TARGET, PARTIAL, RECURSIVE, POSITIONAL, "_convert_"))
_DEEP = 8  # nested configurations
_APART = FAR * 2**33  # added to the order of what is made from a part


def _located(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    return _at(run, _text(given.first()))


def _text(value: Value) -> str | None:
    """Return the text that a value is, with an option at its default; None if it is anything else."""
    atom = only(value)
    text = settled(atom) if isinstance(atom, (Constant, Option)) else None
    return text if isinstance(text, str) else None


def _at(run: Run, name: str | None) -> Value:
    """Return what a dotted name stands for, after loading its module."""
    head, _, last = (name or "").rpartition(".")
    return join(run.attribute(atom, last) for atom in each(run.module_named(head, run.frame.path))) if head else UNKNOWN


def _targets(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Call what a configuration names as its target, with the other entries as arguments."""
    extra = {name: value for name, value in given.keywords.items() if name != "config"}
    extra |= {"**": UNKNOWN} if given.hidden else {}
    return join(_made(run, atom, given.positional[1:], extra, place, _DEEP) for atom in each(given.first("config")))


def _made(run: Run, atom: Atom, rest: tuple[Value, ...], extra: dict[str, Value], place: Place, depth: int) -> Value:
    """Return what a part of a configuration makes: itself, if neither it nor a part in it names a target."""
    if isinstance(atom, (Constant, Option)) and settled(atom) is None:
        return NONE
    if depth == 0 or not _is_part(atom):
        return UNKNOWN
    held = entries(run.program.objects, atom)
    named = {name: value for slot, value in held.items() if isinstance(name := key(slot), str)}
    target = _text(named.get(TARGET, UNKNOWN))
    if target is None:
        return UNKNOWN if TARGET in named else _inside(run, atom, place, depth)
    whole = named | extra
    given = {name: value for name, value in whole.items() if name not in _OWN}
    if truth(whole.get(RECURSIVE, constant(True))).expected is not False:
        given = {name: value if name in extra else _part(run, value, place, depth) for name, value in given.items()}
    if len(named) < len(held):
        given["**"] = UNKNOWN
    found = _at(run, target)
    if truth(whole.get(PARTIAL, constant(False))).expected:
        return single(Partial(found, rest, tuple(sorted(given.items()))))
    first = only(named.get(POSITIONAL, NONE))
    listed = [] if first is None or not run.is_container(first) else list(run.program.objects.slots(first).values())
    listed = [_part(run, value, place, depth) for value in listed]
    return run.call_value(found, rest or listed, given, place)


def _part(run: Run, value: Value, place: Place, depth: int) -> Value:
    """Return what a value of a configuration makes: itself, or for a part with targets what these make."""
    atom = only(value)
    holds = _is_part(atom) and _names(run, atom, depth - 1)
    return _made(run, atom, (), {}, place, depth - 1) if atom is not None and holds else value


def _inside(run: Run, owner: Object, place: Place, depth: int) -> Value:
    """Return a mapping or a list in which the parts that name a target are replaced by what these make."""
    if not _names(run, owner, depth):
        return single(owner)
    made = Object(owner.kind, owner.path, owner.order + _APART)
    for slot, value in run.program.objects.slots(owner).items():
        run.program.objects.store(made, slot, _part(run, value, place, depth))
    return single(made)


def _names(run: Run, owner: Object, depth: int) -> bool:
    """Return whether a part of a configuration, or one within it, names a target."""
    slots = run.program.objects.slots(owner)
    inner = (atom for value in slots.values() for atom in value if _is_part(atom))
    return f"[{TARGET!r}]" in slots or (depth > 0 and any(_names(run, atom, depth - 1) for atom in inner))


def _is_part(atom: Atom | None) -> TypeGuard[Object]:
    """Return whether an atom is a mapping or a list of a configuration."""
    return isinstance(atom, Object) and atom.kind in (DICT, LIST)


def _made_of_document(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return what a file or a text makes by the targets of its parts, in order; an unknown one may seed."""
    stream, form = given.first(row.text("parameter")), row.text("form")
    path, text = document_at(run, stream), exact(stream)
    if path is None and isinstance(text, str):
        whole = said(text, form)
    else:
        whole = None if path is None else run.program.documents.parsed(path, form)
    if not isinstance(whole, dict):
        perhaps_seed(run, function.name, place, guessed=False)
        return UNKNOWN
    made = value_of(run, resolved(tree(whole, path or place.path)), run.site(place), path or "")
    return join(_made(run, atom, (), {}, place, _DEEP) for atom in each(made))


TARGET_ROLES: dict[str, Role] = {"located": _located, "targets": _targets, "makes-document": _made_of_document}
