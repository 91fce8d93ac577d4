"""Tests whether something has been done yet, as those of what is made once: `if _model is None: _model = build()`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from detlint.ir import counting
from detlint.ir import nodes as ir


class Firsts:
    """Tells the tests that hold where a program first gets to them, as the text alone says."""

    def __init__(self, files: Mapping[str, ir.File]) -> None:
        self.files = files
        self._of_attributes: dict[str, tuple[int, int]] | None = None

    def first(self, file: str, statement: ir.If) -> bool:
        """Whether the body of an `if` runs where a program first gets there.

        That is so where it asks for a variable or an attribute that is None or False until the body sets it, or for one
        that nothing but the body sets and a text names, as that of an option.
        """
        asked = _asked(statement.test)
        if asked is None:
            return False
        empty, other = counting.assigned(counting.walk(statement.body)).get(asked, (0, 0))
        if not other:
            return False
        found = self._attributes if asked.startswith(".") else self.files[file].counts.assigned
        every_empty, every_other = found.get(asked, (0, 0))
        begun = every_empty > empty or (asked.startswith(".") and asked[1:] in self._spelled)
        return begun and every_other == other

    @cached_property
    def _spelled(self) -> frozenset[str]:
        """The names that texts spell, as those of options are."""
        return frozenset(name for file in self.files.values() for name in file.counts.spelled)

    @property
    def _attributes(self) -> Mapping[str, tuple[int, int]]:
        """How often attributes are given nothing, or something, anywhere in the project."""
        if self._of_attributes is None:
            self._of_attributes = {}
            for file in self.files.values():
                for name, (empty, other) in file.counts.assigned.items():
                    before = self._of_attributes.get(name, (0, 0))
                    self._of_attributes[name] = before[0] + empty, before[1] + other
        return self._of_attributes


def _asked(test: ir.Expression) -> str | None:
    """The variable or attribute that a test asks for whether it is None or False."""
    found: ir.Expression | None = None
    if isinstance(test, ir.Operation) and test.operator == "not":
        found = test.operands[0]
    elif isinstance(test, ir.Compare) and test.operators in (("is",), ("==",)):
        found = test.operands[0] if counting.is_nothing(test.operands[1]) else None
    if isinstance(found, ir.Attribute):
        return f".{found.name}"
    return found.name if isinstance(found, ir.Global) else None
