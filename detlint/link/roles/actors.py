"""Actors: objects that live in processes of their own, where their methods run one after another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.link.roles.role import Role
from detlint.link.state.arguments import Arguments
from detlint.link.state.objects import Objects
from detlint.link.state.values import NONE, UNKNOWN, Class, Function, Object, Value, only, single

if TYPE_CHECKING:
    from detlint.link.libraries.library import Interpreter as Run
else:
    Run = Any

Call = tuple[Function, tuple[Value, ...]]
_ACTOR = "(in a process of its own)"  # the slot that marks actors


def _acts(run: Run, row: Row, function: object, given: Arguments, place: Place) -> Value:
    """Return an actor of a class of the project, whose process begins with its constructor."""
    klass = only(given.first())
    if not isinstance(klass, Class):
        return UNKNOWN
    made, objects = Object(klass, *run.site(place)), run.program.objects
    objects.store(made, _ACTOR, NONE)
    found = frozenset(a for a in objects.attribute(made, "__init__") or () if isinstance(a, Function))
    keywords = given.keywords | ({"**": UNKNOWN} if given.hidden else {})
    run.spawn_each(run.bound(found, made), given.positional[1:], keywords, whole=True)
    return single(made)


def actors_among(
    objects: Objects, spawned: Iterable[tuple[Function, tuple[Value, ...], bool]]
) -> dict[Object, list[Call]]:
    """Return the actors that a program starts, each with the calls that run in its process, in order."""
    found: dict[Object, list[Call]] = {}
    for function, positional, _ in spawned:
        owner = function.receiver
        if isinstance(owner, Object) and objects.stored(owner, _ACTOR) is not None:
            calls = found.setdefault(owner, [])
            if (function, positional) not in calls:
                calls.append((function, positional))
    return found


ACTOR_ROLES: dict[str, Role] = {"acts": _acts}
