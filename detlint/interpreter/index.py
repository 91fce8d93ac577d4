"""What the text of a project says, whatever its values are: what is bound, stored, tested and made where."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct

from detlint.domain.atoms import AllocationSite
from detlint.domain.codes import FAR
from detlint.ir import nodes as ir

_NAMES = (ir.Global, ir.Local, ir.Captured, ir.Attribute)
_DISPLAYS = (ir.Display, ir.Mapping, ir.Comprehension)
_TAKING = ("pop", "popitem", "popleft", "clear", "remove", "discard", "difference_update", "intersection_update")
_PLAIN = (ir.Constant, ir.Operation)
_LEAVING = ("break", "continue")
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
        self._shrinking: dict[str, bool] = {}
        self._unrolled: dict[int, bool] = {}
        self._displays: dict[tuple[str, str], dict[int, ir.Expression]] = {}

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

    def display(self, site: AllocationSite) -> ir.Expression | None:
        """The display or the comprehension by which the containers of a site are written down."""
        code = site.code
        if code is None or code.file not in self.files:
            return None
        key = (code.file, code.function)
        if key not in self._displays:
            function = self.files[code.file].functions.get(code.function)
            parts = walk(function.body if function is not None else ())
            self._displays[key] = {part.node: part for part in parts if isinstance(part, _DISPLAYS)}
        return self._displays[key].get(code.node % FAR)

    def shrinks(self, site: AllocationSite) -> bool:
        """Whether the file in which the containers of a site are made takes anything out of some container."""
        path = site.code.file if site.code is not None else ""
        if path not in self._shrinking:
            file = self.files.get(path)
            parts = walk(tuple(function.body for function in file.functions.values())) if file is not None else ()
            self._shrinking[path] = any(
                isinstance(part, ir.Delete) or (isinstance(part, ir.Attribute) and part.name in _TAKING)
                for part in parts
            )
        return self._shrinking[path]

    @cached_property
    def spelled(self) -> frozenset[str]:
        """The names that texts of the project spell, as those of options are, and the keywords of calls."""
        found = set[str]()
        for file in self.files.values():
            for function in file.functions.values():
                for part in walk((function.parameters, function.body)):
                    if isinstance(part, ir.Constant) and part.kind == "str":
                        found.add(part.value.lstrip("-").replace("-", "_"))
                    elif isinstance(part, ir.Argument):
                        found.add(part.keyword)
        return frozenset(found)

    def unrolls(self, statement: ir.For) -> bool:
        """Whether a loop is gone through item by item: no way leaves it, or goes on in it, before its end."""
        key = id(statement)
        if key not in self._unrolled:
            leaves = any(isinstance(part, ir.Leave) and part.kind in _LEAVING for part in walk(statement.body))
            self._unrolled[key] = not leaves
        return self._unrolled[key]

    def counts(self, operands: tuple[ir.Expression, ...]) -> bool:
        """Whether operands may count: they have a variable or an attribute in them that is made of itself somewhere, or
        something else than constants and such.
        """
        return any(
            part.name in self._counted if isinstance(part, _NAMES) else not isinstance(part, _PLAIN)
            for part in walk(operands)
        )

    @cached_property
    def _counted(self) -> frozenset[str]:
        """The names of variables and attributes that are assigned anew from what they were."""
        found = set[str]()
        for file in self.files.values():
            for function in file.functions.values():
                for part in walk(function.body):
                    if isinstance(part, ir.Assign):
                        names = {target.name for target in part.targets if isinstance(target, _NAMES)}
                        again = part.operator != "=" or any(
                            isinstance(x, _NAMES) and x.name in names
                            for y in walk(part.value)
                            if isinstance(y, ir.Operation)
                            for x in walk(y.operands)
                        )
                        found |= names if again else set()
        return frozenset(found)

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


def _decorator(expression: ir.Expression) -> str:
    """The name of a decorator, or of what makes it."""
    return _last(expression.function if isinstance(expression, ir.Call) else expression)


def _last(function: ir.Expression) -> str:
    if isinstance(function, (ir.Attribute, ir.Global, ir.Local, ir.Captured)):
        return function.name
    return ""
