"""Configuration files that programs open and load: the values that are made of what a file says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.documents.paths import document_at
from detlint.documents.trees import Leaf, Tree, Unknown, resolved, tree
from detlint.domain.atoms import (
    FALSE,
    NOT_NONE,
    TRUE,
    Atom,
    Choice,
    Constant,
    DictOf,
    Instance,
    LibraryRef,
    Option,
    TupleOf,
)  # fmt: skip
from detlint.domain.codes import Code
from detlint.domain.dicts import present
from detlint.domain.slots import ANY_KEY, CONTENTS, ITEMS, Argument, Key
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, SOMETHING, UNKNOWN, Value, value_of
from detlint.ir.lower_expressions import constant
from detlint.models.arguments import Arguments
from detlint.models.paths import text_of

if TYPE_CHECKING:
    from detlint.models.known import Known

FILE = LibraryRef("io.TextIOWrapper")
DICT, LIST = LibraryRef("builtins.dict"), LibraryRef("builtins.list")
_PATH = Argument("path")  # of a file that is opened
_ITEMS = 32  # of a list that are told apart
_READ = Constant("str", "r")
_OPPOSITE = {TRUE: FALSE, FALSE: TRUE}


def subject(step: Step, args: Arguments, name: str = "") -> Value:
    """What a method is called on, or the first argument of a function."""
    return step.owner if step.receiver is not None else args.first(name)


def documents_at(step: Step, value: Value) -> tuple[list[str], bool]:
    """The documents that paths or open files lead to, of an option its default; and whether there may be others."""
    found: dict[str, None] = {}
    others = False
    for atom in step.each(value):
        if isinstance(atom, Choice):
            inner, more = documents_at(step, atom.default)
        elif isinstance(atom, Instance) and atom.site.kind == FILE:
            inner, more = documents_at(step, step.read(atom, _PATH))
        else:
            text = text_of(atom)
            inner = document_at(step.documents, text, step.scripts) if text is not None else []
            more = not inner
        found.update(dict.fromkeys(inner))
        others = others or more
    return list(found), others


def opened(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A configuration file that is opened to be read, or its text; unknown for any other file."""
    mode = args.given.value("mode", 1) if row.text("modes") else None
    reads = [_reads(atom) for atom in ([_READ] if mode is None else step.each(mode))]
    found = NOTHING if all(reads) else UNKNOWN
    for atom in step.each(subject(step, args)) if any(reads) else ():
        documents, others = documents_at(step, value_of(atom))
        if documents:
            made = step.make(FILE.name)
            step.hold(made, _PATH, value_of(atom))
            found = step.join(found, value_of(made))
        if others:
            found = step.join(found, UNKNOWN)
    return found


def _reads(mode: Atom) -> bool:
    """Whether a file is opened in a mode to be read."""
    return isinstance(mode, Constant) and mode.value.startswith("r")


def loaded(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """What a configuration file says."""
    documents, others = documents_at(step, args.first())
    found = UNKNOWN if others else NOTHING
    for path in documents:
        said = step.documents.parsed(path, row.text("form"))
        if isinstance(said, (dict, list)):
            whole = tree(said, path)
            made = value_of_tree(step, resolved(whole) if row.text("interpolates") else whole, path)
        else:
            made = UNKNOWN
        found = step.join(found, made)
    return found


def value_of_tree(step: Step, said: Tree, part: str) -> Value:
    """What a tree is to a program that makes it: its values are options, which a user may set.

    `part` tells the trees of one call apart.
    """
    if isinstance(said, Leaf):
        return _value_of_leaf(said)
    if isinstance(said, Unknown):
        return SOMETHING if said.present else UNKNOWN
    if isinstance(said, list):
        return made_list(
            step, [value_of_tree(step, held, _below(part, index)) for index, held in enumerate(said)], part
        )
    entries: dict[Constant, Value] = {}
    rest: Value | None = None
    for key, held in said.items():
        value = value_of_tree(step, held, _below(part, key))
        if key is None or isinstance(key, (bool, int, float, str)):
            entries[constant(key)] = value
        else:
            rest = value if rest is None else step.join(rest, value)
    return value_of(made_dict(step, entries, rest, part))


def _below(part: str, key: object) -> str:
    """The name of a part of a part: after the name of the document the keys that lead to it."""
    return f"{part}.{key}" if ":" in part else f"{part}:{key}"


def made_dict(step: Step, entries: Mapping[Constant, Value], rest: Value | None, part: str) -> Instance:
    """A new dict of some entries, with `rest` under other keys that it may have."""
    made = step.make(DICT.name, empty=not entries and rest is None, part=part)
    step.hold(made, CONTENTS, value_of(DictOf(tuple(entries.items()), rest)))
    for value in (*entries.values(), *(() if rest is None else (rest,))):
        step.hold(made, ITEMS, present(value) if len(entries) <= _ITEMS else UNKNOWN)
    return made


def made_list(step: Step, items: Sequence[Value], part: str) -> Value:
    """A new list of some items."""
    made = step.make(LIST.name, empty=not items, part=part)
    if items:
        step.hold(made, CONTENTS, value_of(TupleOf(tuple(items[:_ITEMS]))))
    for index, item in enumerate(items[:_ITEMS]):
        step.hold(made, Key(Constant("int", str(index))), item)
    for item in items if len(items) <= _ITEMS else (UNKNOWN,):
        step.hold(made, ITEMS, item)
    if len(items) > _ITEMS:
        step.hold(made, ANY_KEY, UNKNOWN)
    return value_of(made)


def _value_of_leaf(leaf: Leaf) -> Value:
    """A value of a file, which is the default of an option."""
    default = constant(leaf.value)
    if not leaf.option:
        return value_of(default)
    other: Atom = _OPPOSITE.get(default, NOT_NONE)
    option = Option(leaf.option, Code(leaf.option.rpartition(" of ")[2], "", -1))
    return value_of(Choice(option, value_of(default), value_of(other)))
