"""Loaders whose sampler a trainer replaces with one that has its own seed."""

from __future__ import annotations

from detlint.analysis.seeds.generators import kept_as
from detlint.analysis.values.conditions import applies
from detlint.analysis.values.origins import origins
from detlint.catalogue import Row
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def sampler_is_replaced(module: Module, loader: s.Call) -> bool:
    """Return whether all uses of a loader pass it to methods of trainers that certainly replace its sampler."""
    uses: list[s.Expression] = [loader] if isinstance(loader.parent, s.Argument) else []
    for target in kept_as(loader):
        scope = target.scope.find(target.id) if isinstance(target, s.Name) else None
        if scope is None or not isinstance(target, s.Name):
            return False
        uses += module.reads(scope, target.id)
    rows = module.catalogue.rows("randomness", "replacement")
    return bool(uses) and all(any(_replaces(module, row, use) for row in rows) for use in uses)


def _replaces(module: Module, row: Row, use: s.Expression) -> bool:
    """Return whether a loader is passed here to a trainer that replaces its sampler."""
    argument = use.parent
    call = argument.parent if isinstance(argument, s.Argument) and not argument.star else None
    method = call.function if isinstance(call, s.Call) else None
    if not isinstance(method, s.Attribute) or method.attribute not in row.list("methods"):
        return False
    trainers = origins(module, method.value)
    names = row.set("names")
    return bool(trainers) and all(
        isinstance(each, s.Call)
        and module.callee(each) <= names
        and applies(module, each, row.list("when"), row.list("unless"))
        for each in trainers
    )
