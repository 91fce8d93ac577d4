"""Rules about switches: attributes set to a value, and calls with arguments, that cost reproducibility."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from detlint.analysis.seeds.environment import harmless, overruled
from detlint.analysis.values.conditions import applies
from detlint.analysis.values.operations import operation
from detlint.catalogue import Row, Rule
from detlint.editing import edits
from detlint.finding import Finding, Fix, Operation
from detlint.questions import Convolves, Ends, Question
from detlint.semantics.index import last_word
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield findings for the rows of the table of switches that name the rule.

    A value that is only one of several that the file may set gives a lowered finding. So does one that is set where
    an option asks for it, by one of the rule's `options` in a test around it. An unknown value gives none. Where
    the rule names a state (`usual`) in which a program ends by default, all three cases give a full finding. A
    parameter that is left at its default gives none. The rule's texts may use `{switch}`, what is set or called,
    and `{setting}`, the same with the value. The rule may name switches and the states (`ends`) in which the
    programs concerned must end, and list what literals become (`fixed`). With `convolves` a finding is lowered
    unless a seeded program that trains convolutions reaches it, with `perhaps` where all that reach it train and
    surely have none. Where the file chooses, only an unsafe fix takes the choice away. A switch that the rule names
    as `spawned` gives a finding where it is set on, and not in the processes that the program spawns.
    """
    rows = [
        row
        for row in module.catalogue.rows_of("switches", "switch", rule.code)
        if row.holds_for(module.torch) and not ("ends" in rule.data and overruled(module, row))
    ]
    by_name = {name: row for row in rows for name in row.list("names")}
    found: list[tuple[s.Node, str, str, list[bool], Fix | None]] = []
    for node, name, switch, value in _settings(module, by_name):
        matching = [str(constant) in by_name[name].list("values") for constant in module.constants(value) or ()]
        fix = _set(module, rule, node, name, value)
        found.append((node, name, f"{switch} = {module.short(value)}", matching, fix))
    for node, name, setting, matching, fix in found:
        usual = rule.data.get("usual", "").split()
        if any(matching) or (usual and not matching):
            chosen = not all(all(others) for _, other, _, others, _ in found if other == name)
            doubtful = chosen or _is_asked_for(rule, node)
            lowered = by_name[name].text("grade") == "lower" or (doubtful and not usual)
            unless = _answers(module, rule, by_name[name], node)
            switch = setting.partition(" = ")[0]
            asked = Operation(by_name[name].id, name)
            full_if, only_if = _convolves(module, rule, by_name[name], node)
            if usual and (doubtful or not matching):
                by_default = Ends(usual[0], tuple(usual[1:]), module.place(node), some=True)
                full_if, only_if = (full_if, by_default) if not matching else (by_default, only_if)
            yield module.finding(
                rule,
                node,
                lowered=lowered,
                full_if=full_if,
                only_if=only_if,
                unless=unless,
                fix=fix,
                operation=asked,
                switch=switch,
                setting=setting,
                effect=_effect(rule, by_name[name]),
                remedy=rule.data.get("remedies", {}).get("set", ""),
            )
    for row in rows:
        for call in module.calls_to(row.list("calls")):
            given = _given(module, call, row)
            if row.text("grade") == "lower" and _puts_back(rule, call):
                continue
            if (given or not row.list("when")) and applies(module, call, row.list("when"), row.list("unless")):
                switch = module.short(call.function)
                setting = f"{switch}({given})"
                lowered = row.text("grade") == "lower"
                unless = _answers(module, rule, row, call)
                fix, asked = _passed(module, rule, call), operation(module, call, row)
                yield module.finding(
                    rule,
                    call,
                    lowered=lowered,
                    full_if=_convolves(module, rule, row, call)[0],
                    unless=unless,
                    fix=fix,
                    operation=asked,
                    switch=switch,
                    setting=setting,
                    effect=_effect(rule, row),
                    remedy=rule.data.get("remedies", {}).get("set", ""),
                )

    yield from _left_behind(module, rule)


def _left_behind(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each place that sets a switch which processes of the program may lack."""
    if "spawned" not in rule.data:
        return
    switch, *words = rule.data["spawned"].split()
    others = [each.split() for each in rule.data.get("spawned_unless", ())]
    names = module.catalogue.names
    setting = names("switches", "setting", switch=switch) | names("switches", "setting", "calls", switch=switch)
    for row in module.catalogue.rows("switches", "setting") if module.speaks_of(setting) else ():
        if row.text("switch") != switch or row.text("word") not in ("", *words):
            continue
        nodes: list[s.Node] = [call for call in module.calls_to(row.list("calls")) if _holds(module, call, row)]
        on = ((node, value) for node, _, _, value in _settings(module, row.set("names")))
        nodes += [node for node, value in on if module.constants(value) == [True]]
        for node in nodes:
            place = module.place(node)
            yield module.finding(
                rule,
                node,
                only_if=Ends(switch, tuple(words), place, spawned=True),
                unless=[Ends(other, tuple(states), place) for other, *states in others],
                switch=switch,
                setting=module.short(node.targets[0]) if isinstance(node, s.Assign) else module.short(node),
                effect=rule.data["effects"]["spawned"],
                remedy=rule.data["remedies"]["spawned"],
            )


def _holds(module: Module, call: s.Call, row: Row) -> bool:
    return applies(module, call, row.list("when"), row.list("unless"))


def _effect(rule: Rule, row: Row) -> str:
    """Return what the row says that a switch does or, failing that, what the rule says for the row's grade."""
    return row.text("does") or str(rule.data.get("effects", {}).get(row.text("grade") or "full", ""))


def _convolves(module: Module, rule: Rule, row: Row, node: s.Node) -> tuple[Question | None, Question | None]:
    """Return what programs must be like for the full severity (rule), and for any finding at all (row)."""
    path, function, _ = module.point(node)
    if row.text("alone"):
        return None, Convolves(path, function, module.place(node), untouched=True)
    if "perhaps" in rule.data:
        return Convolves(path, function, module.place(node), perhaps=True), None
    if "convolves" not in rule.data:
        return None, None
    seeds = module.calls_to(module.catalogue.names("randomness", "seeder"))
    alone = any(module.point(call)[1] == function for call in seeds)
    return Convolves(path, function, module.place(node), alone=alone), None


def _is_asked_for(rule: Rule, node: s.Node) -> bool:
    """Return whether a test around a statement has one of the rule's words in a name or text: `if args.benchmark:`."""
    below = node
    for around in node.ancestors():
        if isinstance(around, s.Function):
            return False
        if isinstance(around, s.If) and below is around.body:
            texts = [_text(part).lower() for part in s.walk(around.test)]
            if any(word in text for text in texts for word in rule.data.get("options", ())):
                return True
        below = around
    return False


def _puts_back(rule: Rule, node: s.Node) -> bool:
    """Return whether a call cleans up: in a `finally`, or in a function that test frameworks call after a test."""
    below = node
    for around in node.ancestors():
        if isinstance(around, s.Try) and below is around.final:
            return True
        if isinstance(around, s.Function):
            return around.name in rule.data.get("cleans_up", ())
        below = around
    return False


def _text(node: s.Node) -> str:
    """Return a name, the name of an attribute, or a text; "" for anything else."""
    if isinstance(node, s.Constant):
        return node.value if isinstance(node.value, str) else ""
    return last_word(node) if isinstance(node, s.Expression) else ""


def _set(module: Module, rule: Rule, node: s.Node, name: str, value: s.Expression) -> Fix | None:
    """Return a fix that replaces the literal that is set; None if other targets get it too."""
    wanted = dict(pair.split("=") for pair in rule.data.get("fixed", ()))
    new = wanted.get(name.rpartition(".")[2])
    alone = not isinstance(node, s.Assign) or len(node.targets) == 1
    if rule.fix is None or new is None or not alone or not isinstance(value, s.Constant):
        return None
    edit = edits.replaced(module, value, new)
    return edits.fix(f"Set it to {new}", edit, safety=rule.fix)


def _passed(module: Module, rule: Rule, call: s.Call) -> Fix | None:
    """Return a fix that replaces the literal arguments of a call; None if there is nothing to replace."""
    made = edits.literals(module, call, rule.data.get("fixed", ()))
    if rule.fix is None or not made:
        return None
    return edits.fix(f"Pass `{', '.join(made)}`", *made.values(), safety=rule.fix)


def _answers(module: Module, rule: Rule, row: Row, node: s.Node) -> list[Question]:
    """Return the questions whose answers by the programs concerned rule out a finding at `node`."""
    if "ends" in rule.data:
        ends = (text.split() for text in rule.data["ends"])
        return [Ends(switch, tuple(words), module.place(node)) for switch, *words in ends]
    return list(harmless(module, row, node))


def _settings(module: Module, wanted: Collection[str]) -> Iterator[tuple[s.Node, str, str, s.Expression]]:
    """Yield the wanted module attributes that are set: the statement, qualified name, text and value."""
    for assign in module.assignments_like(wanted):
        if assign.operator == "=" and assign.value is not None:
            for target, value in _pairs(assign.targets, assign.value):
                if isinstance(target, s.Attribute):
                    for name in module.names(target):
                        if name in wanted:
                            yield assign, name, module.short(target), value
    for call in module.calls_to({"builtins.setattr"}):
        given = [argument.value for argument in call.arguments if not argument.star]
        attribute = literal(given[1]) if len(given) == 3 else None
        if isinstance(attribute, str):
            for owner in module.names(given[0]):
                name = module.canonical(f"{owner}.{attribute}")
                if name in wanted:
                    yield call, name, f"{module.short(given[0])}.{attribute}", given[2]


def _pairs(targets: list[s.Expression], value: s.Expression) -> Iterator[tuple[s.Expression, s.Expression]]:
    for target in targets:
        if not isinstance(target, s.Collection):
            yield target, value
        elif isinstance(value, s.Collection) and len(target.elements) == len(value.elements):
            for one, its in zip(target.elements, value.elements, strict=True):
                yield from _pairs([one], its)


def _given(module: Module, call: s.Call, row: Row) -> str:
    """Return the arguments that the row's conditions are about, as written in the call."""
    found = []
    for parameter in dict.fromkeys(re.split(r"\W", condition.lstrip("!"))[0] for condition in row.list("when")):
        values = module.argument(call, parameter).values
        for value in values[:1]:
            place = next((argument for argument in call.arguments if argument.value is value), None)
            named = place is None or place.keyword
            found.append(f"{parameter}={module.short(value)}" if named else module.short(value))
    return ", ".join(found)
