"""Functions that make callables: methods, attributes and items that are looked up when the callable is called."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.link.roles.role import Role
from detlint.link.state.arguments import Arguments
from detlint.link.state.values import UNKNOWN, Library, Partial, Tuple, Value, each, exact, join, single

if TYPE_CHECKING:
    from detlint.link.libraries.library import Interpreter as Run
else:
    Run = Any


def _later(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return a callable that passes these arguments, as one, and its own arguments to a function."""
    keywords = tuple(sorted(given.keywords.items()))
    return single(Partial(single(Library(row.text("calls"))), (single(Tuple(given.positional)),), keywords))


def _method_called(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return the result of `methodcaller(name, ...)(owner)`."""
    (name, *rest), owners = _names_and_owner(given)
    methods = _looked_up(run, name, owners)
    return run.call_value(methods, rest, dict(given.keywords), place)


def _attributes_read(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return the result of `attrgetter(*names)(owner)`."""
    names, owners = _names_and_owner(given)
    found = [_looked_up(run, name, owners) for name in names]
    return found[0] if len(found) == 1 else single(Tuple(tuple(found)))


def _items_read(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return the result of `itemgetter(*keys)(owner)`."""
    keys, owners = _names_and_owner(given)
    found = [join(run.item_of(atom, key) for atom in each(owners)) for key in keys]
    return found[0] if len(found) == 1 else single(Tuple(tuple(found)))


def _names_and_owner(given: Arguments) -> tuple[tuple[Value, ...], Value]:
    names, owner = (*given.positional, UNKNOWN, UNKNOWN)[:2]
    packed = next((atom.items for atom in names if isinstance(atom, Tuple)), ())
    return packed or (UNKNOWN,), owner


def _looked_up(run: Run, name: Value, owners: Value) -> Value:
    """Return the attribute with a name that may be dotted; unknown if the name is unknown."""
    text = exact(name)
    if not isinstance(text, str):
        return UNKNOWN
    return reduce(lambda found, step: join(run.attribute(a, step) for a in each(found)), text.split("."), owners)


CALLABLE_ROLES: dict[str, Role] = {
    "later": _later, "method-called": _method_called, "attributes-read": _attributes_read, "items-read": _items_read,
}  # fmt: skip
