"""Operations on modules and with functions of autograd, by the roles of the table of programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.link.roles.role import Role
from detlint.link.state.arguments import Arguments
from detlint.link.state.values import UNKNOWN, Class, Library, Object, Value, only

if TYPE_CHECKING:
    from detlint.link.libraries.library import Interpreter as Run
else:
    Run = Any


def _forwards(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Run `super().__call__(...)`, or `Module.__call__(module, ...)`."""
    first = only(given.first()) if function.receiver is None else function.receiver
    rest = given.positional[1:] if function.receiver is None else given.positional
    if not isinstance(first, Object):
        return UNKNOWN
    found = run.call_method_of(first, ("forward",), rest, given.keywords, place)
    return UNKNOWN if found is None else found


def _hooks(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    if isinstance(function.receiver, Object):
        run.hook(function.receiver, given.first(row.text("parameter")))
    return UNKNOWN


def _backward_hooks(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    run.record_backward(given.first(row.text("parameter")))
    return UNKNOWN


def _differentiable(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    klass = only(given.first())
    return run.differentiate(klass, given.positional[1:], place) if isinstance(klass, Class) else UNKNOWN


def _constructs(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return an object of the class that is given, made with unknown arguments."""
    klass, start = only(given.first()), run.state
    if not isinstance(klass, Class) or start is None:
        return UNKNOWN
    if row.text("undrawn"):
        run.state = start.but(("device",), "meta")
    made = run.construct(klass, [], {"**": UNKNOWN}, place)
    run.state = run.state and run.state.but(("device",), start["device"])
    if row.text("restores") != "no":
        run.mark("restores", place)
    return made


MODULE_ROLES: dict[str, Role] = {
    "forwards": _forwards, "hooks": _hooks, "backward-hooks": _backward_hooks, "differentiable": _differentiable,
    "constructs": _constructs,
}  # fmt: skip
