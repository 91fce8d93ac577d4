"""What the text of one file says of its part in a project: whether it acts, trains, tests, and what it imports."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from detlint.catalogue import Catalogue
from detlint.ir import nodes as ir
from detlint.ir.counting import last, walk
from detlint.sources.source import is_test

# What pytest and unittest collect: https://docs.pytest.org/en/stable/explanation/goodpractices.html#test-discovery
_FUNCTION, _CLASS, _BASE = "test", "Test", "TestCase"


class Outline:
    """A file of a project, and the dotted name of its module."""

    def __init__(self, file: ir.File, module: str, catalogue: Catalogue) -> None:
        self.file = file
        self.path = file.path
        self.module = module
        self.catalogue = catalogue

    @property
    def top(self) -> ir.Statements:
        """Its top level."""
        return self.file.functions[ir.TOP].body

    @property
    def main(self) -> ir.Statements:
        """The body of its `__main__` block."""
        return self.file.functions[ir.MAIN].body if self.guarded else ()

    @property
    def guarded(self) -> bool:
        """Whether it has a `__main__` block."""
        return ir.MAIN in self.file.functions

    @cached_property
    def acts(self) -> bool:
        """Whether its top level does more than define and import."""
        return _act(self.top)

    @cached_property
    def lasting(self) -> bool:
        """Whether it trains, saves or reads a command line."""
        names = self.catalogue.names("randomness", "outcome")
        aside = self.catalogue.names("randomness", "outcome", key="apart")
        for call in self._calls:
            if last(call.function) in names:
                owner = last(call.function.value).lower() if isinstance(call.function, ir.Attribute) else ""
                if not any(word in owner for word in aside):
                    return True
        return False

    @cached_property
    def tests(self) -> bool:
        """Whether a runner of tests imports it for what is in it: tests, or what those share."""
        if not is_test(self.path):
            return False
        runners = self.catalogue.names("program", "runner")
        if self.path.endswith("conftest.py") or any(
            not level and name.partition(".")[0] in runners for level, name in self.imports
        ):
            return True
        functions = self.file.functions.values()
        alone = (f for f in functions if f.name.startswith(_FUNCTION) and not f.klass and not f.owner)
        return any(map(self._is_left, alone)) or any(map(self._is_test_case, self._classes))

    def _is_left(self, function: ir.Function) -> bool:
        """Whether a function is left to a runner, which no function is that the file itself gives what it works on."""
        trials = {id(statement.value) for statement in self.main if isinstance(statement, ir.Do)}
        calls = [call for call in self._calls if call.function == ir.Global(function.name) and id(call) not in trials]
        return not any(call.arguments or function.name == _FUNCTION for call in calls)

    def _is_test_case(self, klass: ir.DefineClass) -> bool:
        """Whether a class has tests, or takes them from a class that has."""
        bases = [last(argument.value) for argument in klass.arguments if not argument.keyword]
        own = [function.name for function in self.file.functions.values() if function.klass == klass.qualified]
        if any(name.startswith(_FUNCTION) for name in own):
            return any(_CLASS in name for name in (klass.qualified.rpartition(".")[2], *bases))
        return any(base.endswith(_BASE) or (_CLASS in base and not own) for base in bases)

    @property
    def imports(self) -> tuple[tuple[int, str], ...]:
        """What it may import: modules and names in them, each with its leading dots counted."""
        return self.file.counts.imports

    @property
    def _parts(self) -> Iterator[object]:
        for function in self.file.functions.values():
            yield from walk((function.parameters, function.body))

    @cached_property
    def _calls(self) -> list[ir.Call]:
        return [part for part in self._parts if isinstance(part, ir.Call)]

    @property
    def _classes(self) -> Iterator[ir.DefineClass]:
        return (part for part in self._parts if isinstance(part, ir.DefineClass))


def _act(statements: ir.Statements) -> bool:
    """Whether statements of a top level do more than define and import."""
    for statement in statements:
        if isinstance(statement, ir.If) and _act((*statement.body, *statement.orelse)):
            return True
        if isinstance(statement, ir.Try) and _act((*statement.body, *statement.orelse, *statement.final)):
            return True
        if isinstance(statement, ir.Try) and any(map(_act, statement.handlers)):
            return True
        if isinstance(statement, (ir.For, ir.While, ir.With, ir.Match, ir.Assert)):
            return True
        if isinstance(statement, ir.Do) and not isinstance(statement.value, (ir.Constant, ir.Unread)):
            return True
        if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Call):
            return True
    return False
