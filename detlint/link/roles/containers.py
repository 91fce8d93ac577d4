"""The contents of modules: containers of layers, and modules that are added by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.link.roles.role import Role, items_of
from detlint.link.state.arguments import Arguments
from detlint.link.state.mappings import VARS, entries
from detlint.link.state.objects import UNSPELLED
from detlint.link.state.values import (
    NONE,
    UNKNOWN,
    Class,
    Library,
    Object,
    Tuple,
    Value,
    Wrapped,
    each,
    exact,
    single,
)

if TYPE_CHECKING:
    from detlint.link.libraries.library import Interpreter as Run
else:
    Run = Any


def _container(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return a container of layers, under their keys if it is made from a dict."""
    made, objects = Object(Library(function.name), *run.site(place)), run.program.objects
    for value in (*given.positional, *given.keywords.values()):
        for atom in each(value):
            if run.is_container(atom):
                run.spread(atom, made)
            else:
                objects.store(made, UNSPELLED, items_of(run, single(atom)) if isinstance(atom, Tuple) else single(atom))
    return single(made)


def _submodule(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Run `owner.add_module(name, module)`."""
    owner, (key, value) = function.receiver, (*given.positional, NONE, NONE)[:2]
    if isinstance(owner, Object):
        name = exact(given.given.get("name", key))
        slot = (name if isinstance(owner.kind, Class) else f"[{name!r}]") if isinstance(name, str) else UNSPELLED
        run.program.objects.store(owner, slot, given.given.get("module", value))
    return NONE


def _children(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return the modules that a module holds, joined with unknown."""
    owner = function.receiver
    if not isinstance(owner, Object):
        return UNKNOWN
    held = entries(run.program.objects, Library(VARS, owner) if isinstance(owner.kind, Class) else owner)
    modules = frozenset(a for value in held.values() for a in value if isinstance(a, Object)) | UNKNOWN
    named = function.name.rpartition(".")[2].startswith("named_")
    items: Value = single(Tuple((UNKNOWN, modules))) if named else modules
    return single(Wrapped(items, single(owner)))


CONTAINER_ROLES: dict[str, Role] = {"container": _container, "submodule": _submodule, "children": _children}
