"""What the text of a project says, whatever its values are: what is bound, stored, tested and made where."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct

from detlint.ir import nodes as ir

_NAMES = (ir.Global, ir.Local, ir.Captured, ir.Attribute)
_ASKING = ("isinstance", "issubclass", "super")  # which make nothing of the classes that they are given


def walk(part: Any) -> Iterator[Any]:
    """A part of the representation and all parts in it."""
    stack = [part]
    while stack:
        current = stack.pop()
        if isinstance(current, tuple):
            stack.extend(current)
        elif isinstance(current, Struct):
            yield current
            stack.extend(getattr(current, name) for name in current.__struct_fields__)


class Index:
    """Questions about the text of a project's files."""

    def __init__(self, files: Mapping[str, ir.File]) -> None:
        self.files = files
        self._tested: dict[tuple[str, str], frozenset[str]] = {}
        self._added: frozenset[str] | None = None
        self._handed: dict[tuple[str, str], frozenset[str]] = {}

    @cached_property
    def _parts(self) -> tuple[frozenset[str], dict[str, Counter[str]], frozenset[str]]:
        """The attributes that are stored, how often each file calls each name, and the names that are used as values.

        What a file imports under another name counts as what it is called where it comes from.
        """
        stored = set[str]()
        made: dict[str, Counter[str]] = defaultdict(Counter)
        used = Counter[str]()
        for file in self.files.values():
            bodies = tuple((function.parameters, function.body) for function in file.functions.values())
            parts = list(walk(bodies))
            imports = [part for part in parts if isinstance(part, ir.ImportNames)]
            aliases = {_last(target): name for part in imports for name, target in part.names if target is not None}
            for part in parts:
                if isinstance(part, _NAMES):
                    used[aliases.get(part.name, part.name)] += 1
                elif isinstance(part, ir.Call):
                    name = _last(part.function)
                    name = aliases.get(name, name)
                    made[name][file.path] += 1
                    used[name] -= 1
                    if name in _ASKING:
                        given = (x.name for x in walk(part.arguments) if isinstance(x, _NAMES))
                        used.subtract(aliases.get(each, each) for each in given)
                elif isinstance(part, ir.DefineClass):
                    used[_last(part.target)] -= 1
                    bases = (_last(argument.value) for argument in part.arguments)
                    used.subtract(aliases.get(each, each) for each in bases)
                elif isinstance(part, ir.ImportNames):
                    used.subtract(name for name, target in part.names if target is not None)
                elif isinstance(part, (ir.Assign, ir.For, ir.WithItem, ir.Clause)):
                    targets = part.targets if isinstance(part, ir.Assign) else (part.target,)
                    stored.update(x.name for x in walk(targets) if isinstance(x, ir.Attribute))
        return frozenset(stored), made, frozenset(name for name, count in used.items() if count > 0)

    def decorates(self, decorator: ir.Expression) -> int:
        """How many functions and classes have a decorator of the name of one."""
        return self._decorating[_decorator(decorator)]

    @cached_property
    def _decorating(self) -> Counter[str]:
        """How many functions and classes each name decorates."""
        found = Counter[str]()
        for file in self.files.values():
            for function in file.functions.values():
                for part in walk(function.body):
                    if isinstance(part, (ir.Define, ir.DefineClass)):
                        found.update(map(_decorator, part.decorators))
        return found

    @property
    def stored(self) -> frozenset[str]:
        """The attributes that are stored on anything anywhere."""
        return self._parts[0]

    def makers(self, klass: str) -> tuple[int, int] | None:
        """How many places, in how many files, make objects of a class; None where it is handed on as a value.

        Told from the names that are called: who makes an object of a class that is handed on, no text tells.
        """
        name = klass.rpartition(".")[2]
        if name in self._parts[2]:
            return None
        calls = self._parts[1].get(name, Counter[str]())
        return calls.total(), len(calls)

    @cached_property
    def methods(self) -> Mapping[str, list[tuple[str, str]]]:
        """The methods of each name, by their file and qualified name."""
        found: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for file in self.files.values():
            for function in file.functions.values():
                if function.klass:
                    found[function.name].append((file.path, function.qualified))
        return found

    def tested(self, file: str, function: ir.Function) -> frozenset[str]:
        """The parameters of a function that its tests speak of."""
        key = (file, function.qualified)
        if key not in self._tested:
            names = {parameter.name for parameter in function.parameters}
            found = set[str]()
            for part in walk(function.body):
                tests: tuple[Any, ...] = ()
                if isinstance(part, (ir.If, ir.While, ir.Conditional)):
                    tests = (part.test,)
                elif isinstance(part, ir.Compare) or (isinstance(part, ir.Operation) and part.operator.isalpha()):
                    tests = part.operands
                found.update(test.name for test in tests if isinstance(test, ir.Local))
            self._tested[key] = frozenset(found & names)
        return self._tested[key]

    def added(self, callees: frozenset[str]) -> frozenset[str]:
        """The texts that calls of some names are given."""
        if self._added is None:
            functions = (function for file in self.files.values() for function in file.functions.values())
            parts = (part for function in functions for part in walk(function.body))
            calls = (part for part in parts if isinstance(part, ir.Call) and _last(part.function) in callees)
            texts = (argument.value for call in calls for argument in call.arguments)
            self._added = frozenset(x.value for x in texts if isinstance(x, ir.Constant) and x.kind == "str")
        return self._added

    def handed(self, file: str, function: ir.Function, callees: Mapping[str, frozenset[str | int]]) -> frozenset[str]:
        """The parameters of a function that it gives straight to some parameters of what is called by some names."""
        key = (file, function.qualified)
        if key not in self._handed:
            names = {parameter.name for parameter in function.parameters}
            calls = (part for part in walk(function.body) if isinstance(part, ir.Call))
            given = [
                argument.value
                for call in calls
                for place, argument in enumerate(call.arguments)
                if (argument.keyword or place) in callees.get(_last(call.function), ())
            ]
            self._handed[key] = frozenset(each.name for each in given if isinstance(each, ir.Local)) & names
        return self._handed[key]


def _decorator(expression: ir.Expression) -> str:
    """The name of a decorator, or of what makes it."""
    return _last(expression.function if isinstance(expression, ir.Call) else expression)


def _last(function: ir.Expression) -> str:
    if isinstance(function, (ir.Attribute, ir.Global, ir.Local, ir.Captured)):
        return function.name
    return ""
