"""Library dicts that hold their items in an order of their own, and where these items are taken one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from detlint.catalogue import Row
from detlint.finding import Fix
from detlint.orders.calls import Calls
from detlint.orders.counts import VIEWS
from detlint.orders.leaks import Leak
from detlint.orders.sorting import sorted_where_taken
from detlint.semantics.index import last_word
from detlint.semantics.model import Module
from detlint.support.records import record
from detlint.tree import syntax as s
from detlint.tree.scopes import reaching


@record(frozen=True, slots=True)
class Taken:
    """An expression that yields items of such a dict in its order; `view` is the method of the dict, "" without one.

    `held` is the expression of the dict there, `made` what returned it, and `row` the row of that.
    """

    node: s.Expression
    view: str
    held: s.Expression
    made: s.Call | s.Attribute
    row: Row


class HashMaps:
    """Follows the dicts of one file that the calls and attributes in `made` are known to return."""

    def __init__(self, module: Module, made: Mapping[s.Call | s.Attribute, Row], calls: Calls) -> None:
        self.module = module
        self.made = made
        self.calls = calls

    def taken(self) -> Iterator[Taken]:
        """Yield where items are taken from a dict, even if that does not matter."""
        for made, row in self.made.items():
            for held in self._held(made):
                around = held.parent
                call = around.parent if isinstance(around, s.Attribute) else None
                if isinstance(around, s.Attribute) and isinstance(call, s.Call) and call.function is around:
                    if around.attribute in VIEWS:
                        yield Taken(call, around.attribute, held, made, row)
                elif self.calls.exposes(held):
                    yield Taken(held, "", held, made, row)

    def _held(self, made: s.Expression) -> Iterator[s.Expression]:
        """Yield what returns a dict, and the names and attributes of the file that hold only such dicts."""
        yield made
        around = made.parent
        targets = around.targets if isinstance(around, s.Assign) and around.value is made else []
        if isinstance(around, s.NamedExpression):
            targets = [around.target]
        for target in targets:
            if isinstance(target, s.Name) and (scope := target.scope.find(target.id)) is not None:
                for read in self.module.reads(scope, target.id):
                    bindings = reaching(read) or ()
                    if bindings and all(b.value in self.made and not b.path for b in bindings):
                        yield read
            elif isinstance(target, s.Attribute):
                yield from self._kept(target)

    def _kept(self, target: s.Attribute) -> Iterator[s.Attribute]:
        for read in self.module.attributes(target.attribute):
            owner = None if read.stored else self.module.owner(read.value)
            values = self.module.attribute_values(owner, read.attribute) if owner is not None else []
            if values and all(value in self.made for value in values):
                yield read

    def matters(self, taken: Taken, leak: Leak) -> bool:
        """Return whether a leak matters for what is taken; an array of the numbers may be an index, in any order.

        `list(vocab)[list(vocab.values()).index(number)]` finds a name by its number, whatever the order.
        """
        if taken.view in ("", "keys"):
            return True
        called = leak.node.function if isinstance(leak.node, s.Call) else None
        found = leak.kind == "numbers" and isinstance(called, s.Attribute)
        return leak.kind != "array" and not (taken.view == "values" and found)

    def fix(self, taken: Taken) -> Fix | None:
        """Return a fix that sorts the items by their numbers, which are the values of the dict, or None."""
        if taken.view == "values":
            return sorted_where_taken(self.module, taken.node)
        if taken.view == "items":
            return sorted_where_taken(self.module, taken.node, key="lambda item: item[1]")
        if taken.held is not taken.made:
            return sorted_where_taken(self.module, taken.node, key=f"{self.module.source(taken.held)}.get")
        called = taken.made.function if isinstance(taken.made, s.Call) else taken.made
        owner = called.value if isinstance(called, s.Attribute) else None
        numbers = taken.row.text("numbers")
        if owner is None or not numbers or not last_word(owner):
            return None
        return sorted_where_taken(self.module, taken.node, key=f"{self.module.source(owner)}.{numbers}")
