"""The parts of configurations: fields with defaults, and the classes that a command line fills in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.link.language.fields import named_tuple, replaced
from detlint.link.roles.role import Role
from detlint.link.state.arguments import Arguments
from detlint.link.state.mappings import VARS, mapped
from detlint.link.state.values import (
    SOME,
    UNKNOWN,
    Class,
    Constant,
    Library,
    Object,
    Value,
    each,
    exact,
    join,
    single,
)

if TYPE_CHECKING:
    from detlint.link.libraries.library import Interpreter as Run
else:
    Run = Any


def _field(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return the default of a field: a value, or an object of the class that is its factory."""
    default = given.keywords.get("default", given.positional[0] if given.positional else None)
    if default is not None:
        return SOME if exact(default) is ... else default
    factory = given.keywords.get("default_factory", given.keywords.get("factory", UNKNOWN))
    made = frozenset(Object(atom, *run.site(place)) for atom in factory if isinstance(atom, Class))
    return made if made and len(made) == len(factory) else UNKNOWN


def filled(run: Run, value: Value, place: Place) -> Value:
    """Return the configurations that are filled in from classes of fields."""
    found = []
    for atom in each(value):
        if isinstance(atom, Class):
            atom = Object(atom, *run.site(place))
        owner = mapped(atom)  # from `vars(args)`
        if owner is not None:
            atom = run.container("dict", *run.site(place))
            run.spread(Library(VARS, owner), atom)
        known = isinstance(atom, Object) and (isinstance(atom.kind, Class) or run.is_container(atom))
        found.append(single(atom) if known else UNKNOWN)
    return join(found)


def _filled_in(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    return filled(run, given.first(), place)


def _interpolated(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return what another field holds, which is unknown until the whole configuration is composed."""
    name = exact(given.first("interpolation"))
    return UNKNOWN | single(Constant(f"${{{name}}}")) if isinstance(name, str) else UNKNOWN


CONFIG_ROLES: dict[str, Role] = {
    "field": _field, "named-tuple": named_tuple, "replaced": replaced,
    "filled": _filled_in, "interpolated": _interpolated,
}  # fmt: skip
