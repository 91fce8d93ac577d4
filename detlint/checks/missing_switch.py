"""DET508: switches for determinism that torch does not have, and functions that are overwritten instead of called."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from detlint.catalogue import Rule
from detlint.editing import edits
from detlint.editing.names import library_name
from detlint.finding import Finding, Fix
from detlint.questions import Convolves
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s

_ALIKE = 0.85  # the least similarity ratio of two spellings, out of 1


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each attribute set to True that is no switch of the rule's library but is named like one.

    Overwriting one of the `functions` also loses the function. The severity is full only where some program trains
    convolutions there with every switch that makes them repeat left off.
    """
    for node, owner, attribute, value in _settings(module):
        values = module.constants(value) or ()
        if not values or not all(each is True or each == 1 for each in values):
            continue
        for name in sorted(module.canonical(f"{each}.{attribute}") for each in module.names(owner)):
            case = _case(rule, name)
            if case:
                path, function, _ = module.point(node)
                yield module.finding(
                    rule,
                    node,
                    full_if=Convolves(path, function, module.place(node)),
                    fix=_fix(module, rule, case, node),
                    switch=f"{module.short(owner)}.{attribute}",
                    problem=rule.data["problems"][case],
                )
                break


def _settings(module: Module) -> Iterator[tuple[s.Node, s.Expression, str, s.Expression]]:
    """Yield each attribute that is set: the statement or call, its owner, its name and the value."""
    for assign in module.assignments:
        for target in assign.targets if assign.operator == "=" and assign.value is not None else ():
            if isinstance(target, s.Attribute) and assign.value is not None:
                yield assign, target.value, target.attribute, assign.value
    for call in module.calls_to({"builtins.setattr"}):
        given = [argument.value for argument in call.arguments if not argument.star]
        attribute = literal(given[1]) if len(given) == 3 else None
        if isinstance(attribute, str):
            yield call, given[0], attribute, given[2]


def _case(rule: Rule, name: str) -> str:
    """Return what is wrong with setting the attribute of this qualified name; "" if nothing is."""
    library, _, rest = name.partition(".")
    if library != rule.data["library"] or not rest or name in rule.data["switches"]:
        return ""
    if name in rule.data["functions"]:
        return "function"
    return "unknown" if _is_like(name.rpartition(".")[2], rule.data["word"]) else ""


def _is_like(word: str, wanted: str) -> bool:
    return abs(len(word) - len(wanted)) < 4 and SequenceMatcher(None, word, wanted).ratio() >= _ALIKE


def _fix(module: Module, rule: Rule, case: str, node: s.Node) -> Fix | None:
    """Return a fix that sets the switch that was meant, in place of the statement."""
    if rule.fix is None or not isinstance(node, s.Assign) or len(node.targets) != 1:
        return None
    torch, imports = library_name(module, "torch", node)
    text = rule.data["fixes"][case].format(torch=torch)
    wrong = node if case == "function" else node.targets[0]
    return edits.fix(f"Write `{text}`", edits.replaced(module, wrong, text), safety=rule.fix, imports=imports)
