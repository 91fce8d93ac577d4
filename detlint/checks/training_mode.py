"""DET111: models that evaluate in training mode."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.training.contexts import is_module
from detlint.analysis.training.evaluations import STEPS, TRAINS, evaluates, is_for_a_runner, words
from detlint.catalogue import Rule
from detlint.editing import edits
from detlint.finding import Finding, Fix, Safety
from detlint.questions import InTraining
from detlint.semantics.index import last_word
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield findings for calls that evaluate what may be a model; the project knows if it is, and in which mode."""
    for call in module.calls if not is_for_a_runner(module) else ():
        kind = evaluates(module, call)
        if kind and _may_be_a_model(module, call):
            yield from _findings(module, rule, call, kind)


def _may_be_a_model(module: Module, call: s.Call) -> bool:
    """Return whether what is called may be a model or a method of one: neither a function nor a class."""
    called, names = call.function, module.callee(call)
    if names and (not isinstance(called, s.Attribute) or module.names(called.value)):
        return False
    owners = [class_of(module.functions[name]) for name in names if name in module.functions]
    known = all(owner is not None and is_module(module, owner) for owner in owners)
    return known and isinstance(called, (s.Name, s.Attribute, s.Subscript))


def _findings(module: Module, rule: Rule, call: s.Call, kind: str) -> Iterator[Finding]:
    """Yield a finding in case a model is called, and one in case a method of one is; at most one remains."""
    place, model, idle = module.place(call), call.function, kind == "idle"
    full = module.unseeded("torch", call)
    called = module.short(model)
    asked, fix = InTraining(place, idle=idle), _fix(module, call, model, trains=kind == "named")
    yield module.finding(rule, call, only_if=asked, full_if=full, fix=fix, call=called, model=called)
    if isinstance(model, s.Attribute):
        asked = InTraining(place, model.attribute, idle)
        yield module.finding(rule, call, only_if=asked, full_if=full, call=called, model=module.short(model.value))


def _fix(module: Module, call: s.Call, model: s.Expression, *, trains: bool) -> Fix | None:
    """Return a fix that puts the model into evaluation mode first and, where it `trains`, back into training after."""
    root = model
    while isinstance(root, s.Attribute):
        root = root.value
    statement = _statement(call, root, model, whole=trains)
    if not isinstance(root, s.Name) or statement is None:
        return None
    changes = [edits.ahead(module, statement, edits.new("{it}.eval()", it=model))]
    if trains:
        changes.append(edits.behind(module, statement, edits.new("{it}.train()", it=model)))
    return edits.fix("Put the model into evaluation", *changes, safety=Safety.UNSAFE)


def _statement(call: s.Call, root: s.Expression, model: s.Expression, *, whole: bool) -> s.Statement | None:
    """Return the largest statement around a call that neither trains nor makes the model, nor returns if `whole`."""
    found: s.Statement | None = None
    for above in call.ancestors():
        if isinstance(above, (s.Function, s.Class)):
            break
        if isinstance(above, s.Statement) and not isinstance(above, s.Block):
            parts = list(s.walk(above))
            if whole and any(isinstance(part, s.Leave) and part.kind == "return" for part in parts):
                break
            if found is not None and any(_is_apart(part, root, model) for part in parts):
                break
            found = above
    return found


def _is_apart(part: s.Node, root: s.Expression, model: s.Expression) -> bool:
    """Return whether a part of the code trains or makes the model."""
    if isinstance(part, s.Call):
        word = last_word(part.function)
        return word in STEPS or bool(words(word) & TRAINS)
    if isinstance(part, s.Name):
        return part.stored and isinstance(root, s.Name) and part.id == root.id
    return isinstance(part, s.Attribute) and part.stored and last_word(model) == part.attribute
