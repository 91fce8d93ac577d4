"""DET208: a generator object that a dataset makes once and every worker copies."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.seeds.generators import held, kept_as
from detlint.catalogue import Rule
from detlint.editing import edits
from detlint.finding import Finding, Fix, Safety
from detlint.questions import Copied
from detlint.semantics.model import Module
from detlint.sources.source import is_test
from detlint.tree import syntax as s


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each generator that a dataset makes outside `__getitem__` and draws from inside it."""
    told: set[s.Call] = set()
    calls = list(module.calls_to(rule.data["loaders"]))
    for klass in module.classes.values():
        loaders = [c for c in calls if _dataset(module, c) is klass]
        workers = [module.possible(module.argument(loader, "num_workers")) for loader in loaders]
        if not module.is_a(klass, "dataset") and not (loaders and module.method(klass, "__len__")):
            continue
        if loaders and all(number == [0] for number in workers):
            continue
        for made, drawn in held(module, klass):
            if made not in told:
                told.add(made)
                related = [(drawn, "drawn from here, in each worker's own copy")]
                fix = _fix(module, made, drawn)
                unless = () if loaders else (Copied(module.path, made.order, none=True),)
                yield module.finding(rule, made, related=related, unless=unless, fix=fix, generator=module.short(drawn))
    for made in module.calls_to(module.catalogue.names("randomness", "object", "made")):
        if made not in told and not is_test(module.path):
            target = next(iter(kept_as(made)), made)
            only = Copied(module.path, made.order)
            yield module.finding(rule, made, only_if=only, generator=module.short(target))


def _fix(module: Module, made: s.Call, drawn: s.Expression) -> Fix | None:
    """Return a fix, to display only, that draws from the worker's generator instead of the held one."""
    if module.types(made) != {"numpy.random.Generator"}:
        return None
    return edits.fix(
        "Draw from the generator of this worker",
        edits.replaced(module, drawn, "worker_rng()"),
        safety=Safety.DISPLAY,
        imports=edits.runtime(module, "worker_rng"),
    )


def _dataset(module: Module, loader: s.Call) -> s.Class | None:
    passed = module.argument(loader, "dataset").values
    return module.owner(passed[0]) if len(passed) == 1 else None
