"""DET206: a DistributedSampler whose epoch is never set in the loop over the epochs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from detlint.analysis.loaders.epochs import Loop, epochs_around, evaluates
from detlint.analysis.loaders.holding import ITERATED, NONE, UNKNOWN, Held, Trace, is_bound
from detlint.analysis.loaders.own_orders import is_asked, order_of
from detlint.analysis.seeds.generators import kept_as
from detlint.catalogue import Rule
from detlint.editing import edits
from detlint.finding import Edit, Finding, Safety
from detlint.questions import SameOrder
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of

_ITERATED = "iterated here in each epoch"


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each shuffling sampler that is iterated every epoch but whose epoch is never set.

    The project decides for samplers that leave the file, and for classes that make up an order of their own.
    """
    names = module.catalogue.names
    loaders, batches = names("program", "role", kind="loader"), names("program", "batch-sampler")
    data: dict[str, Collection[str]] = {**rule.data, "loaders": loaders, "batches": batches}
    traces = {call: Trace(module, call, data) for call in module.calls_to(set(_samplers(module)))}
    for call, trace in traces.items():
        if module.possible(module.argument(call, "shuffle")) != [False]:
            yield _finding(module, rule, call, trace, sure=_is_in_sight(module, traces, call))
    for klass in module.classes.values():
        order = order_of(module, klass)
        if order is not None:
            asked = SameOrder(module.path, qualified=module.qualified(klass), flags=order.flags)
            yield module.finding(rule, order.node, only_if=asked, sampler=klass.name)


def _is_in_sight(module: Module, traces: Mapping[s.Call, Trace], call: s.Call) -> bool:
    """Return whether the file shows all that happens to a sampler, and never sets its epoch."""
    trace = traces[call]
    if trace.escapes or not _shuffles(module, call):
        return False
    setters = [node.value for node in module.attributes("set_epoch")]
    hidden = any(n.value == "set_epoch" and not is_asked(n) for n in module.every(s.Constant))
    known = all(any(each.holds(node) for each in traces.values()) for node in setters)
    return known and not hidden and not any(trace.holds(node) for node in setters)


def _finding(module: Module, rule: Rule, call: s.Call, trace: Trace, sure: bool) -> Finding:
    """Return the finding for a sampler: certain where a loop trains with it, else left to the project."""
    loops: dict[tuple[Loop, tuple[s.Node, ...]], s.Node] = {}
    for batches, held in trace.loops:
        names = [held.node, *_named(call, held)]
        if not evaluates(module, batches, names):
            loops.update(((loop, held.made), batches) for loop in epochs_around(module, batches, held.made))
    sure = sure and bool(loops)
    if not sure:
        for given, held in trace.handed:
            loops.update(((loop, held.made), given) for loop in epochs_around(module, given, held.made))
    edit = (_edit(module, trace, loop, made) for loop, made in loops)
    fix = edits.fix("Set the sampler's epoch", *edit, safety=Safety.UNSAFE)
    related = [(batches, _ITERATED) for batches in dict.fromkeys(loops.values())] if sure else []
    asked = None if sure else SameOrder(module.path, call.order)
    return module.finding(rule, call, related=related, fix=fix, only_if=asked, sampler=_shown(module, call))


def _named(call: s.Call, held: Held) -> Iterator[s.Expression]:
    """Yield what the sampler is made of, and the targets that it and its loader are assigned to before a loop."""
    yield from (argument.value for argument in call.arguments[:1])
    for made in held.made:
        kept = kept_as(made) if isinstance(made, s.Call) else []
        yield from (target for target in kept if not isinstance(target, s.Collection))


def _shown(module: Module, call: s.Call) -> str:
    """Return the name of the class without its modules."""
    return module.source(call.function).rpartition(".")[2]


def _samplers(module: Module) -> Iterator[str]:
    """Yield the sampler classes, and those of the file that change neither their arguments nor their order."""
    names = module.catalogue.names("program", "sampler")
    yield from names
    for name, klass in module.classes.items():
        own = any(module.method(klass, method) for method in ("__init__", "__iter__"))
        if not own and not names.isdisjoint(module.ancestry(klass)):
            yield name


def _shuffles(module: Module, call: s.Call) -> bool:
    """Return whether a sampler surely shuffles: its row's flags are all set or, for a local class, none is given."""
    rows = [row for row in module.catalogue.rows("program", "sampler") if module.callee(call) <= set(row.list("names"))]
    shuffle = module.argument(call, "shuffle")
    if not rows and shuffle.given is False:
        return len(call.arguments) < 4
    flags = rows[0].list("when") if rows else ("shuffle",)
    return all(module.possible(module.argument(call, flag)) == [True] for flag in flags)


def _edit(module: Module, trace: Trace, loop: Loop, made: tuple[s.Node, ...]) -> Edit | None:
    """Return the edit that sets the sampler's epoch at the head of the loop; None if no known name holds it."""
    if not isinstance(loop, s.For) or not isinstance(loop.target, s.Name) or loop.target.id.startswith("_"):
        return None
    first = loop.body.statements[0]
    held_so = [held for held in trace.held if held.made == made[: len(held.made)]]
    known = [(held, doubt) for held in held_so if (doubt := _doubt(module, trace, held, loop)) is not None]
    if not known:
        return None
    held, doubt = min(known, key=lambda each: (len(each[0].path), each[1], each[0].node.order))
    line = "{sampler}.set_epoch({epoch})"
    if doubt:
        test = "{sampler} is not None" if doubt == NONE else 'hasattr({sampler}, "set_epoch")'
        line = f"if {test}:\n    {line}"
    sampler = edits.new(f"{{it}}{held.path}", it=held.node)
    return edits.ahead(module, first, edits.new(line, sampler=sampler, epoch=loop.target))


def _doubt(module: Module, trace: Trace, held: Held, loop: Loop) -> int | None:
    """Return what else `held` may give at the head of the loop; None if it does not give the sampler there."""
    node, doubt = held.node, UNKNOWN
    if held.path == ITERATED:
        return None
    if isinstance(node, s.Name):
        scope = node.scope.find(node.id)
        around = module.function_of(loop)
        here = module.file.scope if around is None else around.scope
        if scope is not None and here.find(node.id) is scope and is_bound(scope, node.id, loop):
            doubt = trace.doubt([b for b in scope.bindings[node.id] if b.kind != "delete"], held)
    elif isinstance(node, s.Attribute) and (klass := trace.own(node)) is not None:
        function = module.function_of(loop)
        method = function is not None and class_of(function) is klass
        if method and function is not None and function.parameters[0].name == module.source(node.value):
            doubt = trace.doubt(module.attribute_assignments(klass, node.attribute), held)
    return doubt if doubt != UNKNOWN else None
