"""DET104: a generator object that is made without a seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from detlint.analysis.seeds.entropy import Tracer
from detlint.analysis.seeds.generators import alternatives, kept_as, seeded_later
from detlint.analysis.seeds.seeding import repeats
from detlint.analysis.seeds.seeds import may_be_none, seed_at
from detlint.analysis.values.conditions import applies, holds
from detlint.catalogue import Rule
from detlint.editing import edits
from detlint.finding import Finding, Fix
from detlint.questions import Seedless
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each constructor whose seed is absent or may be None, unless a seed is set later."""
    tracer = Tracer(module)
    seeds: Counter[tuple[str, bool]] = Counter()
    factories = module.calls_like(keywords=rule.data["factories"])
    for row in (
        module.catalogue.rows("randomness", "generator") if factories else module.rows_like("randomness", "generator")
    ):
        parameter = row.text("parameter")
        for call in module.calls_to(row.list("names")):
            if not applies(module, call, [], row.list("unless")) or seeded_later(module, call):
                continue
            values = module.argument(call, parameter).values
            sources = [source for value in values for source in tracer.origin(value, none=True)[0]]
            certain = holds(module, call, f"!{parameter}") is True
            if not sources and may_be_none(module, call, parameter):
                case, asked = " where its seed is None, as it is by default", Seedless(module.place(call), parameter)
                name = module.short(call.function)
                yield module.finding(rule, call, lowered=True, only_if=asked, call=name, case=case)
            elif certain or any(isinstance(source, s.Constant) for source in sources):
                lowered = not certain or _is_default(module, call)
                case = "" if certain else " where its seed is None"
                family = row.text("library"), row.id.endswith("state")
                fix = _fix(module, call, seeds[family]) if certain else None
                seeds[family] += fix is not None and not fix.imports
                yield module.finding(rule, call, lowered=lowered, fix=fix, call=module.short(call.function), case=case)
        for call in factories:
            for argument in call.arguments:
                made = module.names(argument.value) if argument.keyword in rule.data["factories"] else frozenset()
                if made and made <= row.set("names"):
                    seeded = edits.new("lambda: {factory}(0)", factory=argument.value)
                    fix = edits.fix("Seed with 0", edits.replaced(module, argument.value, seeded))
                    yield module.finding(rule, argument.value, fix=fix, call=module.short(argument.value), case="")


def _fix(module: Module, call: s.Call, others: int) -> Fix | None:
    """Return the fix for a generator without a seed.

    A generator that is made once gets a seed that none of the `others` has. One that may be made again, and is used in
    its function alone, is replaced by the generator of the process. Return None otherwise.
    """
    if repeats(module, call) is False:
        known = seed_at(module, call)
        own = "" if known is None or known.optional else known.name
        seed = str(others) if not own else f"{own} + {others}" if others else own
        return edits.fix(f"Seed with {seed}", edits.first(module, call, seed))
    if module.callee(call) != {"numpy.random.default_rng"} or not _stays(module, call):
        return None
    return edits.fix(
        "Draw from the generator of this process",
        edits.replaced(module, call, "worker_rng()"),
        *edits.unused(module, [call]),
        imports=edits.runtime(module, "worker_rng"),
    )


def _stays(module: Module, call: s.Call) -> bool:
    """Return whether a generator is drawn from where it is made, or by a local name that nothing keeps."""
    if isinstance(call.parent, s.Attribute):
        return isinstance(call.parent.parent, s.Call)
    targets = kept_as(call)
    for target in targets:
        scope = target.scope.find(target.id) if isinstance(target, s.Name) else None
        if not isinstance(target, s.Name) or scope is None or scope.kind != "function":
            return False
        if any(
            not isinstance(read.parent, (s.Attribute, s.Argument, s.Operation))
            for read in module.reads(scope, target.id)
        ):
            return False
    return bool(targets)


def _is_default(module: Module, call: s.Call) -> bool:
    """Return whether the generator only stands in for one that was not passed."""
    node: s.Node = call
    while isinstance(node.parent, s.Expression):
        node = node.parent
        if isinstance(node, (s.Conditional, s.Operation)) and call in alternatives(node):
            return True
    for target in kept_as(call):
        text = module.source(target)
        for ancestor in call.ancestors():
            if isinstance(ancestor, s.If):
                named = [part for part in s.walk(ancestor.test) if isinstance(part, (s.Name, s.Attribute))]
                if any(module.source(part) == text for part in named):
                    return True
    return False
