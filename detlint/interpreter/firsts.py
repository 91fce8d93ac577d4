"""Tests whether something has been done yet, as those of what is made once: `if _model is None: _model = build()`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from detlint.interpreter.index import walk
from detlint.ir import nodes as ir

_FALSE = ("None", "False")
Assigned = Mapping[str, list[ir.Assign]]


class Firsts:
    """Tells the tests that hold where a program first gets to them, as the text alone says."""

    def __init__(self, files: Mapping[str, ir.File]) -> None:
        self.files = files
        self._of_files: dict[str, Assigned] = {}
        self._of_attributes: Assigned | None = None

    def first(self, file: str, statement: ir.If) -> bool:
        """Whether the body of an `if` runs where a program first gets there.

        That is so where it asks for a variable or an attribute that is None or False until the body sets it.
        """
        asked = _asked(statement.test)
        if asked is None:
            return False
        every = self._assigned(file, asked)
        inside = {id(part) for part in walk(statement.body) if isinstance(part, ir.Assign)}
        outside = [part for part in every if id(part) not in inside]
        sets = any(id(part) in inside and not _is_false(part) for part in every)
        return sets and bool(outside) and all(map(_is_false, outside))

    def _assigned(self, file: str, asked: ir.Expression) -> list[ir.Assign]:
        """What is assigned to a variable of a file, or to an attribute of a name anywhere."""
        if isinstance(asked, ir.Attribute):
            if self._of_attributes is None:
                self._of_attributes = _by_name(each for path in self.files for each in self._targets(path, own=False))
            return self._of_attributes.get(asked.name, [])
        if file not in self._of_files:
            self._of_files[file] = _by_name(self._targets(file, own=True))
        return self._of_files[file].get(asked.name, []) if isinstance(asked, ir.Global) else []

    def _targets(self, path: str, own: bool) -> Iterator[tuple[str, ir.Assign]]:
        """The assignments of a file: to its `own` variables, else to attributes and in the bodies of classes."""
        bodies = tuple(function.body for function in self.files[path].functions.values())
        for part in walk(bodies):
            if isinstance(part, ir.Assign):
                for target in part.targets:
                    if isinstance(target, ir.Global if own else ir.Attribute):
                        yield target.name, part
            elif isinstance(part, ir.DefineClass) and not own:
                for inner in part.body:
                    if isinstance(inner, ir.Assign):
                        yield from ((x.name, inner) for x in inner.targets if isinstance(x, ir.Local))


def _by_name(found: Iterator[tuple[str, ir.Assign]]) -> Assigned:
    grouped: dict[str, list[ir.Assign]] = defaultdict(list)
    for name, part in found:
        grouped[name].append(part)
    return grouped


def _asked(test: ir.Expression) -> ir.Expression | None:
    """The variable or attribute that a test asks for whether it is None or False."""
    found: ir.Expression | None = None
    if isinstance(test, ir.Operation) and test.operator == "not":
        found = test.operands[0]
    elif isinstance(test, ir.Compare) and test.operators in (("is",), ("==",)):
        constant = test.operands[1]
        found = test.operands[0] if isinstance(constant, ir.Constant) and constant.kind in _FALSE else None
    return found if isinstance(found, (ir.Global, ir.Attribute)) else None


def _is_false(part: ir.Assign) -> bool:
    return isinstance(part.value, ir.Constant) and part.value.kind in _FALSE
