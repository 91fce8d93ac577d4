"""Objects that are called themselves, and that nothing holds which could seed them."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.conditions import applies
from detlint.analysis.generators import kept_as
from detlint.catalogue import Row
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def called_alone(module: Module, row: Row) -> Iterator[tuple[s.Call, s.Call]]:
    """The calls of what a row names as `alone`, by rows of `element`, each with the first call of what it makes."""
    for identity in row.list("by_itself"):
        element = module.catalogue.row("libraries", "element", identity)
        for made in module.calls_to(element.list("names")):
            call = _called(module, made) if applies(module, made, (), element.list("unless")) else None
            if call is not None:
                yield made, call


def _called(module: Module, made: s.Call) -> s.Call | None:
    """The first call of what a call makes, if that is kept as a variable at most which is only called."""
    if isinstance(made.parent, s.Call):
        return made.parent if made.parent.function is made else None
    targets = kept_as(made) if isinstance(made.parent, s.Assign) else []
    target = targets[0] if len(targets) == 1 else None
    scope = target.scope.find(target.id) if isinstance(target, s.Name) else None
    reads = list(module.reads(scope, target.id)) if isinstance(target, s.Name) and scope is not None else []
    calls = [read.parent for read in reads if isinstance(read.parent, s.Call) and read.parent.function is read]
    return min(calls, key=lambda call: call.order) if calls and len(calls) == len(reads) else None
