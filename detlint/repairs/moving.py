"""A program's own seeding call that comes too late, moved ahead of the first draw."""

from __future__ import annotations

from collections.abc import Callable

from detlint.editing import edits
from detlint.finding import Fix, Place, Remedy
from detlint.repairs import places
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope

Read = Callable[[str], "Module | None"]


def moved(module: Module, remedy: Remedy, statement: s.Statement, read: Read) -> Fix | None:
    """Move the call that seeds too late ahead of `statement`, which draws, if both are in the same block.

    Return None if the call does more than seed, or needs what is not known ahead of `statement`.
    """
    late = next((x for place in remedy.late if (x := _statement_of(module, place, statement)) is not None), None)
    if late is None or not isinstance(late.value, s.Call) or not _only_seeds(module, late.value, remedy, read):
        return None
    known = (x for x in places.places(module, statement, None) if _is_known(module, late, x))
    place = next(known, None)
    if place is None:
        return None
    title = f"Move `{module.short(late.value)}` ahead of the first draw"
    return edits.fix(title, *edits.moved(module, [late], place))


def _statement_of(module: Module, place: Place, statement: s.Statement) -> s.ExpressionStatement | None:
    """Return the statement whose call is at a place, if it comes after another one in the same block, or None."""
    call = next((call for call in module.calls if module.place(call) == place), None)
    around = call.parent if call is not None else None
    if not isinstance(around, s.ExpressionStatement) or around.parent is not statement.parent:
        return None
    return around if around.order > statement.order else None


def _only_seeds(module: Module, call: s.Call, remedy: Remedy, read: Read) -> bool:
    """Return whether a call is the late seed itself, or calls a project function in which nothing can draw."""
    inner = remedy.late[-1]
    if module.place(call) == inner:
        return True
    if module.place(call) not in remedy.late[-2:]:
        return False
    other = read(inner.path)
    seeds = next((each for each in other.calls if other.place(each) == inner), None) if other is not None else None
    function = other.function_of(seeds) if other is not None and seeds is not None else None
    if other is None or function is None:
        return False
    calls = [node for node in s.walk(function.body) if isinstance(node, s.Call)]
    return all(places.never_draws(other, each) for each in calls)


def _is_known(module: Module, late: s.ExpressionStatement, place: s.Statement) -> bool:
    """Return whether all names a statement reads are bound ahead of an earlier place, and not rebound in between."""
    function = module.function_of(late)
    own = module.file.scope if function is None else function.scope
    names = [node for node in s.walk(late) if isinstance(node, s.Name)]
    return all(node.scope.find(node.id) is not own or _is_bound(own, node.id, place, late) for node in names)


def _is_bound(scope: Scope, name: str, place: s.Statement, late: s.Statement) -> bool:
    """Return whether a name of this scope has the same value in two places."""
    orders = [binding.order for binding in scope.bindings[name]]
    return any(order < place.order for order in orders) and not any(place.order <= o < late.order for o in orders)
