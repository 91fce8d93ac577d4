"""DET201: a DataLoader that shuffles without a generator of its own."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.loaders.replaced_samplers import sampler_is_replaced
from detlint.analysis.seeds.seeding import generator_of_its_own
from detlint.analysis.values.conditions import holds
from detlint.catalogue import Rule
from detlint.finding import Finding
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s

_COMPARISONS = frozenset(("==", "!=", "in", "not in", "is", "is not"))


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each loader that certainly has no generator, may shuffle, and keeps its own sampler."""
    for call in module.calls_to(rule.data["loaders"]):
        shuffle = module.argument(call, "shuffle").values
        bare = holds(module, call, "!generator") is True and any(_may_hold(module, value) for value in shuffle)
        if bare and not sampler_is_replaced(module, call):
            full = module.unseeded("torch", call, lasting=True)
            fix = generator_of_its_own(module, call)
            yield module.finding(rule, call, full_if=full, fix=fix, loader=module.short(call.function))


def _may_hold(module: Module, node: s.Expression) -> bool:
    """Return whether a value may be True: the literal, or a comparison such as `split == "train"`."""
    values = module.values(node) or []
    return any(literal(v) is True or (isinstance(v, s.Operation) and v.operator in _COMPARISONS) for v in values)
