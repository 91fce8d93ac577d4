"""Whether a call is given many items: with one, there is no order."""

from __future__ import annotations

from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s

_COUNTS = frozenset(("builtins.range", "numpy.arange"))


def is_given_many(module: Module, call: s.Call) -> bool:
    """Return whether an argument is known to have more than one item, and the call to stand in no loop."""
    if any(isinstance(a, (s.For, s.While, s.Comprehension)) for a in call.ancestors()):
        return False  # each iteration may bring one
    return any(_is_many(module, argument.value) for argument in call.arguments if not argument.star)


def _is_many(module: Module, given: s.Expression) -> bool:
    """Return whether the file makes many items of it, or asks how many it holds."""
    made = module.values(given) or ()
    return (bool(made) and all(_makes_many(module, value) for value in made)) or _is_measured(module, given)


def _makes_many(module: Module, value: s.Expression) -> bool:
    if isinstance(value, s.Collection):
        return len(value.elements) > 1
    counts = isinstance(value, s.Call) and bool(module.callee(value)) and module.callee(value) <= _COUNTS
    return counts or isinstance(value, s.Comprehension)


def _is_measured(module: Module, name: s.Expression) -> bool:
    """Return whether the file asks for the length of a name: `len(x)`, `x.shape[0]`, `n, size = x.shape`."""
    scope = name.scope.find(name.id) if isinstance(name, s.Name) else None
    for read in module.reads(scope, name.id) if scope is not None and isinstance(name, s.Name) else ():
        around = read.parent
        call = around.parent if isinstance(around, s.Argument) else None
        if isinstance(call, s.Call) and module.callee(call) == {"builtins.len"}:
            return True
        if isinstance(around, s.Attribute) and around.attribute == "shape":
            use = around.parent
            first = isinstance(use, s.Subscript) and literal(use.indices[0]) == 0
            if first or (isinstance(use, s.Assign) and any(isinstance(t, s.Collection) for t in use.targets)):
                return True
    return False
