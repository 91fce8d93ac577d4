"""Whether a call is given many items: with one, there is no order."""

from __future__ import annotations

from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s


def is_given_many(module: Module, call: s.Call, place: int, parameter: str) -> bool:
    """Whether what stands at a place is known to be more than one item: made here, or measured, and not in a loop."""
    if any(isinstance(a, (s.For, s.While, s.Comprehension)) for a in call.ancestors()):
        return False  # each turn may bring one
    given = [a.value for i, a in enumerate(call.arguments) if a.keyword == parameter or (not a.keyword and i == place)]
    if len(given) != 1:
        return False
    values = module.values(given[0])
    made = bool(values) and all(_is_many(value) for value in values or ())
    return made or (isinstance(given[0], s.Name) and _is_measured(module, given[0]))


def _is_many(value: s.Expression) -> bool:
    """Whether an expression makes many items, as far as it shows: neither `[x]`, `f([x])` nor `x.reshape(1, -1)`."""
    if not isinstance(value, s.Call):
        return isinstance(value, s.Comprehension) or (isinstance(value, s.Collection) and len(value.elements) > 1)
    first = value.arguments[0].value if value.arguments else None
    return not (isinstance(first, s.Collection) and len(first.elements) == 1) and not (
        first is not None and literal(first) == 1
    )


def _is_measured(module: Module, name: s.Name) -> bool:
    """Whether the file asks how many items a name holds: `len(x)`, `x.shape[0]`, `n, size = x.shape`."""
    scope = name.scope.find(name.id)
    for read in module.reads(scope, name.id) if scope is not None else ():
        around = read.parent
        call = around.parent if isinstance(around, s.Argument) else None
        if isinstance(call, s.Call) and module.callee(call) == {"builtins.len"}:
            return True
        if isinstance(around, s.Attribute) and around.attribute == "shape":
            use = around.parent
            first = isinstance(use, s.Subscript) and literal(use.indices[0]) == 0
            parts = isinstance(use, s.Assign) and any(isinstance(t, s.Collection) for t in use.targets)
            if first or parts:
                return True
    return False
