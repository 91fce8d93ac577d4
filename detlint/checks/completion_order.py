"""DET603: the order in which results become ready gets into something ordered."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.catalogue import Row, Rule
from detlint.editing import edits
from detlint.facts.tests import holds_tests
from detlint.finding import Finding, Fix, Safety
from detlint.orders.completion import Completions, Source
from detlint.orders.deadlines import deadlines
from detlint.orders.leaks import Leak, carriers, elsewhere, given_back, sure
from detlint.orders.loops import Loops
from detlint.questions import InProgram, Reaches
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import inside, reaching


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Find results that are taken as they become ready, where the order that this gives matters."""
    uses: dict[str, str] = rule.data["uses"]
    wanted = list(uses)
    for source in Completions(module).found():
        leaks = [leak for leak in sure(source.leaks) if leak.kind in uses and _matters(module, rule, source, leak)]
        held = () if leaks or source.keyed else carriers(source.leaks)
        back = given_back(module, source.leaks)
        if not (leaks or held):
            continue
        leak = min(leaks, key=lambda leak: (wanted.index(leak.kind), leak.node.order), default=None)
        use = source.row.text("use") or ("" if leak is None else uses[leak.kind])
        reaches = Reaches(held, tuple(rule.data["afar"]), module.path, flows=back)
        learns = InProgram(module.path, learning=True, anywhere=True) if source.row.list("shares") else source.asks
        unsure = leak is not None and leak.kind in rule.data["leaving"] and not _is_data(module, leak)
        told = () if source.keyed or not unsure else carriers(source.leaks)
        yield module.finding(
            rule,
            source.node,
            related=() if leak is None else elsewhere(module, source.node, leak.node, f"the order {use} here"),
            flow=leak is not None,
            noted=holds_tests(module),
            only_if=learns if leak is not None else reaches,
            full_if=Reaches(told, tuple(rule.data["afar"]), module.path, flows=back) if told else None,
            lowered=(unsure and not told) or source.row.text("sure") == "no",
            fix=_fix(module, source),
            of=source.row.text("of") or "order",
            call=module.short(source.node.function),
            does=_does(rule, source),
            use=use,
            remedy=rule.data["drawn"][0] if source.draws else source.row.text("remedy"),
        )

    for deadline in deadlines(module, Loops(module)):
        yield module.finding(
            rule,
            deadline.test,
            related=[(deadline.clock, "the clock is read here")] if not inside(deadline.clock, deadline.test) else (),
            noted=holds_tests(module),
            lowered=deadline.asked_for,
            call=module.short(deadline.test),
            **rule.data["deadline"],
        )


def _does(rule: Rule, source: Source) -> str:
    if source.draws and source.asks is not None:
        return str(rule.data["started"])
    return source.row.text("draws" if source.draws else "does")


def _matters(module: Module, rule: Rule, source: Source, leak: Leak) -> bool:
    """Return whether the order counts; outside the known code it does not if items say what they belong to."""
    if leak.kind == "position" and source.row.text("kind") in ("sets", "ready") and _is_slice(leak.node):
        return False
    if leak.kind == "paired":
        return _is_paired(source, leak)
    if leak.kind == "passed":
        return False
    if leak.kind not in rule.data["leaving"] or _is_data(module, leak):
        return True
    function = module.function_of(leak.node)
    said = function is not None and any(word in function.name for word in rule.data["words"])
    said = said or _is_asked_for(rule, source)
    returns = function.returns if function is not None else None
    pairs = returns is not None and any(
        module.names(part) & {*rule.data["pairs"]} for part in s.walk(returns) if isinstance(part, s.Expression)
    )
    return leak.kind == "returned" and not source.keyed and not said and not pairs


def _is_asked_for(rule: Rule, source: Source) -> bool:
    """Return whether a test of an option whose name is about order is around the source: `if not keep_order`."""
    tests = [around.test for around in source.node.ancestors() if isinstance(around, (s.If, s.Conditional))]
    names = [part.id for test in tests for part in s.walk(test) if isinstance(part, s.Name)]
    return any(word in name for name in names for word in rule.data["options"])


def _is_paired(source: Source, leak: Leak) -> bool:
    """Return whether `zip` pairs results with a list that has another order."""
    given = [a.value for a in leak.node.arguments if not a.star] if isinstance(leak.node, s.Call) else []
    names = {value.id for value in given if isinstance(value, s.Name)}
    return bool(names & source.names) and bool(names - source.names)


def _is_slice(node: s.Node) -> bool:
    """Return whether a subscript takes the first few of what is ready."""
    return isinstance(node, s.Subscript) and isinstance(node.indices[0], s.Slice)


def _is_data(module: Module, leak: Leak) -> bool:
    klass = module.class_of(leak.node)
    return klass is not None and module.is_a(klass, "dataset")


def _fix(module: Module, source: Source) -> Fix | None:
    """Return a fix that keeps the order of the tasks, if the arguments are the same and no loop is left early."""
    call, row = source.node, source.row
    title = "Take the results in the order of the tasks"
    if source.leaves:
        return None
    if source.made is not None:
        return edits.fix(title, *edits.literals(module, source.made, row.list("fixed")).values())
    if row.list("fixed"):
        changes = [edits.argument(module, call, *each.split("=")) for each in row.list("fixed")]
        return edits.fix(f"Pass `{', '.join(row.list('fixed'))}`", *changes, safety=Safety.UNSAFE)
    if row.text("ordered") and isinstance(call.function, s.Attribute):
        known = _is_pool(module, row, call.function.value)
        safety = Safety.SAFE if known else Safety.UNSAFE
        return edits.fix(title, edits.renamed(module, call.function, row.text("ordered")), safety=safety)
    tasks = call.arguments[0] if row.text("tasks") and len(call.arguments) == 1 else None
    types = module.types(tasks.value) if tasks is not None and not tasks.star else frozenset[str]()
    if tasks is None or not types or not types <= module.python("types", "in-order"):
        return None
    around = call.parent.parent if isinstance(call.parent, s.Argument) else None
    if isinstance(around, s.Call) and module.callee(around) == {"builtins.next"}:
        return None
    change = edits.replaced(module, call, edits.new("{tasks}", tasks=tasks.value))
    taken = isinstance(call.parent, (s.For, s.Clause, s.Argument, s.Starred))  # elsewhere it may be used as an iterator
    safety = Safety.SAFE if taken else Safety.UNSAFE
    return edits.fix(title, change, *edits.unused(module, [call.function]), safety=safety)


def _is_pool(module: Module, row: Row, node: s.Expression) -> bool:
    """Return whether an object can only be a pool of the row, which has the other method, too."""
    made: list[s.Expression | None] = [node]
    if isinstance(node, s.Name):
        made = [None if b.path or b.kind not in ("assign", "with") else b.value for b in reaching(node) or ()]
    elif isinstance(node, s.Attribute):
        made = [*(module.values(node) or ())]
    return bool(made) and all(isinstance(each, s.Call) and _makes_pool(module, row, each) for each in made)


def _makes_pool(module: Module, row: Row, call: s.Call) -> bool:
    names = module.callee(call)
    if names or not isinstance(call.function, s.Attribute):
        return bool(names) and names <= row.set("pools")
    contexts = module.values(call.function.value) or ()
    known = [isinstance(each, s.Call) and module.callee(each) & row.set("contexts") for each in contexts]
    return bool(known) and all(known) and call.function.attribute == "Pool"
