"""Objects that are called directly, or iterated over by a loader that does not seed them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache

from detlint.analysis.seeds.generators import kept_as
from detlint.analysis.values.conditions import applies
from detlint.catalogue import Catalogue, Row
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def called_alone(module: Module) -> Iterator[tuple[Row, s.Call, s.Call]]:
    """Yield the calls of elements that rows name in `by_itself`, with the row and the first call of the object."""
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
    """Return the call where what `made` makes is used as the row says ("called", "loaded" or otherwise), else None.

    For "loaded" it is the first of `loaders` that takes what one of `holders` makes; for other uses it is `made`.
    """
    called = first_called(module, made)
    loaded = None if called is not None else _loaded(module, row, made)
    wanted = {"called": None if called is None else made, "loaded": loaded}
    return wanted.get(row.text("used"), made if called is None and loaded is None else None)


def _loaded(module: Module, row: Row, made: s.Call) -> s.Call | None:
    holder = _taker(module, _reads(module, made), row.list("holders"))
    return None if holder is None else _taker(module, _reads(module, holder), row.list("loaders"))


def _taker(module: Module, given: Sequence[s.Expression], names: Collection[str]) -> s.Call | None:
    """Return the first call that takes one of these as an argument, or None unless all such calls have these names."""
    calls = [each.parent.parent if isinstance(each.parent, s.Argument) else None for each in given]
    found = [
        call for call in calls if isinstance(call, s.Call) and module.callee(call) and module.callee(call) <= set(names)
    ]
    return min(found, key=lambda call: call.order) if found and len(found) == len(calls) else None


def _reads(module: Module, made: s.Call, depth: int = 2) -> list[s.Expression]:
    """Return the uses of what a call makes: the call itself, the reads of the variable that it is kept in, or the same
    of the calls of the function that returns it.
    """
    if isinstance(made.parent, s.Leave) and made.parent.kind == "return":
        function = module.function_of(made)
        calls = module.calls_to({module.qualified(function)}) if function is not None and depth else ()
        return [read for call in calls for read in _reads(module, call, depth - 1)]
    if not isinstance(made.parent, s.Assign):
        return [made]
    targets = kept_as(made)
    target = targets[0] if len(targets) == 1 else None
    scope = target.scope.find(target.id) if isinstance(target, s.Name) else None
    return list(module.reads(scope, target.id)) if isinstance(target, s.Name) and scope is not None else []


def first_called(module: Module, made: s.Call) -> s.Call | None:
    """Return the first call of what a call makes, or None if that is used in any other way than being called."""
    reads = _reads(module, made)
    calls = [read.parent for read in reads if isinstance(read.parent, s.Call) and read.parent.function is read]
    return min(calls, key=lambda call: call.order) if calls and len(calls) == len(reads) else None
