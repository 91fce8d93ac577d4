"""Classes that derive an order from the epoch number that their `set_epoch` stores."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from detlint.semantics.model import Module
from detlint.tree import syntax as s

SETTER = "set_epoch"
_KEEPING = frozenset(("__init__", "load_state_dict", "__setstate__", SETTER))  # methods that may set an epoch once
_DEPTH = 2  # how many calls of other methods are followed
_Flags = tuple[str, ...] | None  # the attributes that must be set for a part to run; None where other conditions decide


@dataclass(frozen=True)
class Order:
    """Where an order depends on the epoch number, and the attributes that must be set for that."""

    node: s.Attribute
    flags: tuple[str, ...]


def order_of(module: Module, klass: s.Class) -> Order | None:
    """Return where the order of `__iter__` certainly depends on an epoch that the class does not count itself."""
    methods = {name: b.node for name, bs in klass.scope.bindings.items() for b in bs if isinstance(b.node, s.Function)}
    setter = module.method(klass, SETTER)
    names = {"epoch"} if setter is None else {node.attribute for node in _of_self(setter) if node.stored}
    if "__iter__" not in methods or any(_counts(methods[name], names) for name in methods.keys() - _KEEPING):
        return None
    return _read(methods, "__iter__", names, (), _DEPTH)


def _read(
    methods: dict[str, s.Function], name: str, names: Collection[str], flags: tuple[str, ...], depth: int
) -> Order | None:
    """Return where a method, reached under `flags`, reads an attribute of these `names`, or a method it calls does."""
    method = methods[name]
    reads = [node for node in _of_self(method) if node.attribute in names]
    used = {id(node): _flags(node, method) for node in [*_uses(method, reads)] or reads} if reads else {}
    known = [found for found in used.values() if found is not None]
    if known:
        return Order(reads[0], tuple(dict.fromkeys((*flags, *known[0]))))
    for node in _of_self(method) if depth and not reads else ():
        calls = isinstance(node.parent, s.Call) and node.parent.function is node and node.attribute in methods
        ahead = _flags(node, method) if calls else None
        found = None if ahead is None else _read(methods, node.attribute, names, (*flags, *ahead), depth - 1)
        if found is not None:
            return found
    return None


def _uses(method: s.Function, reads: Collection[s.Attribute]) -> Iterator[s.Call]:
    """Yield the calls that use a variable made or seeded with one of these reads, as an argument or by a method."""
    made = {name for node in reads for name in _made_with(node)}
    for node in s.walk(method.body):
        if isinstance(node, s.Call) and not any(around is node for read in reads for around in read.ancestors()):
            parts = (node.function, *(argument.value for argument in node.arguments))
            if any(isinstance(part, s.Name) and part.id in made for each in parts for part in s.walk(each)):
                yield node


def _made_with(node: s.Node) -> Iterator[str]:
    """Yield the variables that an expression is assigned to, or whose methods take it as an argument."""
    for around in node.ancestors():
        if isinstance(around, s.Call) and isinstance(around.function, s.Attribute):
            if isinstance(around.function.value, s.Name):
                yield around.function.value.id
        elif isinstance(around, s.Assign):
            yield from (target.id for target in around.targets if isinstance(target, s.Name))
        elif isinstance(around, s.Statement):
            return


def _of_self(method: s.Function) -> Iterator[s.Attribute]:
    """Yield the attributes of its own object that a method mentions."""
    first = method.parameters[0].name if method.parameters else ""
    for node in s.walk(method.body):
        if isinstance(node, s.Attribute) and isinstance(node.value, s.Name) and node.value.id == first:
            yield node


def _counts(method: s.Function, names: Collection[str]) -> bool:
    """Return whether a method sets one of these attributes of its object."""
    return any(node.stored and node.attribute in names for node in _of_self(method))


def _flags(node: s.Node, method: s.Function) -> _Flags:
    """Return the attributes of `self` that must be set for a method to reach a node; None where other tests decide."""
    found: list[str] = []
    child = node
    for around in node.ancestors():
        tests: list[tuple[s.Expression, bool]] = []
        if isinstance(around, (s.If, s.Conditional)) and child is not around.test:
            tests = [(around.test, child is around.body)]
        elif isinstance(around, s.Block):
            before = around.statements[: next(i for i, each in enumerate(around.statements) if each is child)]
            tests = [(each.test, False) for each in before if isinstance(each, s.If) and _returns(each)]
        for test, holds in tests:
            asked = _asked(test, holds, method)
            if asked is None:
                return None
            found += asked
        if around is method.body:
            return tuple(found)
        child = around
    return None


def _returns(choice: s.If) -> bool:
    return any(isinstance(each, s.Leave) for each in choice.body.statements)


def _asked(test: s.Expression, holds: bool, method: s.Function) -> _Flags:
    """Return the attributes that are set where a test has this outcome; None where it tests anything else."""
    if isinstance(test, s.Operation) and test.operator == "not":
        return _asked(test.operands[0], not holds, method)
    of_self = isinstance(test, s.Attribute) and any(node is test for node in _of_self(method))
    return (test.attribute,) if holds and of_self and isinstance(test, s.Attribute) else None


def is_asked(text: s.Constant) -> bool:
    """Return whether a string is only tested for, as the name in a `hasattr`."""
    call = text.parent.parent if isinstance(text.parent, s.Argument) else None
    return isinstance(call, s.Call) and isinstance(call.function, s.Name) and call.function.id == "hasattr"
