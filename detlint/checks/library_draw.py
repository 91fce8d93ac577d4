"""DET109: library code that draws from a global generator where a parameter would do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from detlint.analysis.training.contexts import shown
from detlint.analysis.values.conditions import applies
from detlint.analysis.values.inert import Inert
from detlint.catalogue import Rule
from detlint.finding import Finding
from detlint.questions import InLibrary
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for a library function's first draw from each global generator, unless it takes or seeds one."""
    found: list[tuple[s.Call, str]] = []
    for row in module.rows_like("randomness", "consumer"):
        if row.id in rule.data["draws"]:
            calls = module.calls_to(row.list("names"))
            given = (call for call in calls if applies(module, call, row.list("when"), row.list("unless")))
            found += [(call, generator) for call in given for generator in row.list("generator")]
    if not found:
        return
    inert = Inert(module)
    seeded = {(module.function_of(call), g) for call, g in _seeds(module)}
    told: set[tuple[str, str]] = set()
    for call, generator in sorted(found, key=lambda each: each[0].order):
        path, function, order = module.point(call)
        own = (module.function_of(call), generator) in seeded
        if own or (function, generator) in told or _aside(module, call, rule) or inert.kind(call):
            continue
        told.add((function, generator))
        only = InLibrary(path, function, order)
        yield module.finding(rule, call, only_if=only, call=shown(module, call), generator=generator)


def _seeds(module: Module) -> Iterator[tuple[s.Call, str]]:
    """Yield the calls that seed global generators; a function that seeds one draws repeatably by itself."""
    for row in module.rows_like("randomness", "seeder"):
        for call in module.calls_to(row.list("names")):
            yield from ((call, generator) for generator in row.list("seeds"))


def _aside(module: Module, call: s.Call, rule: Rule) -> bool:
    """Return whether a function around a call takes a generator, or a name or test around it has an `aside` word."""
    file = PurePosixPath(module.path).stem.removeprefix("__init__")
    if any(word in file for word in rule.data["aside"]):
        return True
    for around in call.ancestors():
        if isinstance(around, s.If) and any(word in module.source(around.test).lower() for word in rule.data["aside"]):
            return True
        if isinstance(around, s.Function):
            if any(parameter.name in rule.data["parameters"] for parameter in around.parameters):
                return True
            if any(word in around.name.lower() for word in rule.data["aside"]):
                return True
    return False
