"""Registries: containers of functions and classes, most of them by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.link.roles.role import Role
from detlint.link.state.arguments import Arguments
from detlint.link.state.values import (
    NONE,
    UNKNOWN,
    Atom,
    Class,
    Function,
    Library,
    Partial,
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


def _registers(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Add to a registry, by a decorator that may itself be made by a call."""
    values = (*given.positional, *given.keywords.values())
    made = [v for v in values if any(isinstance(a, (Function, Class)) for a in v)]
    name = given.keywords.get("name", next((v for v in given.positional if v not in made), None))
    if function.receiver is None or not made:
        named = () if name is None or not row.text("keyed") else (("name", name),)
        return single(Partial(single(function), (), named) if named else function)
    for atom in each(join(made)):
        run.program.objects.store(function.receiver, _slot(atom, name) if row.text("keyed") else "[]", single(atom))
    return made[0]


def _slot(atom: Atom, name: Value | None) -> str:
    """Return the slot in which a registry keeps something: by the name that it is given, else by its own."""
    if name is not None and name != NONE:
        text = exact(name)
    else:
        text = atom.qualified.rpartition(".")[2].partition(":")[0] if isinstance(atom, (Function, Class)) else None
    return f"[{text!r}]" if isinstance(text, str) else "[]"


def _builds(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return what a registry makes by the name that a configuration gives."""
    held = run.held(function.receiver) if function.receiver is not None else UNKNOWN
    return run.call_value(held, [], {"**": UNKNOWN}, place)


REGISTRY_ROLES: dict[str, Role] = {"registers": _registers, "builds": _builds}
