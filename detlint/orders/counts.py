"""The uses of the numbers that run along a sequence: indices, counters and lengths."""

from __future__ import annotations

from collections.abc import Iterator, Set
from functools import cached_property

from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import Binding, inside, reaching

VIEWS = frozenset(("items", "keys", "values"))
COMPARES = frozenset(("==", "!=", "<", ">", "<=", ">="))


class Counts:
    """Answers about the numbers of one file."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._files = module.catalogue.names("order", "hashed", id="file")
        self._adding = module.python("methods", "takes-in")
        self._recast = module.python("functions", "same-number-of-items")

    def is_data(self, name: s.Name, loop: s.Node) -> bool:
        """Return whether the count that `name` holds in a loop gets into data: an index, a value kept or passed."""
        if not name.stored:
            return self._is_data_use(name)
        scope = name.scope.find(name.id)
        reads = self.module.reads(scope, name.id) if scope is not None else []
        around = loop.parent if isinstance(loop, s.Clause) else loop
        return any(self._is_data_use(read) for read in reads if inside(read, around))

    def _is_data_use(self, read: s.Name) -> bool:
        node: s.Node = read
        for around in read.ancestors():
            if isinstance(around, s.Call):
                called = around.function.attribute if isinstance(around.function, s.Attribute) else ""
                names = self.module.callee(around)
                made = bool(names) and all(name in self.module.classes for name in names)
                if called != "format" and names != {"builtins.str"} and not made:
                    return bool(names & self._files)
                node = around
                continue
            if isinstance(around, s.Subscript) and node is not around.value:
                if around.stored:
                    return True
                if not self._is_beside(around.value, read):
                    return False
                node = around
                continue
            if isinstance(around, s.Operation) and around.operator in ("%", *COMPARES):
                return False
            if isinstance(around, s.Assign):
                target = around.targets[0]
                return isinstance(target, s.Subscript) and around.operator == "=" and not self._is_unread(target.value)
            if isinstance(around, s.Comprehension):
                return around.kind == "dict" and node in around.elements
            if isinstance(around, (s.Statement, s.Block)):
                return False
            node = around
        return False

    def _is_unread(self, holder: s.Expression) -> bool:
        """Return whether nothing ever looks at what a variable of a function holds, or an attribute in a notebook."""
        if isinstance(holder, s.Attribute) and self.module.path.endswith(".ipynb"):
            return all(use.stored or _is_filled(use) for use in self.module.attributes(holder.attribute))
        scope = holder.scope.find(holder.id) if isinstance(holder, s.Name) else None
        if scope is None or not isinstance(holder, s.Name) or not isinstance(scope.owner, s.Function):
            return False
        return all(map(_is_filled, self.module.reads(scope, holder.id)))

    def _is_beside(self, holder: s.Expression, count: s.Name) -> bool:
        """Return whether a container is not the one whose items are counted."""
        bindings = reaching(count) or ()
        counted = [a.value for b in bindings if isinstance(b.value, s.Call) for a in b.value.arguments]
        texts = {self.text(each) for node in counted for each in (node, *_measured_in(node))}
        made = [v for v in self.module.values(holder) or () if isinstance(v, s.Comprehension)]
        same = {self.text(holder), *(self.text(clause.iterator) for each in made for clause in each.clauses)}
        return bool(bindings) and texts.isdisjoint((*same, *self._filled_from(holder)))

    def _filled_from(self, holder: s.Expression) -> Iterator[str]:
        """Yield the source of what is iterated over where items are added to a list."""
        scope = holder.scope.find(holder.id) if isinstance(holder, s.Name) else None
        for read in self.module.reads(scope, holder.id) if scope is not None and isinstance(holder, s.Name) else ():
            if isinstance(read.parent, s.Attribute) and read.parent.attribute in self._adding:
                yield from (self.text(around.iterator) for around in read.ancestors() if isinstance(around, s.For))

    def goes_through(self, index: s.Expression) -> bool:
        """Return whether an index runs through a whole list, as one of `range(len(x))` or `enumerate(x)` does."""
        bindings = reaching(index) or () if isinstance(index, s.Name) else ()
        for binding in bindings:
            call = binding.value
            if binding.kind not in ("for", "comprehension") or not isinstance(call, s.Call):
                return False
            names = self.module.callee(call)
            fixed = all(isinstance(argument.value, s.Constant) for argument in call.arguments)
            if not names or not names <= {"builtins.range", "builtins.enumerate"} or fixed:
                return False
            if binding.path and binding.path[0] != 0:
                return False  # an item of `enumerate`, not its count
        return bool(bindings)

    def is_found(self, index: s.Expression) -> bool:
        """Return whether an index is found by the item at it, as `argmax` does."""
        bindings = reaching(index) or () if isinstance(index, s.Name) else ()
        looped = [
            b.value for b in bindings if b.kind in ("for", "comprehension") and b.value is not None and not b.path
        ]
        found = [value for node in looped or [index] for value in self.module.values(node) or [node]]
        finding = self.module.catalogue.names("order", "position", "methods")
        return any(_finds(value, finding) for value in found)

    def keeps_count(self, index: s.Expression) -> bool:
        """Return whether the number that an index runs through is stored: `number[names[i]] = i`."""
        bindings = reaching(index) or () if isinstance(index, s.Name) else ()
        found = ((loop, name) for loop in map(_looping, bindings) if loop for name in s.walk(loop.target))
        return any(
            isinstance(name, s.Name) and isinstance(index, s.Name) and name.id == index.id and self.is_data(name, loop)
            for loop, name in found
        )

    def only_one(self, node: s.Attribute | s.Subscript | s.Call) -> bool:
        """Return whether the function checks for a small length of the value that `node` looks into."""
        small = self._small.get(self.module.function_of(node) or self.module.file, set()) if self._small else set()
        return bool(small) and self.text(node.value if isinstance(node, (s.Attribute, s.Subscript)) else node) in small

    @cached_property
    def _small(self) -> dict[s.Node, set[str]]:
        """The source of all values whose length a function compares with one or two, by function."""
        found: dict[s.Node, set[str]] = {}
        for call in self.module.calls_to({"builtins.len"}):
            around = call.parent
            operands = around.operands if isinstance(around, s.Operation) and around.operator in COMPARES else ()
            if call.arguments and any(isinstance(each, s.Constant) and each.value in (1, 2) for each in operands):
                function = self.module.function_of(call) or self.module.file
                found.setdefault(function, set()).add(self.text(call.arguments[0].value))
        return found

    def text(self, node: s.Expression) -> str:
        """Return the text of what holds the items of a value: `x` for `list(x)`, `next(iter(x))` and `x.values()`."""
        while isinstance(node, s.Call):
            if len(node.arguments) == 1 and self.module.callee(node) & self._recast:
                node = node.arguments[0].value
            elif isinstance(node.function, s.Attribute) and node.function.attribute in VIEWS and not node.arguments:
                node = node.function.value
            else:
                break
        return self.module.source(node)


def _is_filled(use: s.Expression) -> bool:
    """Return whether a use of a container only puts something into it: `ids[word] = 3`."""
    return isinstance(use.parent, s.Subscript) and use.parent.stored and use.parent.value is use


def _finds(node: s.Expression, finding: Set[str]) -> bool:
    """Return whether a call finds indices by the items at them, such as `torch.argsort(x).tolist()`.

    `finding` are the names of the methods that find indices.
    """
    while isinstance(node, s.Call) and isinstance(node.function, s.Attribute):
        if node.function.attribute in finding:
            return True
        node = node.function.value
    return False


def _looping(binding: Binding) -> s.For | s.Clause | None:
    """Return the loop or comprehension clause that gives a name its values, or None."""
    node = binding.node if isinstance(binding.node, (s.For, s.Clause)) else binding.node.parent
    return node if isinstance(node, (s.For, s.Clause)) else None


def _measured_in(node: s.Expression) -> Iterator[s.Expression]:
    """Yield what an expression measures, such as `x` in `len(x)`."""
    if isinstance(node, s.Call) and len(node.arguments) == 1:
        yield node.arguments[0].value
