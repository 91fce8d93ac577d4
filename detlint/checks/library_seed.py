"""DET108: library code that seeds a global generator of its users' programs."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.catalogue import Rule
from detlint.finding import Finding
from detlint.generators import GENERATORS
from detlint.questions import InLibrary
from detlint.semantics.index import asked_once
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for the first seeding of each global generator in each function of library code.

    Functions whose name says that they seed, functions that restore the state, seeds per process, and the calls that
    fixes insert are left out.
    """
    restores = frozenset((*rule.data["restores"], *rule.data["fixes"]))
    told: set[tuple[str, str]] = set()
    for row in module.rows_like("randomness", "seeder"):
        for call in module.calls_to(frozenset(row.list("names")) - restores):
            if (
                not call.arguments
                or _announced(call, rule)
                or _own(module, call, rule)
                or _put_back(module, call, rule)
            ):
                continue
            path, function, order = module.point(call)
            new = [g for g in row.list("seeds") if g in GENERATORS and (function, g) not in told]
            told.update((function, generator) for generator in new)
            for generator in new[:1]:
                only = InLibrary(path, function, order, generator)
                shown = module.short(call.function)
                yield module.finding(rule, call, only_if=only, call=shown, generator=generator)


def _announced(call: s.Call, rule: Rule) -> bool:
    """Return whether the name of a function or class around a call says that it seeds."""
    names = [a.name.lower() for a in call.ancestors() if isinstance(a, (s.Function, s.Class))]
    return any(word in name for name in names for word in rule.data["words"])


def _own(module: Module, call: s.Call, rule: Rule) -> bool:
    """Return whether the seed belongs to one process among several."""
    texts = [module.source(argument.value).lower() for argument in call.arguments]
    return any(word in text for text in texts for word in rule.data["processes"])


def _put_back(module: Module, call: s.Call, rule: Rule) -> bool:
    """Return whether the state of the generators is saved or restored around a call."""
    restores, scopes = frozenset((*rule.data["saves"], *rule.data["restores"])), frozenset(rule.data["scopes"])
    for around in call.ancestors():
        if isinstance(around, s.With):
            contexts = [item.value for item in around.items if isinstance(item.value, s.Call)]
            if any(module.callee(context) & scopes or _hints(context, rule) for context in contexts):
                return True
        if isinstance(around, s.Function) and _restores(module, around, restores):
            return True
    return False


@asked_once
def _restores(module: Module, function: s.Function, restores: frozenset[str]) -> bool:
    """Return whether a function calls one of `restores`."""
    inside = (node for node in s.walk(function.body) if isinstance(node, s.Call))
    return any(module.callee(node) & restores for node in inside)


def _hints(context: s.Call, rule: Rule) -> bool:
    """Return whether a context manager's name says that it is about random numbers."""
    function = context.function
    name = (
        function.attribute if isinstance(function, s.Attribute) else function.id if isinstance(function, s.Name) else ""
    )
    return any(word in name.lower() for word in rule.data["words"])
