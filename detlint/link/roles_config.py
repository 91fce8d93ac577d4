"""What configurations are made of: fields with defaults, and the classes that a command line fills in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.link.arguments import Arguments
from detlint.link.fields import named_tuple, replaced
from detlint.link.mappings import VARS, mapped
from detlint.link.role import Role
from detlint.link.values import (
    NONE,
    SOME,
    UNKNOWN,
    Class,
    Constant,
    Function,
    Library,
    Object,
    Option,
    Tuple,
    Value,
    each,
    exact,
    join,
    only,
    single,
)

if TYPE_CHECKING:
    from detlint.link.library import Interpreter as Run
else:
    Run = Any

CONFIGS = Object(Library("hydra.core.config_store.ConfigStore"), "", 0)  # one in a program


def _field(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """The default of a field: a value, or an object of the class that makes it."""
    default = given.keywords.get("default", given.positional[0] if given.positional else None)
    if default is not None:
        return SOME if exact(default) is ... else default
    factory = given.keywords.get("default_factory", given.keywords.get("factory", UNKNOWN))
    made = frozenset(Object(atom, *run.site(place)) for atom in factory if isinstance(atom, Class))
    return made if made and len(made) == len(factory) else UNKNOWN


def _filled(run: Run, value: Value, place: Place) -> Value:
    """The configurations that are filled in from classes of fields."""
    found = []
    for atom in each(value):
        if isinstance(atom, Class):
            atom = Object(atom, *run.site(place))
        owner = mapped(atom)  # as `vars(args)` shows it
        if owner is not None:
            atom = run.container("dict", *run.site(place))
            run.spread(Library(VARS, owner), atom)
        known = isinstance(atom, Object) and (isinstance(atom.kind, Class) or run.is_container(atom))
        found.append(single(atom) if known else UNKNOWN)
    return join(found)


def _filled_in(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    return _filled(run, given.first(), place)


def _configs(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    return single(CONFIGS)


def _interpolated(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """What another field holds, which is not known before the whole is composed."""
    name = exact(given.first("interpolation"))
    return UNKNOWN | single(Constant(f"${{{name}}}")) if isinstance(name, str) else UNKNOWN


def _resolve(run: Run, root: Object) -> None:
    """Give the fields of the parts of a configuration that refer to others what those hold."""
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
    """The fields of an object of a class of fields, and their defaults."""
    classes = run.program.objects.classes
    infos = [classes[k] for k in run.program.objects.ancestry(owner.kind) if isinstance(k, Class) and k in classes]
    return {name: info.attributes.get(name, UNKNOWN) for info in reversed(infos) for name in info.fields}


def _keeps(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    name = exact(given.first("name"))
    node = given.keywords.get("node", given.positional[1] if len(given.positional) > 1 else UNKNOWN)
    group = given.keywords.get("group", given.positional[2] if len(given.positional) > 2 else NONE)
    if isinstance(name, str) and group == NONE:
        run.program.objects.store(CONFIGS, f"[{name!r}]", node)
    return NONE


def _composes(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """The configuration of a name, where the program itself overrides nothing of it by a string that it holds."""
    overrides = given.keywords.get("overrides", given.positional[1] if len(given.positional) > 1 else NONE)
    if any(isinstance(item, Constant) for atom in overrides for item in _held(run, atom)):
        return UNKNOWN
    return _composed(run, given.first("config_name"), place)


def _configured(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """A decorator, made by a call, that calls a function with the configuration of a name."""
    called = only(given.first())
    if not isinstance(function.receiver, Object):
        made = Object(Library(function.name), *run.site(place))
        run.keep(made, function.name, given.positional, given.keywords)
        return single(Library(function.name, made))
    parameters = run.program.function(called).parameters if isinstance(called, Function) else ()
    name = run.kept(function.receiver, function.name).get("config_name")
    if isinstance(called, Function) and parameters and (composed := _composed(run, name, place)) != UNKNOWN:
        run.unrepeatable()
        run.program.set_options(called, {parameters[0].name: composed})
    return given.first()


def _composed(run: Run, name: Value, place: Place) -> Value:
    """The configuration that is kept under a name."""
    node = run.program.objects.stored(CONFIGS, f"[{exact(name)!r}]")
    if node is None:
        return UNKNOWN
    made = _filled(run, node, place)
    for root in each(made):
        if isinstance(root, Object):
            _resolve(run, root)
    return made


def _held(run: Run, atom: object) -> Value:
    if isinstance(atom, Object):
        return run.program.objects.items(atom)
    return join(atom.items) if isinstance(atom, Tuple) else UNKNOWN


CONFIG_ROLES: dict[str, Role] = {
    "field": _field, "named-tuple": named_tuple, "replaced": replaced,
    "filled": _filled_in, "interpolated": _interpolated, "configs": _configs,
    "keeps-config": _keeps, "composes": _composes, "configured": _configured,
}  # fmt: skip
