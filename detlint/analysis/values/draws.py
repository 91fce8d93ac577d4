"""Calls that certainly draw random numbers: of a library, or of a function or class of the file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from detlint.analysis.values.conditions import applies
from detlint.catalogue import Catalogue, Row
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_DEPTH = 3
_SOMETIMES = (s.If, s.Conditional, s.Try, s.While)


class Drawn:
    """The calls of one file that draw; `objects` are modules whose functions do, such as `random`."""

    def __init__(self, module: Module, objects: frozenset[str]) -> None:
        self.module = module
        self._objects = objects
        self._calls, self._layers, self._settling = _tables(module.catalogue)
        self._own: dict[s.Function, bool] = {}

    def within(self, node: s.Node, around: s.Node) -> s.Call | None:
        """Return a call in `node` that draws, or None.

        A call that makes a layer, or is of the file, counts unless weights are loaded or generators seeded in `around`.
        """
        calls = [part for part in s.walk(node) if isinstance(part, s.Call)]
        found = next((call for call in calls if self._numbers(call)), None)
        if found is None:
            found = next((call for call in calls if self._makes(call, _DEPTH)), None)
            return None if found is None or self._settles(around) else found
        return found

    def is_global(self, call: s.Call, function: s.Function) -> bool:
        """Return whether a call in a function draws from a global generator that the function does not seed."""
        names = self.module.callee(call)
        return any(self._applies(call, self._calls.get(n)) for n in names) and not self._settles(function.body)

    def _numbers(self, call: s.Call) -> bool:
        for name in self.module.callee(call):
            if name.rpartition(".")[0] in self._objects or self._applies(call, self._calls.get(name)):
                return True
        return False

    def _makes(self, call: s.Call, depth: int) -> bool:
        """Return whether a call makes a layer with weights, or is of a function or class of the file that draws."""
        names = self.module.callee(call)
        if any(self._applies(call, self._layers.get(name)) for name in names):
            return True
        functions = [self._function(name) for name in names]
        return bool(functions) and all(f is not None and self._always(f, depth - 1) for f in functions)

    def _function(self, name: str) -> s.Function | None:
        klass = self.module.classes.get(name)
        return self.module.functions.get(name) if klass is None else self.module.method(klass, "__init__")

    def _always(self, function: s.Function, depth: int) -> bool:
        """Return whether a function draws each time it is called, starting where its caller left the generator."""
        if depth == 0:
            return False
        if function not in self._own:
            self._own[function] = False  # while it calls itself
            calls = [part for part in s.walk(function.body) if isinstance(part, s.Call) and _is_plain(part, function)]
            drawn = any(self._numbers(call) or self._makes(call, depth) for call in calls)
            self._own[function] = drawn and not self._settles(function.body)
        return self._own[function]

    def _settles(self, node: s.Node) -> bool:
        """Return whether weights are loaded in `node`, or a generator is seeded there."""
        calls = (part for part in s.walk(node) if isinstance(part, s.Call))
        return any(_last(call.function) in self._settling for call in calls)

    def _applies(self, call: s.Call, row: Row | None) -> bool:
        return row is not None and applies(self.module, call, row.list("when"), row.list("unless"))


def _last(node: s.Expression) -> str:
    """Return the last part of a name, or "" for anything else."""
    return node.attribute if isinstance(node, s.Attribute) else node.id if isinstance(node, s.Name) else ""


def _is_plain(call: s.Call, function: s.Function) -> bool:
    """Return whether a call in a function runs each time the function does."""
    for around in call.ancestors():
        if around is function:
            return True
        if isinstance(around, (*_SOMETIMES, s.Function)):
            return False
    return False


@cache
def _tables(catalogue: Catalogue) -> tuple[Mapping[str, Row], Mapping[str, Row], frozenset[str]]:
    """Return the rows of draws and of layers, by name, and the last parts of names that settle what is drawn."""
    calls = catalogue.by_name("randomness", "consumer", kind="call")
    layers = catalogue.by_name("randomness", "consumer", kind="constructor", weights="yes")
    seeders = catalogue.names("randomness", "seeder")
    roles = [catalogue.names("program", "role", key=key, kind="restores") for key in ("names", "methods")]
    return calls, layers, frozenset(name.rpartition(".")[2] for name in seeders.union(*roles))
