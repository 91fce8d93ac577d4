"""Where values of a file go, by its text: what stands around a call, and around each place that reads a variable."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from msgspec import Struct

from detlint.ir import nodes as ir

Variable = tuple[str, str]
"""A variable, by the function that has it ("" for those of the module) and its name."""
_TARGETS = (ir.Assign, ir.For, ir.WithItem, ir.Clause, ir.Named, ir.Define, ir.DefineClass, ir.ImportModule)


class Around(NamedTuple):
    """A part of the text, and what stands around it."""

    part: Any
    outer: Around | None

    @property
    def function(self) -> str:
        """The qualified name of the function that it stands in."""
        around = self
        while around.outer is not None:
            around = around.outer
        return str(around.part.qualified)

    def outward(self) -> Iterator[Around]:
        """What stands around this, from inside out."""
        around = self.outer
        while around is not None:
            yield around
            around = around.outer


class Uses:
    """The uses of a file's values. `reads` are those of a variable, `given` what assignments alone give one."""

    def __init__(self, file: ir.File) -> None:
        self.file = file
        self.calls: dict[tuple[str, int], Around] = {}
        self.reads: dict[Variable, list[Around]] = defaultdict(list)
        self.given: dict[Variable, list[ir.Expression | None]] = defaultdict(list)
        self._names: dict[Variable, str] = {}
        for function in file.functions.values():
            outermost = Around(function, None)
            for statement in function.body:
                self._visit(statement, outermost, function.qualified)

    def variable(self, expression: ir.Expression, function: str) -> Variable | None:
        """The variable that an expression is in a function."""
        if isinstance(expression, ir.Local):
            return (function, expression.name)
        if isinstance(expression, ir.Captured):
            return (expression.owner, expression.name)
        return ("", expression.name) if isinstance(expression, ir.Global) else None

    def named(self, expression: ir.Expression, function: str) -> str:
        """The name of something of a library, by imports and by what variables are given once; "" for anything else."""
        if isinstance(expression, ir.Attribute):
            owner = self.named(expression.value, function)
            return f"{owner}.{expression.name}" if owner else ""
        if isinstance(expression, ir.Call):
            made = self.named(expression.function, function)
            return made if made.rpartition(".")[2][:1].isupper() else ""
        variable = self.variable(expression, function)
        if variable is None:
            return ""
        if variable in self._names:
            return self._names[variable]
        self._names[variable] = ""  # where it is made of itself
        given = self.given.get(variable, [])
        owner, name = variable
        if len(given) == 1 and isinstance(given[0], ir.Call):
            self._names[variable] = self.named(given[0], owner)
        elif isinstance(expression, ir.Global) and not given and name not in self.file.binds:
            self._names[variable] = f"builtins.{name}"
        return self._names[variable]

    @cached_property
    def called(self) -> frozenset[str]:
        """The names of what the file calls of libraries."""
        return frozenset(self.named(call.part.function, function) for (function, _), call in self.calls.items())

    def _visit(self, part: Any, outer: Around, function: str) -> None:
        if isinstance(part, tuple):
            for each in part:
                self._visit(each, outer, function)
        elif isinstance(part, Struct):
            around = Around(part, outer)
            if isinstance(part, ir.Call):
                self.calls[function, part.node] = around
            variable = self.variable(part, function)  # type: ignore[arg-type]
            if variable is not None:
                self.reads[variable].append(around)
                return
            targets = self._bound(part, function)
            for name in part.__struct_fields__:
                inner = getattr(part, name)
                if name in ("target", "targets") and targets:
                    inner = tuple(x for x in _flat(inner) if self.variable(x, function) is None)
                self._visit(inner, around, function)

    def _bound(self, part: Any, function: str) -> bool:
        """Note what a statement, or a part of one, binds; whether it has targets."""
        if isinstance(part, ir.ImportNames):
            for name, target in part.names:
                variable = self.variable(target, function) if target is not None else None
                if variable is not None and not part.level:
                    self._names[variable] = f"{part.module}.{name}"
            return False
        if not isinstance(part, _TARGETS):
            return False
        if isinstance(part, ir.ImportModule):
            variable = self.variable(part.target, function)
            if variable is not None:
                self._names[variable] = part.module if part.alias else part.module.partition(".")[0]
            return True
        targets = part.targets if isinstance(part, ir.Assign) else (part.target,)
        for target in targets:
            for each in _flat(target):
                variable = self.variable(each, function)
                if variable is not None:
                    alone = isinstance(part, (ir.Assign, ir.Named)) and each is target
                    self.given[variable].append(part.value if alone else None)  # type: ignore[union-attr]
        return True


def _flat(target: Any) -> list[Any]:
    """The parts of a target that are bound or stored into."""
    if isinstance(target, tuple):
        return [each for part in target for each in _flat(part)]
    if isinstance(target, ir.Display):
        return _flat(target.elements)
    if isinstance(target, ir.Starred):
        return _flat(target.value)
    return [] if target is None else [target]
