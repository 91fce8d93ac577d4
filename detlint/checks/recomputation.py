"""DET703: the backward pass runs a function again, with other random numbers than the forward pass."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.training.drawing import Draw, Draws
from detlint.analysis.values.conditions import applies
from detlint.catalogue import Row, Rule
from detlint.editing import edits
from detlint.finding import Finding, Safety
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield findings for recomputed functions that draw without the generators' state, and for own recomputation."""
    draws, rows = Draws(module), module.catalogue.rows("recomputation", "recompute")
    for row in rows:
        for call in module.calls_to(row.list("names")):
            if row.text("given"):
                yield from _applied(module, rule, draws, row, call)
                continue
            if not applies(module, call, row.list("when"), ()):
                continue
            passed = module.argument(call, row.text("runs"))
            found = [draw for value in passed.values for draw in draws.of(value)]
            if found:
                yield _finding(module, rule, call, module.short(passed.values[0]), found)
    for klass in module.classes.values():
        if module.is_a(klass, "autograd-function"):
            yield from _own(module, rule, klass)


def _applied(module: Module, rule: Rule, draws: Draws, row: Row, call: s.Call) -> Iterator[Finding]:
    """Yield findings for wrappers around all modules of some classes, for each class of this file that draws."""
    for value in module.argument(call, row.text("given")).values:
        partial = module.partial(value)
        literals = {a.keyword: literal(a.value) for a in partial.arguments} if partial is not None else {}
        if partial is None or literals.get("preserve_rng_state") is not False:
            continue
        for chosen in module.argument(call, row.text("checks")).values:
            for klass in _classes(module, chosen):
                found = draws.of_class(klass)
                if found:
                    yield _finding(module, rule, partial, klass.name, found)


def _classes(module: Module, chosen: s.Expression) -> Iterator[s.Class]:
    """Yield the classes of this file that a function tests for with `isinstance`."""
    functions = [module.functions[name] for name in module.names(chosen) if name in module.functions]
    for root in (chosen, *(function.body for function in functions)):
        for node in s.walk(root):
            if isinstance(node, s.Call) and module.callee(node) == {"builtins.isinstance"} and len(node.arguments) == 2:
                for part in s.walk(node.arguments[1].value):
                    names = module.names(part) if isinstance(part, s.Expression) else frozenset[str]()
                    yield from (module.classes[name] for name in names if name in module.classes)


def _finding(module: Module, rule: Rule, call: s.Call, function: str, draws: list[Draw]) -> Finding:
    first = min(draws, key=lambda draw: (not draw.sure, draw.node.order))
    made = edits.literals(module, call, ("preserve_rng_state=True",))
    partial = module.partial(call)
    called = call.function if partial is not call else call.arguments[0].value
    return module.finding(
        rule,
        call,
        related=[(first.node, "this draws")],
        lowered=not first.sure,
        fix=edits.fix("Keep the state of the generators", *made.values(), safety=Safety.UNSAFE),
        what=f"`{module.short(called)}`",
        function=f"`{function}`, which draws",
        remedy=rule.data["torch"][0],
    )


def _own(module: Module, rule: Rule, klass: s.Class) -> Iterator[Finding]:
    """Yield a finding if an autograd function keeps its caller's function and runs it forward and backward."""
    forward, backward = module.method(klass, "forward"), module.method(klass, "backward")
    if forward is None or backward is None or not forward.parameters or not backward.parameters:
        return
    words = module.catalogue.names("recomputation", "code", id="kept")
    if any(word in _identifier(node).lower() for node in s.walk(klass) for word in words):
        return
    context = forward.parameters[0].name
    given = {parameter.name for parameter in forward.parameters[1:] if not parameter.star}
    kept = {
        target.attribute: node.value.id
        for node in s.walk(forward.body)
        if isinstance(node, s.Assign) and isinstance(node.value, s.Name) and node.value.id in given
        for target in node.targets
        if isinstance(target, s.Attribute) and _is_name(target.value, context)
    }
    ran = {name for attribute, name in kept.items() if _runs(forward, context, attribute) or _calls(forward, name)}
    for node in s.walk(backward.body):
        called = node.function if isinstance(node, s.Call) else None
        if not isinstance(called, s.Attribute) or not _is_name(called.value, backward.parameters[0].name):
            continue
        if kept.get(called.attribute) in ran:
            yield module.finding(
                rule,
                node,
                lowered=True,
                what=f"`{klass.name}`",
                function=f"`{kept[called.attribute]}`, which may draw",
                remedy=rule.data["own"][0],
            )
            return


def _runs(function: s.Function, context: str, attribute: str) -> bool:
    """Return whether a function calls what it has kept: `ctx.run(...)`."""
    return any(
        isinstance(node, s.Call)
        and isinstance(node.function, s.Attribute)
        and node.function.attribute == attribute
        and _is_name(node.function.value, context)
        for node in s.walk(function.body)
    )


def _calls(function: s.Function, name: str) -> bool:
    return any(isinstance(node, s.Call) and _is_name(node.function, name) for node in s.walk(function.body))


def _is_name(node: s.Node, name: str) -> bool:
    return isinstance(node, s.Name) and node.id == name


def _identifier(node: s.Node) -> str:
    if isinstance(node, s.Attribute):
        return node.attribute
    return node.id if isinstance(node, s.Name) else ""
