"""Loops over epochs: which of them iterate over a loader repeatedly."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from detlint.semantics.model import Module
from detlint.tree import syntax as s

COUNTERS = ("range", "trange", "count")  # functions that count
Loop = s.For | s.While
_EVALUATES = re.compile(
    r"(?<![a-z])(?:val|valid|validate|validation|eval|evaluate|evaluation|test|dev|infer|inference|predict)"
    r"(?=[_\d]|set|load|data|dl\b|sampl|\b)"
)


def evaluates(module: Module, loop: s.For, nodes: Collection[s.Expression]) -> bool:
    """Return whether a loop over batches seems to evaluate a model, by its names or a no-gradient context around it."""
    function = module.function_of(loop)
    texts = [module.source(node).lower() for node in nodes] + ([function.name.lower()] if function is not None else [])
    without_gradient = module.catalogue.names("contexts", "context", "calls", effect="no-gradient")
    return any(_EVALUATES.search(text) for text in texts) or module.within(loop, without_gradient)


def epochs_around(module: Module, node: s.Node, made: Sequence[s.Node], depth: int = 4) -> Iterator[Loop]:
    """Yield the innermost loops over epochs that run `node` repeatedly with what `made` returned before the loop.

    The loops may stand in callers of the function that `node` is in, up to `depth` calls away.
    """
    child = node
    tests: list[s.Expression] = []
    for around in node.ancestors():
        if isinstance(around, (s.For, s.While)) and child is around.body and _counts_epochs(module, around):
            if not _within(made, around) and not any(_picks_one(test, around) for test in tests):
                yield around
            return
        if isinstance(around, s.If) and child is not around.test:
            tests.append(around.test)
        if isinstance(around, (s.Lambda, s.Class)):
            return
        if isinstance(around, s.Function) and around.name != "<lambda>":
            if depth and not _within(made, around):
                for call in module.calls_to({module.qualified(around)}):
                    yield from epochs_around(module, call, made, depth - 1)
            return
        child = around


def _within(nodes: Sequence[s.Node], outer: s.Node) -> bool:
    return any(around is outer for node in nodes for around in node.ancestors())


def _picks_one(test: s.Expression, loop: Loop) -> bool:
    """Return whether a condition holds in one epoch only: `epoch == 0`."""
    if not isinstance(loop, s.For) or not isinstance(loop.target, s.Name):
        return False
    picks = [node for node in s.walk(test) if isinstance(node, s.Operation) and node.operator == "=="]
    return any(isinstance(name, s.Name) and name.id == loop.target.id for pick in picks for name in pick.operands)


def _counts_epochs(module: Module, loop: Loop) -> bool:
    if isinstance(loop, s.While):
        compares = isinstance(loop.test, s.Operation) and loop.test.operator in ("<", "<=", ">", ">=", "!=")
        return compares and _speaks_of_epochs(module.source(loop.test))
    if not isinstance(loop.target, s.Name):
        return False
    for value in module.values(loop.iterator) or ():
        counter = _counter(value)
        if counter is None or not _repeats(module, counter):
            return False
        if _speaks_of_epochs(f"{loop.target.id} {module.source(loop.iterator)} {module.source(counter)}"):
            return True
    return False


def _speaks_of_epochs(text: str) -> bool:
    return "epoch" in text.lower().replace("per_epoch", "")


def _counter(node: s.Expression) -> s.Call | None:
    """Return the call in `node` that counts: `range`, `trange` or `itertools.count`, perhaps in a progress bar."""
    if not isinstance(node, s.Call):
        return None
    function = node.function
    name = (
        function.attribute if isinstance(function, s.Attribute) else function.id if isinstance(function, s.Name) else ""
    )
    if name in COUNTERS:
        return node
    return _counter(node.arguments[0].value) if node.arguments else None


def _repeats(module: Module, counter: s.Call) -> bool:
    """Return whether a counting call gives more than one number, or may do so."""
    numbers = []
    for argument in counter.arguments:
        constants = module.constants(argument.value) if not argument.keyword and not argument.star else None
        number = constants[0] if constants is not None and len(constants) == 1 else None
        if not isinstance(number, int):
            return True
        numbers.append(number)
    return not 1 <= len(numbers) <= 2 or len(range(*numbers)) > 1
