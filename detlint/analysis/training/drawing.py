"""What draws from torch's generator when a function, a layer or a module of one file is called in training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from detlint.analysis.values.conditions import holds
from detlint.catalogue import Catalogue, Row
from detlint.semantics.model import Module
from detlint.support.records import record
from detlint.tree import syntax as s
from detlint.tree.scopes import bound, reaching

_DEPTH = 12
_ASIDE = ("training", "train")  # conditions that hold in training


@record(frozen=True, slots=True)
class Draw:
    """A call that draws, or makes a layer that does; `sure` unless an unknown argument may prevent it."""

    node: s.Call
    sure: bool


class Draws:
    """The draws of what is called in one file."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._calls, self._layers = _tables(module.catalogue)
        self._holds = module.catalogue.names("recomputation", "code", id="holds")
        self._seen: set[s.Node] = set()

    def of(self, node: s.Expression) -> list[Draw]:
        """Return the draws when the value of `node`, or what it holds, is called; what is unknown draws nothing."""
        self._seen = set()
        return list(self._of(node, _DEPTH, True))

    def of_class(self, klass: s.Class) -> list[Draw]:
        """Return the draws when an instance of a class is called."""
        self._seen = set()
        return list(self._instance(klass, _DEPTH, True))

    def _of(self, node: s.Expression, depth: int, sure: bool) -> Iterator[Draw]:
        if depth == 0 or node in self._seen:
            return
        self._seen.add(node)
        for name in self.module.names(node):
            if name in self.module.functions:
                yield from self._body(self.module.functions[name], depth, sure)
                return
        if isinstance(node, s.Lambda):
            yield from self._body(node.function, depth, sure)
        elif isinstance(node, s.Call):
            yield from self._made(node, depth, sure)
        elif isinstance(node, s.Name):
            yield from self._named(node, depth, sure)
        elif isinstance(node, s.Attribute):
            owner = self.module.owner(node.value)
            values = self.module.attribute_values(owner, node.attribute) if owner is not None else []
            for value in values:
                yield from self._of(value, depth - 1, sure and len(values) == 1)
        else:
            alone = not isinstance(node, (s.Conditional, s.Comprehension))
            for part in _parts(node):
                yield from self._of(part, depth - 1, sure and alone)

    def _named(self, node: s.Name, depth: int, sure: bool) -> Iterator[Draw]:
        for binding in reaching(node) or ():
            value = bound(binding)
            if value is None and binding.kind in ("for", "comprehension"):
                value = binding.value
            if isinstance(binding.node, s.Parameter):
                yield from self._given(binding.node, depth)
            elif value is not None:
                yield from self._of(value, depth - 1, sure)

    def _given(self, parameter: s.Parameter, depth: int) -> Iterator[Draw]:
        """Yield the draws of what the calls of a function of this file pass for one of its parameters."""
        function = parameter.parent
        if not isinstance(function, s.Function) or function.name in ("<lambda>", "__init__"):
            return
        for call in self.module.calls_to((self.module.qualified(function),)):
            for value in self.module.argument(call, parameter.name).values:
                yield from self._of(value, depth - 1, False)

    def _made(self, call: s.Call, depth: int, sure: bool) -> Iterator[Draw]:
        """Yield the draws when the result of a call is called: a layer, a module, a function that wraps another."""
        names = self.module.callee(call)
        for name in sorted(names):
            for row in self._layers.get(name, ()):
                yield from self._row(call, row, sure)
            if name in self.module.classes:
                yield from self._instance(self.module.classes[name], depth - 1, sure)
        partial = self.module.partial(call)
        made = [name for name in names if name in self.module.functions]
        if names <= self._holds or partial is call or made:
            for argument in call.arguments[:1] if partial is call else call.arguments:
                yield from self._of(argument.value, depth - 1, sure)
        for name in made:
            for part in s.walk(self.module.functions[name].body):
                if isinstance(part, s.Leave) and part.kind == "return":
                    for value in part.values:
                        yield from self._of(value, depth - 1, sure)

    def _instance(self, klass: s.Class, depth: int, sure: bool) -> Iterator[Draw]:
        for method in ("forward", "__call__"):
            function = self.module.method(klass, method)
            if function is not None:
                yield from self._body(function, depth, sure)
                return

    def _body(self, function: s.Function, depth: int, sure: bool) -> Iterator[Draw]:
        if depth == 0 or function in self._seen:
            return
        self._seen.add(function)
        for part in s.walk(function.body):
            if isinstance(part, s.Call) and self.module.function_of(part) is function:
                rows = [row for name in self.module.callee(part) for row in self._calls.get(name, ())]
                for row in rows:
                    yield from self._row(part, row, sure)
                if not rows:
                    yield from self._of(part.function, depth - 1, sure)

    def _row(self, call: s.Call, row: Row, sure: bool) -> Iterator[Draw]:
        """Yield a call that its row says draws, unless its arguments are known to prevent it."""
        when = dict.fromkeys(row.list("when"), True)
        for condition, wanted in (when | dict.fromkeys(row.list("unless"), False)).items():
            answer = holds(self.module, call, condition)
            if answer is (not wanted):
                return
            if answer is None and not condition.startswith(_ASIDE):
                sure = False
        yield Draw(call, sure)


@cache
def _tables(catalogue: Catalogue) -> tuple[Mapping[str, list[Row]], Mapping[str, list[Row]]]:
    """Return the rows of calls that draw from torch's generator, and of layers that do when called, by name."""
    of_torch = [row for row in catalogue.rows("randomness", "consumer") if "torch" in row.list("generator")]
    calls = [row for row in of_torch if row.text("kind") == "call"]
    layers = [row for row in of_torch if row.text("kind") == "forward"]
    return _by_name(calls), _by_name([*layers, *catalogue.rows("recomputation", "draws")])


def _by_name(rows: list[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        for name in row.list("names"):
            found.setdefault(name, []).append(row)
    return found


def _parts(node: s.Expression) -> list[s.Expression]:
    """Return the expressions that a container holds, or that an expression may be."""
    if isinstance(node, s.Collection):
        return node.elements
    if isinstance(node, s.Comprehension):
        return node.elements[-1:]
    if isinstance(node, s.Dictionary):
        return node.values
    if isinstance(node, s.Conditional):
        return [node.body, node.orelse]
    return [node.value] if isinstance(node, (s.Starred, s.Subscript, s.NamedExpression)) else []
