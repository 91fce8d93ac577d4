"""Configurations that Hydra composes: those that a program stores, and those in its files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.documents.composing import composed, set_by
from detlint.documents.trees import Unknown, within
from detlint.finding import Place
from detlint.link.language.reading import folder_at, lay_over, value_of
from detlint.link.roles.config import filled
from detlint.link.roles.role import Role
from detlint.link.state.arguments import Arguments
from detlint.link.state.program import folder
from detlint.link.state.values import (
    NONE,
    UNKNOWN,
    Atom,
    Class,
    Constant,
    Function,
    Library,
    Object,
    Option,
    Tuple,
    Value,
    constant,
    each,
    exact,
    join,
    only,
    single,
)

if TYPE_CHECKING:
    from detlint.link.libraries.library import Interpreter as Run
else:
    Run = Any

CONFIGS = Object(Library("hydra.core.config_store.ConfigStore"), "", 0)  # one object in a program
_FOLDER = "folder"  # the slot for the folder of configuration files


def _configs(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    return single(CONFIGS)


def _keeps(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    name = exact(given.first("name"))
    node = given.keywords.get("node", given.positional[1] if len(given.positional) > 1 else UNKNOWN)
    group = given.keywords.get("group", given.positional[2] if len(given.positional) > 2 else NONE)
    if isinstance(name, str) and group == NONE:
        run.program.objects.store(CONFIGS, f"[{name!r}]", node)
    return NONE


def _initialises(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Set the folder of the configuration files, relative to the file of the call."""
    where = folder_at(given.first("config_path"), folder(place.path))
    run.program.objects.replace(CONFIGS, _FOLDER, UNKNOWN if where is None else constant(where))
    return UNKNOWN


def _composes(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return the configuration of a name, with the overrides that the program itself has as strings. Fields that an
    override may set, among other values, are unknown.
    """
    overrides = given.keywords.get("overrides", given.positional[1] if len(given.positional) > 1 else NONE)
    items = [item for atom in overrides for item in _items(run, atom)]
    texts = [text for item in items if isinstance(text := exact(item), str)]
    others = (atom for item in items if not isinstance(exact(item), str) for atom in each(item))
    perhaps = [str(atom.value) for atom in others if isinstance(atom, Constant)]
    where = exact(run.program.objects.stored(CONFIGS, _FOLDER) or NONE)
    keys = [set_by(run.program.documents, str(where), text) for text in perhaps]
    if None in keys:
        return UNKNOWN
    made = _composed(run, given.first("config_name"), where, texts, place)
    for root in (atom for atom in each(made) if isinstance(atom, Object)):
        for key in filter(None, keys):
            lay_over(run, root, within(key, Unknown()), run.site(place), key)
    return made


def _items(run: Run, atom: Atom) -> Iterable[Value]:
    """Return the items of a list or a tuple; empty for anything else."""
    if isinstance(atom, Tuple):
        return atom.items
    return run.program.objects.slots(atom).values() if run.is_container(atom) else ()


def _configured(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Make a decorator, or apply one: its function is called with the configuration of a name."""
    called = only(given.first())
    if not isinstance(function.receiver, Object):
        made = Object(Library(function.name), *run.site(place))
        run.keep(made, function.name, given.positional, given.keywords)
        return single(Library(function.name, made))
    parameters = run.program.function(called).parameters if isinstance(called, Function) else ()
    said = run.kept(function.receiver, function.name)
    if isinstance(called, Function) and parameters:
        where = folder_at(said.given.get("config_path", constant(".")), folder(called.path))
        found = _composed(run, said.get("config_name"), where, [], place)
        if found != UNKNOWN:
            run.unrepeatable()
            run.program.set_options(called, {parameters[0].name: found})
    return given.first()


def _composed(run: Run, name: Value, where: object, overrides: list[str], place: Place) -> Value:
    """Return the configuration of a name: the one that the program stores, overlaid with what files say."""
    atom, objects = only(name), run.program.objects
    word = atom.default if isinstance(atom, Option) else exact(name)
    if not isinstance(word, str):
        return UNKNOWN
    known = {slot[2:-2] for slot in objects.slots(CONFIGS) if slot.startswith("[")}
    found = composed(run.program.documents, where, word, known, overrides) if isinstance(where, str) else None
    if found is None:
        return UNKNOWN if overrides else _kept(run, word, place)
    site, label = run.site(place), f"{where}/{word}"
    kept = [*found.kept, *([word] if word in known else [])][:1]
    if not kept:
        return value_of(run, found.tree, site, label)
    made = _kept(run, kept[0], place)
    for root in each(made):
        if isinstance(root, Object):
            lay_over(run, root, found.tree, site, label)
    return made


def _kept(run: Run, name: str, place: Place) -> Value:
    """Return the configuration that the program stores under a name."""
    node = run.program.objects.stored(CONFIGS, f"[{name!r}]")
    if node is None:
        return UNKNOWN
    made = filled(run, node, place)
    for root in each(made):
        if isinstance(root, Object):
            _resolve(run, root)
    return made


def _resolve(run: Run, root: Object) -> None:
    """Set the fields of a configuration's parts that refer to other fields to what those hold."""
    objects = run.program.objects
    for part in (a for value in _fields(run, root).values() for a in each(value) if isinstance(a, Object)):
        for name, value in _fields(run, part).items():
            words = [a.default for a in value if isinstance(a, Option) and isinstance(a.default, str)]
            found: Value = single(root)
            for step in words[0][2:-1].split(".") if words and words[0].startswith("${") else ():
                owners = (atom for atom in each(found) if isinstance(atom, Object))
                found = join(objects.attribute(owner, step) or UNKNOWN for owner in owners)
            if root not in found and UNKNOWN.isdisjoint(found):
                objects.replace(part, name, found)


def _fields(run: Run, owner: Object) -> dict[str, Value]:
    """Return the fields of an object of a class of fields, with their defaults."""
    classes = run.program.objects.classes
    infos = [classes[k] for k in run.program.objects.ancestry(owner.kind) if isinstance(k, Class) and k in classes]
    return {name: info.attributes.get(name, UNKNOWN) for info in reversed(infos) for name in info.fields}


HYDRA_ROLES: dict[str, Role] = {
    "configs": _configs, "keeps-config": _keeps, "initialises-configs": _initialises, "composes": _composes,
    "configured": _configured,
}  # fmt: skip
