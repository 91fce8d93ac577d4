"""What is found, and made, by a name that a configuration gives: of classes and functions, with their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard
from zlib import crc32

from detlint.catalogue import Row
from detlint.documents.documents import said
from detlint.documents.trees import resolved, tree
from detlint.domain.atoms import (
    NONE,
    Atom,
    Choice,
    Constant,
    DictOf,
    Instance,
    LibraryRef,
    ModuleRef,
)  # fmt: skip
from detlint.domain.dicts import present
from detlint.domain.documents import PARTIAL, POSITIONAL, RECURSIVE, TARGET
from detlint.domain.given import Given
from detlint.domain.outcomes import is_none, truth
from detlint.domain.slots import ITEMS
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, UNKNOWN, Value, told, value_of
from detlint.models import documents, seeds
from detlint.models.arguments import Arguments

if TYPE_CHECKING:
    from detlint.models.known import Known

_OWN = frozenset((TARGET, PARTIAL, RECURSIVE, POSITIONAL, "_convert_"))
_DEEP = 8  # configurations within others
_ITEMS = 32  # of a list that are gone through
_PARTIAL_CALL = value_of(LibraryRef("functools.partial"))


def located(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """What a dotted name stands for."""
    return _named(step, args.first())


def _named(step: Step, value: Value) -> Value:
    """What the dotted names that a value may be stand for, an option at its default."""
    found = NOTHING
    for atom in step.each(value):
        if isinstance(atom, Choice):
            found = step.join(found, _named(step, atom.default))
        elif isinstance(atom, Constant) and atom.kind == "str":
            found = step.join(found, _at(step, atom.value))
        else:
            found = step.join(found, UNKNOWN)
    return found


def _at(step: Step, name: str) -> Value:
    head, _, last = name.rpartition(".")
    if not head:
        return UNKNOWN
    if head == "__main__":
        return step.attribute(value_of(*map(ModuleRef, step.scripts)), last)
    return step.attribute(step.module(head), last)


def targets(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """Call what a configuration names as its target, with the other entries."""
    extra = {key: value for key, value in args.given.keywords.items() if key != "config"}
    more = Given(args.given.positional[1:], extra, args.given.open)
    found = NOTHING
    for atom in step.each(args.first("config")):
        found = step.join(found, _made(step, atom, more, _DEEP))
    return found


def made_of_document(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """What files or texts whose parts name what is made of them make, in order; one that is not known may seed."""
    form, stream = row.text("form"), args.first(row.text("parameter"))
    texts = [atom.value for atom in step.each(stream) if isinstance(atom, Constant) and "\n" in atom.value]
    paths, others = ([], False) if texts else documents.documents_at(step, stream)
    read = {path: step.documents.parsed(path, form) for path in paths} | {text: said(text, form) for text in texts}
    found = NOTHING
    for path, whole in read.items():
        if isinstance(whole, dict):
            made = documents.value_of_tree(step, resolved(tree(whole, "" if path in texts else path)), path)
            for atom in step.each(made):
                found = step.join(found, _made(step, atom, Given(), _DEEP))
        else:
            others = True
    if others:
        seeds.perhaps(step, name, guessed=False)
    return step.join(found, UNKNOWN) if others else found


def _made(step: Step, atom: Atom, more: Given, depth: int) -> Value:
    """What is made of a part of a configuration: itself, where it neither names a target nor has a part that does."""
    if isinstance(atom, Choice):
        return _made_of_option(step, atom)
    if atom == NONE:
        return value_of(NONE)
    if not _is_part(atom) or depth == 0:
        return UNKNOWN
    held = _entries(step, atom)
    named = {key.value: value for key, value in held.entries if key.kind == "str"}
    if TARGET not in named:
        return _inside(step, atom, depth)
    given = {name: value for name, value in (named | more.keywords).items() if name not in _OWN}
    if _usual(step, named.get(RECURSIVE), default=True):
        own = more.keywords
        given = {name: value if name in own else _part(step, value, depth) for name, value in given.items()}
    function = _named(step, named[TARGET])
    first = more.positional or [_part(step, item, depth) for item in _items(step, named.get(POSITIONAL))]
    arguments = Given(tuple(first), given, more.open or held.rest is not None)
    if _usual(step, named.get(PARTIAL), default=False):
        return step.call_with(_PARTIAL_CALL, Given((function, *arguments.positional), given, arguments.open))
    return step.call_with(function, arguments)


def _made_of_option(step: Step, atom: Choice) -> Value:
    """Of an option that is None by default nothing is made, unless the user sets it."""
    return value_of(NONE) if is_none(step.resolve(atom.default)).may_hold else UNKNOWN


def _usual(step: Step, value: Value | None, *, default: bool) -> bool:
    """Whether an entry is true, an option at its default."""
    if value is None:
        return default
    atoms = [atom.default if isinstance(atom, Choice) else value_of(atom) for atom in step.each(value)]
    return any(truth(each).may_hold for each in atoms)


def _items(step: Step, value: Value | None) -> list[Value]:
    """The items of a list that is written down."""
    found = []
    for index in range(_ITEMS):
        item = NOTHING if value is None else step.item(value, value_of(Constant("int", str(index))))
        if not item.atoms:
            break
        found.append(item)
    return found


def _part(step: Step, value: Value, depth: int) -> Value:
    """What is made of a value of a configuration: of a part that names a target what that makes."""
    found = NOTHING
    for atom in step.each(value):
        holds = _is_part(atom) and _names(step, atom, depth - 1)
        found = step.join(found, _made(step, atom, Given(), depth - 1) if holds else value_of(atom))
    return found


def _inside(step: Step, owner: Instance, depth: int) -> Value:
    """A mapping or a list in which what names a target is what that makes."""
    if not _names(step, owner, depth):
        return value_of(owner)
    part = f":made {crc32(told(owner).encode(errors='replace'))}"
    if owner.site.kind == documents.LIST:
        return documents.made_list(step, [_part(step, item, depth) for item in _items(step, value_of(owner))], part)
    held = _entries(step, owner)
    entries = {key: _part(step, value, depth) for key, value in held.entries}
    return value_of(documents.made_dict(step, entries, held.rest, part))


def _names(step: Step, owner: Instance, depth: int) -> bool:
    """Whether a part of a configuration, or one within it, names a target."""
    held = _entries(step, owner).entries
    if any(key.value == TARGET for key, _ in held):
        return True
    inner = [value for _, value in held] or [step.read(owner, ITEMS)]  # options hide parts that they are joined with
    parts = (atom for value in inner for atom in step.each(value) if _is_part(atom))
    return depth > 0 and any(_names(step, atom, depth - 1) for atom in parts)


def _entries(step: Step, owner: Instance) -> DictOf:
    held = step.mapping(value_of(owner)) if owner.site.kind == documents.DICT else None
    if held is None:
        return DictOf()
    return DictOf(tuple((key, present(value)) for key, value in held.entries), held.rest)


def _is_part(atom: Atom) -> TypeGuard[Instance]:
    """Whether an atom is a mapping or a list of a configuration."""
    return isinstance(atom, Instance) and atom.site.kind in (documents.DICT, documents.LIST)
