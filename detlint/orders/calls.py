"""The effect of a call on an argument whose items are in an arbitrary order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, cached_property

from detlint.analysis.values.messages import is_message
from detlint.catalogue import Catalogue
from detlint.orders.loops import Loops
from detlint.orders.ranking import counts, has_alike_key, ranks_alike
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope

EXPOSING = frozenset((s.Argument, s.Attribute, s.Assign, s.Operation, s.For, s.Clause, s.Starred))  # read by `exposes`
_TAKING = frozenset(("text", "writes", "keeps"))  # kinds of methods that take the items of their argument
_KEEPING = frozenset(("", "free", "writes"))  # kinds of functions that do not take items, or may not
_NUMBERS = frozenset(("builtins.range", "itertools.count"))


@cache
def _uses(catalogue: Catalogue) -> Mapping[str, str]:
    return {name: row.text("kind") for name, row in catalogue.by_name("order", "use").items()}


@cache
def _methods(catalogue: Catalogue) -> Mapping[tuple[str, str], str]:
    rows = catalogue.rows("order", "method")
    return {(row.text("of"), name): row.text("kind") for row in rows for name in row.list("methods")}


class Calls:
    """Answers about the calls of one file, from the tables of `order.toml`."""

    def __init__(self, module: Module, loops: Loops) -> None:
        self.module = module
        self.loops = loops
        self._uses = _uses(module.catalogue)
        self._sorting = module.catalogue.names("order", "use", id="sorted")
        self._listing = module.catalogue.names("order", "listing")
        self._methods = _methods(module.catalogue)

    def method(self, name: str, of: str = "") -> str:
        """Return what a method of the ordered value (or of a "table") does: the kind of its row, or ""."""
        return self._methods.get((of, name)) or self._methods.get(("value", name), "")

    def kind(self, argument: s.Argument, call: s.Call) -> str:
        """Return what a call does with an argument: the kind of its row, or "" if that is not known."""
        names = self.module.callee(call)
        kinds = {self._uses.get(name, "") for name in names}
        kind = kinds.pop() if len(kinds) == 1 else ""
        if is_message(self.module, call) or (argument.keyword == "key" and kind == "free"):
            return "free"
        if kind == "free" and ranks_alike(self.module, call):
            return "ranks"
        if names and all(self._uses.get(name.rpartition(".")[0]) == "generator" for name in names):
            return "draws"
        if names == {"builtins.sum"} and len(call.arguments) == 2:
            joined = self.module.types(call.arguments[1].value) <= {"builtins.list", "builtins.tuple"}
            return "passes" if joined and self.module.types(call.arguments[1].value) else "free"  # sum(lists, [])
        method = call.function.attribute if isinstance(call.function, s.Attribute) else ""
        other = self._methods.get(("other", method), "")
        return kind or ("" if names and other == "draws" else other)  # what is known to draw has a row of its own

    def is_table(self, node: s.Expression) -> bool:
        """Return whether an expression is a table with rows and columns, such as a `pandas.DataFrame`."""
        types = self.module.types(node)
        return bool(types) and all(self._uses.get(name) == "table" for name in types)

    def sorts(self, call: s.Call) -> bool:
        """Return whether a call returns its items in a fixed order."""
        names = self.module.callee(call)
        return bool(names) and names <= self._sorting and not ranks_alike(self.module, call)

    def counts_up(self, call: s.Call) -> bool:
        """Return whether a call has a `Counter` count more items."""
        method = call.function if isinstance(call.function, s.Attribute) else None
        return method is not None and method.attribute == "update" and counts(self.module, method.value)

    def sorts_in_place(self, read: s.Expression, of: str = "") -> bool:
        """Return whether a use puts a list in an order that is fixed: `x.sort()`, `x[:] = sorted(x)`."""
        parent = read.parent
        if isinstance(parent, s.Attribute) and self.method(parent.attribute, of) == "sorts":
            return not (isinstance(parent.parent, s.Call) and has_alike_key(self.module, parent.parent))
        return isinstance(parent, s.Subscript) and parent.stored and isinstance(parent.indices[0], s.Slice)

    def is_sorted_before(self, scope: Scope, read: s.Name, by: s.Node | None) -> bool:
        """Return whether a name is sorted before `read`, if only on some paths: by the call `by` or `x = sorted(x)`."""
        if by is not None and by.order < read.order:
            return True
        return any(
            isinstance(binding.value, s.Call)
            and binding.order < read.order
            and self.sorts(binding.value)
            and any(isinstance(part, s.Name) and part.id == read.id for part in s.walk(binding.value))
            for binding in scope.bindings.get(read.id, ())
        )

    def gives_order(self, function: s.Function | None) -> bool:
        """Return whether a function of the file is known to return its items in a fixed order."""
        return function is not None and self.module.qualified(function) in self._sorting

    def joins(self, node: s.Expression) -> bool:
        """Return whether an expression is an argument of a `join` call, which makes one string of its items."""
        call = node.parent.parent if isinstance(node.parent, s.Argument) else None
        named = call.function.attribute if isinstance(call, s.Call) and isinstance(call.function, s.Attribute) else ""
        return self._methods.get(("other", named)) == "text"

    @cached_property
    def _exposing(self) -> set[s.Call]:
        """The calls that may take the items of an argument one by one, and some others."""
        names = [name for name, kind in self._uses.items() if kind not in _KEEPING]
        words = [word for (of, word), kind in self._methods.items() if of == "other" and kind in _TAKING]
        return set(self.module.calls_like(names, words=words))

    def exposes(self, node: s.Expression) -> bool:
        """Return whether the code around `node` would take its items one by one if it were a set."""
        parent = node.parent
        if isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call):
            call = parent.parent
            if ranks_alike(self.module, call) or self.counts_up(call):
                return True
            if call not in self._exposing:
                return self.hands_on(node)
            method = call.function.attribute if isinstance(call.function, s.Attribute) else ""
            kinds = {self._uses.get(name, "") for name in self.module.callee(call)} or {""}
            return self._methods.get(("other", method)) in _TAKING or kinds.isdisjoint(_KEEPING)
        if isinstance(parent, s.Attribute):
            called = isinstance(parent.parent, s.Call) and parent.parent.function is parent
            return called and parent.attribute == "pop"
        if isinstance(parent, s.Assign):
            return node is parent.value and (parent.operator == "+=" or any(map(_takes_items, parent.targets)))
        if isinstance(parent, s.Operation):
            return parent.operator == "yield from"
        return isinstance(parent, (s.For, s.Clause, s.Starred)) and node is not getattr(parent, "target", None)

    def hands_on(self, node: s.Expression) -> bool:
        """Return whether `node` is only passed to a function or a class of the file."""
        call = node.parent.parent if isinstance(node.parent, s.Argument) else None
        names = self.module.callee(call) if isinstance(call, s.Call) else frozenset[str]()
        return bool(names) and all(n in self.module.functions or n in self.module.classes for n in names)

    def is_settled(self, call: s.Call) -> bool:
        """Return whether an array is sorted, or reduced over its items, after it is made."""
        uses: list[s.Expression] = [call]
        if isinstance(call.parent, s.Assign) and isinstance(call.parent.targets[0], s.Name):
            target = call.parent.targets[0]
            scope = target.scope.find(target.id)
            uses = [*self.module.reads(scope, target.id)] if scope is not None else []
        kinds = {kind for use in uses for kind in self._done_with(use)}
        return not kinds.isdisjoint(("sorts", "ranks")) or (uses == [call] and "free" in kinds)

    def _done_with(self, node: s.Expression) -> set[str]:
        """Return the kinds of what a method of `node`, or the library function of that name, does with its order."""
        parent = node.parent
        if isinstance(parent, s.Attribute):
            return {self.method(parent.attribute)}
        call = parent.parent if isinstance(parent, s.Argument) else None
        names = self.module.callee(call) if isinstance(call, s.Call) else frozenset[str]()
        return {self.method(name.rpartition(".")[2]) for name in names if name not in self.module.functions}

    def paired(self, argument: s.Argument, call: s.Call, origin: s.Expression | None) -> Iterator[str]:
        """Yield the kinds of what `zip` pairs with the items by position only; `origin` is where they come from."""
        around = call.parent.parent if isinstance(call.parent, s.Argument) else None
        makes_dict = isinstance(around, s.Call) and self.module.callee(around) == {"builtins.dict"}
        for other in call.arguments:
            values = self.module.values(other.value) or [other.value] if other is not argument else []
            calls = [value for value in values if isinstance(value, s.Call)]
            if any(self.loops.draw(value) is value for value in calls):
                yield "draws"
            elif any(self._lists(value, origin) for value in values):
                yield "position"
            elif makes_dict and any(self.module.callee(value) & _NUMBERS for value in calls):
                yield "numbers"

    def _lists(self, node: s.Expression, origin: s.Expression | None) -> bool:
        """Return whether an expression lists another directory, or the same one again."""
        calls = [part for part in s.walk(node) if isinstance(part, s.Call) and part is not origin]
        return any(self.module.callee(call) & self._listing for call in calls)

    def is_flattened(self, node: s.Comprehension) -> bool:
        """Return whether a comprehension's lists are joined at once: `sum([...], [])`, `chain.from_iterable(...)`."""
        call = node.parent.parent if isinstance(node.parent, s.Argument) else None
        names = self.module.callee(call) if isinstance(call, s.Call) else frozenset[str]()
        return bool(names) and names <= {"builtins.sum", "itertools.chain.from_iterable"}

    def numbers(self, call: s.Call) -> bool:
        """Return whether a call numbers its items, as `enumerate` does if its count is used beyond messages.

        A count alone tells no items apart.
        """
        method = call.function.attribute if isinstance(call.function, s.Attribute) else ""
        if self._methods.get(("other", method)) == "numbers":
            return True
        parent = call.parent
        if isinstance(parent, (s.For, s.Clause)) and isinstance(parent.target, s.Collection) and parent.target.elements:
            count = parent.target.elements[0]
            return isinstance(count, s.Name) and self.loops.counts.is_data(count, parent)
        made = parent.parent if isinstance(parent, s.Argument) else None
        if not isinstance(made, s.Call) or self.module.callee(made) != {"builtins.dict"}:
            return False
        outer = made.parent.parent if isinstance(made.parent, s.Argument) else None
        return not (isinstance(outer, s.Call) and is_message(self.module, outer))


def _takes_items(target: s.Expression) -> bool:
    """Return whether assignment to a target takes the items of the value one by one: `a, b = x`, `y[:] = x`."""
    return isinstance(target, s.Collection) or (
        isinstance(target, s.Subscript) and any(isinstance(index, s.Slice) for index in target.indices)
    )
