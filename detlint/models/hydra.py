"""hydra: configurations that a program keeps, and those that are composed of its files."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname
from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.documents.composing import composed, set_by
from detlint.documents.paths import folder_at
from detlint.documents.trees import Tree, Unknown, merged, within
from detlint.domain.atoms import (
    NONE,
    UNKNOWN_ATOM,
    AllocationSite,
    Atom,
    Bound,
    Choice,
    Constant,
    FunctionRef,
    Instance,
    LibraryRef,
    PartialCall,
    TupleOf,
)  # fmt: skip
from detlint.domain.given import Given
from detlint.domain.slots import ANY_KEY, Argument, Key
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, UNKNOWN, Value, value_of
from detlint.models import configurations, documents, paths
from detlint.models.arguments import Arguments

if TYPE_CHECKING:
    from detlint.models.known import Known

CONFIGS = Instance(AllocationSite(LibraryRef("hydra.core.config_store.ConfigStore"), None))  # one in a program
_FOLDER = Argument("folder")  # with the files of configurations
_PARTIAL = value_of(LibraryRef("functools.partial"))
_CALLED = (FunctionRef, Bound, PartialCall)
_MOST = 32  # overrides that are looked at


def store(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """The store of configurations."""
    return value_of(CONFIGS)


def keeps(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """Keep a configuration under a name."""
    given = args.given
    node, group = given.value("node", 1), given.value("group", 2)
    if group is None or all(atom == NONE for atom in step.each(group)):
        for atom in step.each(args.first("name")):
            if isinstance(atom, Constant):
                step.fill(CONFIGS, Key(atom), node or UNKNOWN)
    return value_of(NONE)


def initialises(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """What says where the files of configurations are, seen from the file that says so."""
    step.fill(CONFIGS, _FOLDER, _folders(step, args.first("config_path"), step.code.file))
    return UNKNOWN


def _folders(step: Step, value: Value, file: str) -> Value:
    """The folders that a value names, seen from a file."""
    found = NOTHING
    for atom in step.each(value):
        if isinstance(atom, Choice):
            found = step.join(found, _folders(step, atom.default, file))
        else:
            text = paths.text_of(atom)
            folder = None if text is None else folder_at(text, dirname(file))
            found = step.join(found, value_of(UNKNOWN_ATOM if folder is None else Constant("str", folder)))
    return found


def configured(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A decorator, made by a call, that calls a function with the configuration of a name."""
    given = args.given
    functions = [atom for value in given.positional for atom in step.each(value) if isinstance(atom, _CALLED)]
    if not functions:
        return step.call_with(
            _PARTIAL, Given((value_of(LibraryRef(name)), *given.positional), given.keywords, given.open)
        )
    found = NOTHING
    for atom in functions:
        function = atom.function if isinstance(atom, (Bound, PartialCall)) else atom
        file = function.file if isinstance(function, FunctionRef) else step.code.file
        where = given.value("config_path", 0 if len(given.positional) > 1 else -1)
        folders = _folders(step, value_of(Constant("str", ".")) if where is None else where, file)
        said = _composed(step, args.given.keywords.get("config_name", UNKNOWN), folders, [], [])
        found = step.join(found, step.call_with(_PARTIAL, Given((value_of(atom), said))) if said.atoms else NOTHING)
    return found


def composes(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """The configuration of a name, with the overrides that the program itself has as strings.

    What one of these gives a value that may be among others is not known.
    """
    found = step.names_of("hydra") & {each.rpartition(".")[2] for each in known.of_kind("initialises-configs")}
    folders = step.read(CONFIGS, _FOLDER) if found else UNKNOWN
    overrides = args.given.value("overrides", 1)
    certain, perhaps = _overrides(step, overrides) if overrides is not None else ([], [])
    return _composed(step, args.first("config_name"), folders, certain, perhaps)


def _overrides(step: Step, value: Value) -> tuple[list[str], list[str]]:
    """The texts that a list surely has, one after the other, and those that it may have."""
    certain: list[str] = []
    perhaps: list[str] = []
    atoms = step.each(value)
    for atom in atoms:
        for item in _items(step, atom):
            texts = [each.value for each in step.each(item) if isinstance(each, Constant) and each.kind == "str"]
            sure = len(atoms) == len(item.atoms) == 1
            (certain if sure else perhaps).extend(texts)
        if isinstance(atom, Instance):
            more = step.each(step.read(atom, ANY_KEY))
            perhaps += [each.value for each in more if isinstance(each, Constant) and each.kind == "str"]
    return certain, perhaps


def _items(step: Step, atom: Atom) -> Iterator[Value]:
    """The items that are written down in a tuple or a list."""
    if isinstance(atom, TupleOf):
        yield from atom.items
    elif isinstance(atom, Instance):
        for index in range(_MOST):
            item = step.read(atom, Key(Constant("int", str(index))))
            if not item.atoms:
                return
            yield item


def _composed(step: Step, name: Value, folders: Value, certain: list[str], perhaps: list[str]) -> Value:
    """The configuration of a name: that which the program keeps under it, with what files say laid over it."""
    found = NOTHING
    for atom in step.each(name):
        if isinstance(atom, Choice):
            found = step.join(found, _composed(step, atom.default, folders, certain, perhaps))
        elif not isinstance(atom, Constant) or atom.kind != "str":
            found = step.join(found, UNKNOWN)
        else:
            for folder in step.each(folders):
                where = folder.value if isinstance(folder, Constant) else None
                found = step.join(found, _of_name(step, atom.value, where, certain, perhaps))
    return found


def _of_name(step: Step, name: str, folder: str | None, certain: list[str], perhaps: list[str]) -> Value:
    known = step.names("store", "name")
    made = None if folder is None else composed(step.documents, folder, name, known, certain)
    if made is None:
        there = name in known or step.awaits(CONFIGS, Key(Constant("str", name)))
        return _kept(step, name) if there and not certain else UNKNOWN
    said: Tree = made.tree
    for override in perhaps:
        key = set_by(step.documents, folder or "", override)
        if key is None:
            return UNKNOWN
        said = merged(said, within(key, Unknown()))
    value = documents.value_of_tree(step, said, " ".join((f"{folder}/{name}", *certain, *perhaps)).replace(":", ";"))
    kept = [*made.kept, *([name] if name in known else [])][:1]
    return configurations.merged(step, _kept(step, kept[0]), value) if kept else value


def _kept(step: Step, name: str) -> Value:
    """The configuration that the program keeps under a name."""
    made = configurations.of_fields(step, step.read(CONFIGS, Key(Constant("str", name))))
    found = NOTHING
    for root in step.each(made):
        found = step.join(found, value_of(_resolved(step, root) if isinstance(root, Instance) else root))
    return found


def _resolved(step: Step, root: Instance) -> Instance:
    """A configuration of classes of fields in whose parts what refers to another field is what that has."""
    parts: dict[str, Value] = {}
    for name in step.binds(root):
        held = step.attribute(value_of(root), name)
        if any(isinstance(part, Instance) and step.binds(part) for part in step.each(held)):
            found = NOTHING
            for part in step.each(held):
                said = _references(step, root, part) if isinstance(part, Instance) else {}
                found = step.join(found, value_of(step.version(part, name, said) if said else part))  # type: ignore[arg-type]
            parts[name] = found
    return step.version(root, "resolved", parts) if parts else root


def _by_default(step: Step, value: Value) -> Iterator[Atom]:
    """The atoms of a value where the user sets no option."""
    for atom in step.each(value):
        if isinstance(atom, Choice):
            yield from _by_default(step, atom.default)
        else:
            yield atom


def _references(step: Step, root: Instance, part: Instance) -> dict[str, Value]:
    """The fields of a part that refer to others, by what those hold."""
    found: dict[str, Value] = {}
    for name in step.binds(part):
        for atom in _by_default(step, step.attribute(value_of(part), name)):
            if isinstance(atom, Constant) and atom.kind == "str" and atom.value.startswith("${"):
                value = value_of(root)
                for word in atom.value[2:-1].split("."):
                    value = step.attribute(value, word)
                found[name] = value
    return found
