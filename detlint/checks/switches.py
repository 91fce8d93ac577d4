"""Rules about switches: attributes set to a value, and calls with arguments, that cost reproducibility."""

from __future__ import annotations

import re
from collections.abc import Iterator

from detlint import syntax as s
from detlint.catalogue import Row, Rule
from detlint.conditions import applies
from detlint.finding import Finding
from detlint.model import Module
from detlint.resolve import literal


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """What the rows of the table of switches that name the rule report.

    A value that is only one of several possible ones gives a lowered finding; one that is not known gives none.
    The pages may use `{switch}`, what is set or called, and `{setting}`, the same with the value.
    """
    rows = [row for row in module.catalogue.rows("switches", "switch") if row.text("rule") == rule.code]
    rows = [row for row in rows if row.holds_for(module.torch)]
    bad = {name: row.list("values") for row in rows for name in row.list("names")}
    for node, name, switch, value in settings(module):
        constants = module.constants(value) if name in bad else None
        matching = [str(constant) in bad[name] for constant in constants or ()]
        if any(matching):
            setting = f"{switch} = {module.short(value)}"
            yield module.finding(rule, node, lowered=not all(matching), switch=switch, setting=setting)
    for row in rows:
        for call in module.calls_to(row.list("calls")):
            if applies(module, call, row.list("when"), row.list("unless")):
                switch = module.short(call.function)
                yield module.finding(rule, call, switch=switch, setting=f"{switch}({_given(module, call, row)})")


def settings(module: Module) -> Iterator[tuple[s.Node, str, str, s.Expression]]:
    """Every attribute of a module that is set: the statement, the qualified name, its text and the value."""
    for assign in module.assignments:
        if assign.operator == "=" and assign.value is not None:
            for target, value in _pairs(assign.targets, assign.value):
                if isinstance(target, s.Attribute):
                    for name in module.names(target):
                        yield assign, name, module.short(target), value
    for call in module.calls_to({"builtins.setattr"}):
        given = [argument.value for argument in call.arguments if not argument.star]
        attribute = literal(given[1]) if len(given) == 3 else None
        if isinstance(attribute, str):
            for owner in module.names(given[0]):
                name = module.canonical(f"{owner}.{attribute}")
                yield call, name, f"{module.short(given[0])}.{attribute}", given[2]


def _pairs(targets: list[s.Expression], value: s.Expression) -> Iterator[tuple[s.Expression, s.Expression]]:
    for target in targets:
        if not isinstance(target, s.Collection):
            yield target, value
        elif isinstance(value, s.Collection) and len(target.elements) == len(value.elements):
            for one, its in zip(target.elements, value.elements, strict=True):
                yield from _pairs([one], its)


def _given(module: Module, call: s.Call, row: Row) -> str:
    """The arguments that the row's conditions speak of, as the call gives them."""
    found = []
    for parameter in dict.fromkeys(re.split(r"\W", condition.lstrip("!"))[0] for condition in row.list("when")):
        values = module.argument(call, parameter).values
        found += [f"{parameter}={module.short(value)}" for value in values[:1]]
    return ", ".join(found)
