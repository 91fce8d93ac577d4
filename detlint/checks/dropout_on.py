"""DET110: dropout that `eval()` does not switch off."""

from __future__ import annotations

import re
from collections.abc import Iterator

from detlint.analysis.seeds.generators import kept_as
from detlint.analysis.training.contexts import docstring, function_around, is_module, named
from detlint.analysis.training.evaluating import asks, chance, runs_in_evaluation
from detlint.analysis.training.meant import MEANT, comments
from detlint.catalogue import Row, Rule
from detlint.editing import edits
from detlint.finding import Finding, Fix, Safety
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of

_MEANT_HERE = re.compile(f"{MEANT.pattern}|(?i:inferen|eval|test[ -]time|even (in|at|when|during)|stays? on|intention)")
_NOT_A_MODEL = re.compile(r"(?i)loss|criterion|augment|nois[ey]|perturb|corrupt")
_TOLD = re.compile(r"(?i)drop[^.]{0,500}(inferen|eval|test)")


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each dropout function that runs in evaluation, and each layer out of reach of the mode."""
    for row in module.catalogue.rows("dropout", "dropout"):
        for call in module.calls_to(row.list("names")):
            found = chance(module, call, row.text("chance"))
            if found is None or _is_meant(module, call):
                continue
            if row.text("kind") == "layer":
                reason, remedy, fix = _layer(module, rule, call)
                lowered = found == 0
            else:
                reason, remedy, fix = _function(module, row, call)
                lowered = found == 0 or bool(row.text("mode") and module.argument(call, row.text("mode")).given)
            if reason:
                full = module.unseeded("torch", call)
                called = module.short(call.function)
                yield module.finding(
                    rule, call, lowered=lowered, full_if=full, fix=fix, call=called, reason=reason, remedy=remedy
                )


def _function(module: Module, row: Row, call: s.Call) -> tuple[str, str, Fix | None]:
    """Return why a call drops in evaluation, the remedy and the fix; the reason is "" if it does not."""
    mode, given = row.text("mode"), row.text("chance")
    passed = module.argument(call, mode) if mode else None
    if passed is not None:
        possible = module.possible(passed)
        if possible is None or not possible or not all(value is True or value == 1 for value in possible):
            return "", "", None
        if any(asks(module, value) for value in passed.values):
            return "", "", None
    if not runs_in_evaluation(module, call):
        return "", "", None
    owner = _receiver(module, call)
    name = owner or "self"
    if passed is None:
        value = module.argument(call, given).values[0]
        remedy = f"pass `{given}={module.short(value)} if {name}.training else 0.0`"
        edit = edits.wrapped(module, value, edits.new("{it} if {owner}.training else 0.0", owner=name))
        reason = f"`{given}` holds whatever `eval()` says"
        if isinstance(value, s.Conditional):
            return reason, f"pass 0.0 as `{given}` unless `{name}.training`", None
        made = edits.fix(f"Pass 0.0 unless `{name}.training`", *edit, safety=Safety.UNSAFE) if owner else None
        return reason, remedy, made
    remedy = f"pass `{mode}={name}.training`"
    reason = f"`{mode}` is True" if passed.given else f"`{mode}` is True unless it is given"
    safety = Safety.DISPLAY if passed.given else Safety.UNSAFE
    edit_ = edits.argument(module, call, mode, f"{name}.training")
    return reason, remedy, edits.fix(f"P{remedy[1:]}", edit_, safety=safety) if owner else None


def _receiver(module: Module, node: s.Node) -> str:
    """Return the name of the module whose method holds `node`; "" outside of methods."""
    function = function_around(node)
    if function is None or class_of(function) is None or not function.parameters or module.is_static(function):
        return ""
    return function.parameters[0].name


def _layer(module: Module, rule: Rule, call: s.Call) -> tuple[str, str, Fix | None]:
    """Return why `eval()` does not reach a layer, the remedy and the fix; the reason is "" if it may."""
    made: s.Expression = call
    around = call.parent.parent if isinstance(call.parent, s.Argument) else None
    if isinstance(around, s.Call) and module.callee(around) == {"torch.nn.Sequential"}:
        made = around
    function = function_around(call)
    remedy = "make it once, in the constructor, and keep it as an attribute of the module"
    if function is None:
        names = [target for target in kept_as(call) if isinstance(target, s.Name)]
        used = bool(names) and all(_is_only_called(module, name) for name in names)
        return ("no module holds it" if used and module.function_of(call) is None else ""), remedy, None
    if _is_hidden(module, rule, call, function):
        return "a plain container hides it from the module", "keep it in a `ModuleList` or a `ModuleDict`", None
    if not runs_in_evaluation(module, call):
        return "", "", None
    reason = "it is made anew, in training mode"
    if isinstance(made.parent, s.Call) and made.parent.function is made:
        owner = _receiver(module, call)
        edit = edits.wrapped(module, made, edits.new("{it}.train({owner}.training)", owner=owner))
        fix = edits.fix("Put it into the mode of the module", *edit, safety=Safety.UNSAFE) if owner else None
        return reason, remedy, fix
    local = [target for target in kept_as(call) if isinstance(target, s.Name)]
    if made is call and local and all(_is_only_called(module, name) for name in local):
        return reason, remedy, None
    return "", "", None


def _is_only_called(module: Module, name: s.Name) -> bool:
    """Return whether a variable is only called, at least once in the forward pass of a module."""
    scope = name.scope.find(name.id)
    reads = module.reads(scope, name.id) if scope is not None else []
    called = [read.parent for read in reads if isinstance(read.parent, s.Call) and read.parent.function is read]
    single = scope is not None and len(scope.bindings[name.id]) == 1
    return single and len(called) == len(reads) > 0 and any(runs_in_evaluation(module, one) for one in called)


def _is_hidden(module: Module, rule: Rule, call: s.Call, function: s.Function) -> bool:
    """Return whether a constructor keeps a layer in a plain list or dict that it never passes on to a module."""
    klass = class_of(function)
    holder = call.parent
    if klass is None or function.name != "__init__" or not is_module(module, klass):
        return False
    if not isinstance(holder, (s.Collection, s.Comprehension, s.Dictionary)) or not isinstance(holder.parent, s.Assign):
        return False
    target = holder.parent.targets[0]
    if not isinstance(target, s.Attribute) or len(holder.parent.targets) > 1:
        return False
    run = False
    taking, looking = frozenset(rule.data["takes_over"]), frozenset(rule.data["looks_into"])
    modes = named(module, "modes")
    for node in module.nodes:
        if isinstance(node, s.Attribute) and node.attribute in taking | modes:
            return False
        if isinstance(node, s.Name) and node.id in taking:
            return False
        if isinstance(node, s.Attribute) and node.attribute == target.attribute and not node.stored:
            above = node.parent
            taker = above.parent if isinstance(above, s.Argument) else None
            passes = isinstance(taker, s.Call) and module.callee(taker) <= looking
            if not isinstance(above, (s.Subscript, s.For, s.Clause)) and not passes:
                return False
            run = run or runs_in_evaluation(module, node)
    return run


def _is_meant(module: Module, call: s.Call) -> bool:
    """Return whether names or texts say that a call should drop in evaluation too, or is not part of a prediction."""
    for around in call.ancestors():
        if isinstance(around, (s.Function, s.Class)):
            told = docstring(around)
            if (
                MEANT.search(around.name)
                or _NOT_A_MODEL.search(around.name)
                or MEANT.search(told)
                or _TOLD.search(told)
            ):
                return True
    return bool(_MEANT_HERE.search(comments(module, call)))
