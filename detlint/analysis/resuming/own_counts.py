"""DET701 for numbers that objects keep and change as training goes on, and that no checkpoint holds."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.resuming.checkpoints import Checkpoints
from detlint.analysis.training.contexts import function_around
from detlint.analysis.values.messages import is_message
from detlint.catalogue import Rule
from detlint.finding import Finding
from detlint.questions import Restores
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of, inside

_CHANGES = frozenset(("+=", "-=", "*=", "/="))
_STATES = ("state_dict", "load_state_dict", "get_extra_state", "_save_to_state_dict")


def own_counts(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each number of an object that decides how training goes on, and that is saved nowhere.

    A module's `state_dict` has parameters and buffers alone; an object that saves itself shows what it saves.
    """
    told = set[tuple[s.Class, str]]()
    changes = [each for each in module.every(s.Assign) if each.operator in _CHANGES]
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
        elif any(inside(use, function) for use in module.attributes(target.attribute) for function in kept):
            continue
        else:
            asked = Restores(module.path, module.qualified(kept[1]), runs=True)
        told.add((klass, target.attribute))
        yield module.finding(
            rule,
            target,
            only_if=asked,
            problem=rule.data["number"].format(name=module.short(target)),
            because=rule.data["steps"],
            remedy=rule.data["buffer_remedy" if kept is None else "number_remedy"],
        )


def _keepers(module: Module) -> Iterator[tuple[s.Class, tuple[s.Function, s.Function]]]:
    """Yield the classes that save and restore an optimizer themselves, with the methods that do so."""
    checkpoints = Checkpoints(module)
    back = [(klass, f) for each in checkpoints.resumed if (f := function_around(each.call)) and (klass := class_of(f))]
    for node in checkpoints.with_optimizer() if back else ():
        save = function_around(node)
        for klass, load in back:
            if save is not None and class_of(save) is klass:
                yield klass, (save, load)


def _is_number_of_its_own(module: Module, klass: s.Class, target: s.Attribute, change: s.Assign) -> bool:
    """Return whether an attribute begins as a number, is never set anew, and decides something."""
    around = function_around(change)
    if around is None or around.name == "__init__" or class_of(around) is not klass:
        return False
    begun = [each for each in module.attribute_assignments(klass, target.attribute) if each.operator == "="]
    if not begun or not all(_begins(module, each) for each in begun):
        return False
    reads = [each for each in module.attributes(target.attribute) if not each.stored and module.class_of(each) is klass]
    return any(not inside(read, change) and _decides(module, read) for read in reads)


def _begins(module: Module, assign: s.Assign) -> bool:
    function = function_around(assign)
    values = None if assign.value is None else module.constants(assign.value)
    numbers = bool(values) and all(type(each) in (int, float) for each in values or ())
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
