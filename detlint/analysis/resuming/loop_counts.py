"""DET701 for numbers that a training loop carries from epoch to epoch, and that begin anew where a run is resumed."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.resuming.checkpoints import Checkpoints
from detlint.analysis.resuming.resumption import any_of, is_number, names_in, patterns
from detlint.analysis.values.messages import is_message
from detlint.catalogue import Rule
from detlint.finding import Finding
from detlint.questions import Restores
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import Binding, Scope, block_of, bound, inside, reaching


def loop_counts(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each number that decides something in a loop which a resumed run enters at a later epoch.

    Such as the best score so far: the loop compares with it and sets it, and every run begins with the same number.
    """
    ranges = frozenset(rule.data["ranges"])
    checkpoints = Checkpoints(module)
    for loop in (each for each in module.every(s.For) if _goes_on(module, each, ranges)):
        names: dict[tuple[Scope, str], list[s.Name]] = {}
        for part in s.walk(loop.body):
            if isinstance(part, s.Name) and (scope := part.scope.find(part.id)) is not None:
                names.setdefault((scope, part.id), []).append(part)
        resumed = checkpoints.resumed
        if not resumed and not any(checkpoints.is_optimizer(uses[0]) for uses in names.values()):
            continue
        asked = None if resumed else Restores(module.path, module.point(loop)[1], runs=True)
        for (scope, name), uses in names.items():
            begun = _begun(module, scope.bindings.get(name, []), uses, loop)
            read = None if begun is None else next((each for each in uses if _decides(module, each)), None)
            if begun is not None and read is not None:
                related = [(read, "it decides here"), *((each.call, "the run is resumed here") for each in resumed[:1])]
                yield module.finding(
                    rule,
                    begun.node,
                    related=related,
                    only_if=asked,
                    problem=rule.data["carried"].format(name=name),
                    because=rule.data["anew"],
                    remedy=rule.data["number_remedy"],
                )


def _goes_on(module: Module, loop: s.For, ranges: frozenset[str]) -> bool:
    """Return whether a loop counts epochs or steps from an unknown number, as one read from a checkpoint is."""
    if not any_of(patterns(module.catalogue, "word", id="progress"), names_in(loop.target)):
        return False
    calls = (part for part in s.walk(loop.iterator) if isinstance(part, s.Call) and module.callee(part) & ranges)
    given = ([each.value for each in call.arguments if each.keyword is None and not each.star] for call in calls)
    return any(len(values) > 1 and module.constants(values[0]) is None for values in given)


def _begun(module: Module, bindings: list[Binding], uses: list[s.Name], loop: s.For) -> Binding | None:
    """Return where a name gets the number that it has in the first turn of a loop; None if no number is carried.

    It has one if all runs begin with the same number, whatever the options, and later turns use what a turn gives it.
    """
    before = [each for each in bindings if not inside(each.node, loop)]
    within = [each for each in bindings if inside(each.node, loop)]
    if not within or not all(is_number(module, bound(each)) for each in before):
        return None
    if all(each.kind == "assign" and is_number(module, bound(each)) for each in within):
        return None  # a switch, as for what is done once in each run
    added = {each.node.targets[0] for each in within if each.kind == "augment" and isinstance(each.node, s.Assign)}
    for use in uses:
        found = reaching(use) or [] if use in added or not use.stored else []
        first = next((each for each in before if each in found and inside(loop, block_of(each.node))), None)
        if first is not None and any(each in found for each in within):
            return first
    return None


def _decides(module: Module, read: s.Name) -> bool:
    """Return whether a test that reads a number decides what is done, and not what is told alone."""
    if read.stored:
        return False
    below: s.Node = read
    for around in read.ancestors():
        if isinstance(around, s.Call) and is_message(module, around):
            return False
        if isinstance(around, s.If) and below is around.test:
            parts = list(s.walk(around.body))
            calls = (part for part in parts if isinstance(part, s.Call))
            leaves = any(isinstance(part, s.Leave) and part.kind in ("break", "return") for part in parts)
            return leaves or any(not is_message(module, call) for call in calls)
        if isinstance(around, s.Statement):
            return False
        below = around
    return False
