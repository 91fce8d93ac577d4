"""Scopes and their bindings, and which bindings can give a name its value where it is read."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field
from functools import partial
from itertools import takewhile
from operator import is_not

from detlint.support.records import record
from detlint.tree import syntax as s

_COMPARING = frozenset(("==", "!=", "in", "not in"))


@record(slots=True, eq=False)
class Binding:
    """A binding: one place that gives a name a value.

    `kind` is "assign", "augment", "import", "function", "class", "parameter", "for", "with", "except", "comprehension",
    "delete" or "pattern". `value` is the bound expression (for "for" the iterator, for "with" the context manager).
    `path` holds the indices into it if a target is unpacked. `qualified` is what an import names.
    """

    name: str
    kind: str
    node: s.Node
    value: s.Expression | None = None
    path: tuple[int, ...] = ()
    qualified: str | None = None

    @property
    def order(self) -> int:
        """The place of the binding in evaluation order."""
        return self.node.order


@record(slots=True, eq=False)
class Scope:
    """A scope of names; `kind` is "module", "class", "function" or "comprehension"."""

    kind: str
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    outside: dict[str, str] = field(default_factory=dict)
    owner: s.Function | s.Class | None = None
    _kept: dict[str, tuple[list[Binding], list[Binding]]] = field(default_factory=dict, init=False, repr=False)

    def kept(self, name: str) -> tuple[list[Binding], list[Binding]]:
        """Return the bindings of a name bound here, without deletions: as recorded, and sorted with the last one first.

        Call this only after the whole file is read, and do not modify the lists.
        """
        found = self._kept.get(name)
        if found is None:
            bindings = [b for b in self.bindings[name] if b.kind != "delete"]
            latest = sorted(bindings, key=_backwards) if len(bindings) > 1 else bindings
            found = self._kept[name] = bindings, latest
        return found

    def part(self) -> None:
        """Clear all contents; for a file that is no longer needed."""
        self.bindings.clear()
        self._kept.clear()
        self.owner = self.parent = None

    def find(self, name: str) -> Scope | None:
        """Return the scope in which `name` is bound when read here; None for a builtin or a star import."""
        scope: Scope | None = self
        start = self
        while scope is not None:
            where = scope.outside.get(name)
            if where == "global":
                while scope.parent is not None:
                    scope = scope.parent
                return scope if name in scope.bindings else None
            if where is None and name in scope.bindings and (scope.kind != "class" or scope is start):
                return scope
            scope = scope.parent
        return None


def reaching(name: s.Name) -> list[Binding] | None:
    """Return the bindings that may give `name` its value, or None if no scope of the file binds it.

    Within one scope, program order decides: the search goes backwards from the read and stops at a binding that lies on
    every path. For a read in an inner function, all bindings of the outer scope count.
    """
    scope = name.scope.find(name.id)
    if scope is None:
        return None
    bindings, latest = scope.kept(name.id)
    if len(bindings) < 2 or _runs_in(name, scope) is not scope:
        return bindings
    around = list(name.ancestors())
    loops = [node for node in around if isinstance(node, (s.For, s.While))]
    found: list[Binding] = []
    for binding in latest[bisect_right(latest, -name.order, key=_backwards) :]:
        found.append(binding)
        if block_of(binding.node) in around:
            loops = [loop for loop in loops if not inside(binding.node, loop)]
            break
    for loop in loops:
        found += [b for b in bindings if b.order > name.order and inside(b.node, loop) and b not in found]
    return found or bindings


def block_of(node: s.Node) -> s.Node | None:
    """Return the block whose every run passes `node`; a `with` body belongs to the block around it."""
    block = _block(node)
    while block is not None and isinstance(block.parent, s.With):
        block = _block(block.parent)
    return block


def _block(node: s.Node) -> s.Node | None:
    if isinstance(node, s.Parameter):
        return node.parent.body if isinstance(node.parent, s.Function) else None
    if isinstance(node.parent, (s.For, s.Clause)):  # bound by a loop: certain only within its body
        return node.parent.body if isinstance(node.parent, s.For) else node.parent.parent
    return next((a for a in node.ancestors() if isinstance(a, s.Block)), None)


def inside(node: s.Node, outer: s.Node | None) -> bool:
    """Return whether `outer` is an ancestor of `node`."""
    return any(a is outer for a in node.ancestors())


def _backwards(binding: Binding) -> int:
    return -binding.node.order


def _runs_in(name: s.Name, home: Scope) -> Scope | None:
    """Return the scope whose statements run where `name` is read; a comprehension runs in the scope around it."""
    scope: Scope | None = name.scope
    while scope is not None and scope is not home and scope.kind == "comprehension":
        scope = scope.parent
    return scope


def class_given(binding: Binding) -> s.Class | None:
    """Return the class that a class method takes as its first parameter; None if a binding is not that parameter."""
    function = binding.node.parent if isinstance(binding.node, s.Parameter) else None
    if not isinstance(function, s.Function) or function.parameters[0] is not binding.node:
        return None
    marked = any(isinstance(mark, s.Name) and mark.id == "classmethod" for mark in function.decorators)
    return class_of(function) if marked else None


def bound(binding: Binding) -> s.Expression | None:
    """Return the expression that an assignment binds to its name, found through unpacked displays; None if unknown."""
    if binding.kind != "assign" or binding.value is None:
        return None
    value = binding.value
    for index in binding.path:
        if not isinstance(value, s.Collection) or not 0 <= index < len(value.elements):
            return None
        value = value.elements[index]
    return None if isinstance(value, s.Starred) else value


def returned(function: s.Function) -> list[s.Expression]:
    """Return what a function returns, without what functions inside it do; [] if it yields."""
    own: list[s.Expression] = []
    for part in s.walk(function.body):
        if isinstance(part, s.Leave) and part.kind == "return" and _function_of(part) is function:
            own += part.values
        elif isinstance(part, s.Operation) and part.operator in ("yield", "yield from"):
            return []
    return own


def _function_of(node: s.Node) -> s.Function | None:
    return next((around for around in node.ancestors() if isinstance(around, s.Function)), None)


def class_of(function: s.Node) -> s.Class | None:
    """Return the class whose body directly holds `function`, or None."""
    return function.around if isinstance(function.around, s.Class) else None


def passed_over(node: s.Node) -> s.Node | None:
    """Return the statement around a node that its function may pass over: one in a branch, or after one that leaves.

    Return None for any other, and where a name chooses: the default model says little about the others.
    """
    statement, choices, below, around = None, list[s.If](), node, node.parent
    while around is not None and not isinstance(around, s.Function):
        if isinstance(around, s.Block):
            statement = statement or below
            before = takewhile(partial(is_not, below), around.statements)
            choices += [each for each in before if isinstance(each, s.If) and _leaves(each)]
            choices += [around.parent] if isinstance(around.parent, s.If) else []
        below, around = around, around.parent
    named = any(compares_texts(choice.test) for choice in choices)
    return statement if around is not None and choices and not named else None


def _leaves(choice: s.If) -> bool:
    arms = (choice.body, choice.orelse)
    return any(arm is not None and bool(arm.statements) and isinstance(arm.statements[-1], s.Leave) for arm in arms)


def compares_texts(test: s.Expression) -> bool:
    """Return whether a test compares something with a text."""
    compared = (node for node in s.walk(test) if isinstance(node, s.Operation) and node.operator in _COMPARING)
    constants = (each for node in compared for each in s.walk(node) if isinstance(each, s.Constant))
    return any(isinstance(each.value, str) for each in constants)


def is_main_guard(statement: s.Node) -> bool:
    """Return whether a statement is `if __name__ == "__main__":`."""
    if not isinstance(statement, s.If) or not isinstance(statement.test, s.Operation):
        return False
    operands = statement.test.operands
    names = [o.id for o in operands if isinstance(o, s.Name)]
    texts = [o.value for o in operands if isinstance(o, s.Constant)]
    return statement.test.operator == "==" and names == ["__name__"] and texts == ["__main__"]


def in_main_block(node: s.Node) -> bool:
    """Return whether a node is in a `__main__` block."""
    around = node.parent
    while around is not None and not (isinstance(around, s.If) and is_main_guard(around)):
        around = around.parent
    return around is not None
