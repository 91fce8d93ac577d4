"""DET105: a seed that comes from the clock, the operating system or another source that differs from run to run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from detlint.analysis.seeds.counting import Count, counted
from detlint.analysis.seeds.entropy import Tracer
from detlint.analysis.seeds.ranks import depends_on_rank
from detlint.analysis.seeds.reseeding import Reseeding, redrawn, reseeded
from detlint.analysis.seeds.seeding import repeats
from detlint.analysis.training.contexts import docstring, function_around
from detlint.analysis.values.conditions import applies
from detlint.catalogue import Catalogue, Row, Rule
from detlint.facts.arms import arms, taken
from detlint.finding import Finding, Fix, Safety
from detlint.questions import FromEntropy
from detlint.semantics.libraries import KNOWN
from detlint.semantics.model import Module
from detlint.semantics.values import parse_signature
from detlint.tree import syntax as s

_TOLD = re.compile(r"(?is)\bnone\b.{0,80}\brandom|\brandom.{0,80}\bnone\b|entropy")


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield one finding per source: a call that reseeds from the operating system, or a seed computed from entropy."""
    reseeding, seeders = _reseeding(module.catalogue), _seeders(module.catalogue, tuple(rule.data["methods"]))
    words = (*rule.data["functions"], *rule.data["options"])
    calls = [
        *module.calls_like({*reseeding, *seeders, *words}, words=words),
        *module.calls_giving(tuple(rule.data["parameters"])),
    ]
    tracer = Tracer(module, rule.data["fallbacks"])
    unread = Tracer(module, rule.data["fallbacks"], unread=True)
    told: set[s.Expression] = set()
    for call in sorted(set(calls), key=lambda call: call.order):
        names = sorted(module.callee(call))
        row = reseeding.get(names[0]) if names else None
        if row is not None and applies(module, call, row.list("when"), row.list("unless")):
            if _is_thrown_away(call):
                continue
            told.add(call)
            fix, only = _reseeded(module, call), taken(module, call, arms(module))
            called, source = module.short(call.function), "the operating system"
            yield module.finding(rule, call, fix=fix, only_if=only, call=called, source=source)
            continue
        for seed in _seeds(module, rule, call, seeders):
            found, sure = tracer.origin(seed, none=row is not None)
            if not found and _takes_a_seed(rule, call, names, seeders):
                yield from _elsewhere(module, rule, call, seed, unread, told)
            new = [source for source in found if source not in told]
            if new:
                told |= set(new)
                new.sort(key=lambda source: tracer.drawn_from(source) != "")
                source = f"`{module.short(new[0])}`"
                if isinstance(new[0], s.Constant):
                    source = "the operating system where it is None"
                related = _source(module, call, new[0])
                name = module.short(call.function)
                drawn = tracer.drawn_from(new[0])
                exact = not any(isinstance(around, s.Lambda) for around in new[0].ancestors())
                # a draw repeats if its generator is seeded
                asked = module.unseeded(drawn, new[0], exact=exact) if drawn else None
                fix = _fix(module, call, seed, Reseeding(module, tracer, none=row is not None), new)
                if fix is not None and any(map(tracer.drawn_from, new)):
                    # a program that seeds the generator repeats already
                    fix = replace(fix, doubted=Safety.UNSAFE) if len(new) == 1 else replace(fix, safety=Safety.UNSAFE)
                yield module.finding(
                    rule, call, related=related, lowered=not sure, only_if=asked, fix=fix, call=name, source=source
                )


def _is_thrown_away(call: s.Call) -> bool:
    """Return whether a call seeds an object that it has just made and that nothing keeps: `Random().seed()`."""
    made = call.function.value if isinstance(call.function, s.Attribute) else None
    return isinstance(made, s.Call) and isinstance(call.parent, s.ExpressionStatement)


def _reseeded(module: Module, call: s.Call) -> Fix | None:
    """Return the fix for a call that reseeds from the operating system."""
    count = counted(module, call)
    if _in_workers(module, call) or (count is None and repeats(module, call) is True):
        return redrawn(module, call)
    return _told(module, call, count, reseeded(module, call, "0" if count is None else count.index))


def _fix(
    module: Module, call: s.Call, seed: s.Expression, made: Reseeding, sources: Sequence[s.Expression]
) -> Fix | None:
    """Return the fix for a seed; None if the seeding repeats without a number of its own, or runs in each worker."""
    count = counted(module, call)
    if _in_workers(module, call) or (count is None and repeats(module, call) is True):
        return None
    counts = any(isinstance(node, s.Name) and count is not None and node.id == count.index for node in s.walk(seed))
    fix = made.fix(seed, "0" if count is None or counts else count.index)
    inside = set() if count is None else {id(node) for node in s.walk(count.loop)}
    if count is not None and any(id(node) not in inside for node in made.replaced):
        return None
    wanted = any(_is_wanted(module, source) for source in sources) or _joins_ranks(module, seed, sources)
    if fix is not None and wanted:
        return replace(fix, safety=Safety.UNSAFE)
    return _told(module, call, count, fix) if made.replaced else fix


def _told(module: Module, call: s.Call, count: Count | None, fix: Fix | None) -> Fix | None:
    """Return `fix`, made unsafe where the same seed may be given again."""
    once = repeats(module, call if count is None else count.loop) is False
    return fix if fix is None or once else replace(fix, safety=Safety.UNSAFE)


def _elsewhere(
    module: Module, rule: Rule, call: s.Call, seed: s.Expression, unread: Tracer, told: set[s.Expression]
) -> Iterator[Finding]:
    """Yield a finding for a seed that may be entropy, which this file cannot decide but the project may."""
    found, sure = unread.origin(seed)
    new = [source for source in found if source not in told]
    options = {option for source in told for option in _options(source)}
    told |= set(new)
    if new and module.short(seed).rpartition(".")[2] not in options:
        source = f"`{module.short(new[0] if isinstance(new[0], s.Call) else seed)}`"
        asked = FromEntropy(module.place(call), given=not isinstance(new[0], s.Call))
        name, related = module.short(call.function), _source(module, call, new[0])
        made = Reseeding(module, unread, none=False, leaves=new)
        again = repeats(module, call) is True or _in_workers(module, call)
        fix = made.fix(seed, "0") if isinstance(new[0], s.Call) and not again else None
        yield module.finding(
            rule,
            call,
            related=related,
            lowered=not sure,
            only_if=asked,
            full_if=replace(asked, always=True),
            fix=None if fix is None else replace(fix, safety=Safety.UNSAFE),
            call=name,
            source=source,
        )


def _options(source: s.Expression) -> Iterator[str]:
    """Yield the attribute names of the command-line options whose default contains `source`."""
    for around in source.ancestors():
        if isinstance(around, s.Argument) and around.keyword == "default" and isinstance(around.parent, s.Call):
            first = around.parent.arguments[0].value
            if isinstance(first, s.Constant) and isinstance(first.value, str):
                yield first.value.lstrip("-").replace("-", "_")


def _takes_a_seed(rule: Rule, call: s.Call, names: Sequence[str], seeders: Mapping[str, str]) -> bool:
    """Return whether a call is known to seed something, rather than only pass a seed on."""
    known = bool(names) and all(name.partition(".")[0] in KNOWN for name in names)
    return known or any(name in seeders for name in names[:1]) or _last(call) in rule.data["functions"]


def _source(module: Module, call: s.Call, source: s.Expression) -> list[tuple[s.Node, str]]:
    """Return where a seed comes from, unless that is on the line of the call."""
    here = module.place(source).line == module.place(call).line
    return [] if here else [(source, "the seed comes from here")]


def _last(call: s.Call) -> str:
    """Return the last part of the name of what is called; "" if it has none."""
    function = call.function
    return function.attribute if isinstance(function, s.Attribute) else getattr(function, "id", "")


@cache
def _reseeding(catalogue: Catalogue) -> Mapping[str, Row]:
    """Return the row of each function that reseeds from the operating system."""
    rows = [row for row in catalogue.rows("randomness", "entropy") if row.text("kind") == "reseeds"]
    return {name: row for row in rows for name in row.list("names")}


@cache
def _seeders(catalogue: Catalogue, methods: tuple[str, ...]) -> Mapping[str, str]:
    """Return the parameter of each function or class that takes a seed; for each of `methods` it is the first."""
    tables = [*catalogue.rows("randomness", "seeder"), *catalogue.rows("randomness", "generator")]
    seeders = {name: row.text("parameter") for row in tables if row.text("parameter") for name in row.list("names")}
    return seeders | {name: parse_signature(catalogue.signatures[name])[0][0] for name in methods}


def _in_workers(module: Module, call: s.Call) -> bool:
    """Return whether the seeding runs in each worker, where one seed would give all workers the same stream."""
    function = module.function_of(call)
    names = [function.name, *(p.name for p in function.parameters)] if function is not None else []
    own = {module.qualified(function)} if function is not None and function.name != "<lambda>" else set[str]()
    loaders = module.calls_like(keywords=("worker_init_fn",))
    given = [a for c in loaders for a in c.arguments if a.keyword == "worker_init_fn"]
    return (
        any("worker" in name for name in names)
        or any(around in given for around in call.ancestors())
        or any(own & module.names(argument.value) for argument in given)
    )


def _joins_ranks(module: Module, seed: s.Expression, sources: Sequence[s.Expression]) -> bool:
    """Return whether one arm of a choice gives each rank its own seed, and another gives all ranks entropy."""
    for choice in s.walk(seed):
        arms: Sequence[s.Expression] = ()
        if isinstance(choice, s.Conditional):
            arms = (choice.body, choice.orelse)
        elif isinstance(choice, s.Operation) and choice.operator == "or":
            arms = choice.operands
        differ = {any(part in sources for part in s.walk(arm)): depends_on_rank(module, arm) for arm in arms}
        if differ == {True: False, False: True}:
            return True
    return False


def _is_wanted(module: Module, source: s.Expression) -> bool:
    """Return whether a caller asks for entropy by None: a docstring says so, or another call passes a seed per rank."""
    function = function_around(source)
    tests = [a.test for a in source.ancestors() if isinstance(a, s.If)] if function is not None else []
    asked = {part.id for test in tests for part in s.walk(test) if isinstance(part, s.Name)}
    if function is None or asked.isdisjoint(parameter.name for parameter in function.parameters):
        return False
    if _TOLD.search(docstring(function)):
        return True
    given = [a.value for call in module.calls_to({module.qualified(function)}) for a in call.arguments]
    return any(depends_on_rank(module, value) for value in given)


def _seeds(module: Module, rule: Rule, call: s.Call, known: Mapping[str, str]) -> Iterator[s.Expression]:
    """Yield the arguments of a call that are seeds, or the default of a seed option on the command line."""
    names = module.callee(call)
    taken = {name for name, _, _ in module.signature(names)} | {a.keyword or a.star for a in call.arguments}
    for parameter in [*rule.data["parameters"], *(known[name] for name in names if name in known)]:
        if parameter in taken or "**" in taken:
            yield from module.argument(call, parameter).values
    called = call.function.attribute if isinstance(call.function, s.Attribute) else ""
    called = called or next((name.rpartition(".")[2] for name in names), "")
    first = call.arguments[0].value if call.arguments else None
    if called in rule.data["functions"] and first is not None and not module.signature(names):
        yield first
    elif called in rule.data["options"] and isinstance(first, s.Constant) and "seed" in str(first.value).lower():
        yield from module.argument(call, "default").values
