"""DET701 for numbers that objects keep and change as training goes on, and that no checkpoint holds."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.resuming.checkpoints import Checkpoints
from detlint.analysis.resuming.resumption import is_number
from detlint.analysis.training.contexts import function_around
from detlint.analysis.values.messages import is_message
from detlint.catalogue import Rule
from detlint.finding import Finding
from detlint.questions import Restores
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of, inside

_CHANGES = frozenset(("+=", "-=", "*=", "/="))
_BETTER = frozenset(("builtins.max", "builtins.min"))
_COMPARES = ("<", "<=", ">", ">=")
_Keeper = tuple[s.Node, s.Function, s.Function]
_STATES = ("state_dict", "load_state_dict", "get_extra_state", "_save_to_state_dict")


def own_counts(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each number of an object that decides how training goes on, and that is saved nowhere.

    A module's `state_dict` has parameters and buffers alone; an object that saves itself shows what it saves.
    """
    told = set[tuple[s.Class, str]]()
    changes = [each for each in module.every(s.Assign) if each.operator in _CHANGES or _is_best(module, each)]
    keepers = dict(_keepers(module)) if changes else {}
    for assign in changes:
        target, klass = assign.targets[0], module.class_of(assign)
        if not isinstance(target, s.Attribute) or klass is None:
            continue
        if (klass, target.attribute) in told or not _is_number_of_its_own(module, klass, target, assign):
            continue
        kept = keepers.get(klass)
        asked = None
        if kept is None:
            if not module.is_a(klass, "module") or any(module.method(klass, name) for name in _STATES):
                continue
            asked = Restores(module.path, module.qualified(klass))
        elif any(_is_kept(use, assign, kept) for use in module.attributes(target.attribute)):
            continue
        else:
            asked = Restores(module.path, module.qualified(kept[2]), runs=True)
        told.add((klass, target.attribute))
        yield module.finding(
            rule,
            target,
            only_if=asked,
            problem=rule.data["number"].format(name=module.short(target)),
            because=rule.data["steps" if assign.operator in _CHANGES else "anew"],
            remedy=rule.data["buffer_remedy" if kept is None else "number_remedy"],
        )


def _is_best(module: Module, assign: s.Assign) -> bool:
    """Return whether an attribute gets a better value, as the best score so far does after a comparison with it."""
    target, value = assign.targets[0], assign.value
    if assign.operator != "=" or not isinstance(target, s.Attribute):
        return False
    if isinstance(value, s.Call) and module.callee(value) & _BETTER:
        return _reads(module, value, target)
    below: s.Node = assign
    for around in assign.ancestors():
        if isinstance(around, s.If) and below is around.body:
            compared = (p for p in s.walk(around.test) if isinstance(p, s.Operation) and p.operator in _COMPARES)
            if any(_reads(module, each, target) for each in compared):
                return True
        if isinstance(around, s.Function):
            return False
        below = around
    return False


def _reads(module: Module, node: s.Node, target: s.Attribute) -> bool:
    text = module.source(target)
    return any(isinstance(each, s.Attribute) and module.source(each) == text for each in s.walk(node))


def _is_kept(use: s.Node, change: s.Assign, kept: _Keeper) -> bool:
    """Return whether a use of a number saves or restores it; a best score is also compared where it is saved."""
    made, save, load = kept
    return inside(use, load) or inside(use, save if change.operator in _CHANGES else made)


def _keepers(module: Module) -> Iterator[tuple[s.Class, _Keeper]]:
    """Yield the classes that save and restore an optimizer themselves: what they save, and the methods that do so."""
    checkpoints = Checkpoints(module)
    back = [(klass, f) for each in checkpoints.resumed if (f := function_around(each.call)) and (klass := class_of(f))]
    for node in checkpoints.with_optimizer() if back else ():
        save = function_around(node)
        for klass, load in back:
            if save is not None and class_of(save) is klass:
                yield klass, (node, save, load)


def _is_number_of_its_own(module: Module, klass: s.Class, target: s.Attribute, change: s.Assign) -> bool:
    """Return whether an attribute begins as a number, is never set anew, and decides something."""
    around = function_around(change)
    if around is None or around.name == "__init__" or class_of(around) is not klass:
        return False
    every = module.attribute_assignments(klass, target.attribute)
    begun = [each for each in every if each.operator == "=" and not _is_best(module, each)]
    if not begun or not all(_begins(module, each) for each in begun):
        return False
    reads = [each for each in module.attributes(target.attribute) if not each.stored and module.class_of(each) is klass]
    return any(not inside(read, change) and _decides(module, read) for read in reads)


def _begins(module: Module, assign: s.Assign) -> bool:
    function = function_around(assign)
    values = None if assign.value is None else module.constants(assign.value)
    numbers = bool(values) and all(type(each) in (int, float) for each in values or ())
    numbers = numbers or is_number(module, assign.value)
    return function is not None and function.name == "__init__" and numbers


def _decides(module: Module, read: s.Attribute) -> bool:
    """Return whether a number that is read gets into a test or into what is computed, and not into a message alone."""
    for around in read.ancestors():
        if isinstance(around, s.Call) and is_message(module, around):
            return False
        if isinstance(around, (s.If, s.Conditional)):
            return not all(is_message(module, part) for part in s.walk(around.body) if isinstance(part, s.Call))
        if isinstance(around, s.Statement):
            return isinstance(around, (s.Assign, s.Leave, s.ExpressionStatement))
    return False
