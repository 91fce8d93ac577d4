"""Objects that are called themselves, or that a loader goes over which does not seed them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache

from detlint.analysis.seeds.generators import kept_as
from detlint.analysis.values.conditions import applies
from detlint.catalogue import Catalogue, Row
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def called_alone(module: Module) -> Iterator[tuple[Row, s.Call, s.Call]]:
    """The calls of the elements that rows name in `by_itself`, with its row and the first call of what it makes."""
    for row in _rows(module.catalogue):
        for identity in row.list("by_itself"):
            element = module.catalogue.row("libraries", "element", identity)
            for made in module.calls_to(element.list("names")):
                call = first_called(module, made) if applies(module, made, (), element.list("unless")) else None
                if call is not None:
                    yield row, made, call


@cache
def _rows(catalogue: Catalogue) -> tuple[Row, ...]:
    return tuple(row for row in catalogue.rows("libraries", "draw") if row.list("by_itself"))


def used(module: Module, row: Row, made: s.Call) -> s.Call | None:
    """The call at which what a call makes is used as the row says: "called", "loaded", or otherwise, which is itself.

    None where it is used in another way. It is loaded by the first of `loaders` that takes what one of `holders` makes.
    """
    called = first_called(module, made)
    loaded = None if called is not None else _loaded(module, row, made)
    wanted = {"called": None if called is None else made, "loaded": loaded}
    return wanted.get(row.text("used"), made if called is None and loaded is None else None)


def _loaded(module: Module, row: Row, made: s.Call) -> s.Call | None:
    holder = _taker(module, [made], row.list("holders"))
    return None if holder is None else _taker(module, _reads(module, holder), row.list("loaders"))


def _taker(module: Module, given: Sequence[s.Expression], names: Collection[str]) -> s.Call | None:
    """The first call that takes something as an argument, if all that take it are of these names."""
    calls = [each.parent.parent if isinstance(each.parent, s.Argument) else None for each in given]
    found = [
        call for call in calls if isinstance(call, s.Call) and module.callee(call) and module.callee(call) <= set(names)
    ]
    return min(found, key=lambda call: call.order) if found and len(found) == len(calls) else None


def _reads(module: Module, made: s.Call) -> list[s.Expression]:
    """What a call makes where it is used: itself, or the reads of the variable that it is kept as."""
    if not isinstance(made.parent, s.Assign):
        return [made]
    targets = kept_as(made)
    target = targets[0] if len(targets) == 1 else None
    scope = target.scope.find(target.id) if isinstance(target, s.Name) else None
    return list(module.reads(scope, target.id)) if isinstance(target, s.Name) and scope is not None else []


def first_called(module: Module, made: s.Call) -> s.Call | None:
    """The first call of what a call makes, if that is kept as a variable at most which is only called."""
    reads = _reads(module, made)
    calls = [read.parent for read in reads if isinstance(read.parent, s.Call) and read.parent.function is read]
    return min(calls, key=lambda call: call.order) if calls and len(calls) == len(reads) else None
