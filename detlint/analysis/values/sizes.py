"""Expressions that are certainly sizes: integers, and the shapes of tensors.

`torch.Tensor(2, 3)` and `torch.Tensor(x.shape)` allocate; `torch.Tensor((2, 3))` holds 2.0 and 3.0, and so does what
is made from the shape of an array: a plain tuple.
"""

from __future__ import annotations

from collections.abc import Iterable

from detlint.semantics.infer import ARRAY, TENSOR
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import Binding, bound, reaching

_DEPTH = 8
_SIZE = "torch.Size"
_WHOLE = frozenset(("+", "-", "*", "//", "%", "**", "<<", ">>", "&", "|", "^", "~", "or", "and"))
_TUPLES = frozenset(("builtins.tuple", "builtins.list"))


def only_sizes(module: Module, call: s.Call) -> bool:
    """Return whether a tensor constructor that can also copy data is certainly passed sizes, and nothing else."""
    given = [a for a in call.arguments if a.keyword is None and a.star != "**"]
    plain = [a.value for a in given if not a.star]
    if module.callee(call) == {f"{TENSOR}.new"} or len(plain) < 2:  # a sparse tensor takes indices and values
        return any(is_whole(module, value) for value in plain) or _gives_size(module, given)
    return True


def only_length(module: Module, call: s.Call) -> bool:
    """Return whether a storage constructor is certainly passed a length: from a shape it makes one of those numbers."""
    given = [a for a in call.arguments if a.keyword is None]
    return len(given) == 1 and not given[0].star and is_whole(module, given[0].value)


def may_be_no_size(call: s.Call) -> bool:
    """Return whether all sizes that a call is passed are unpacked, so that there may be none."""
    given = [a for a in call.arguments if a.keyword is None]
    return bool(given) and all(a.star for a in given)


def _gives_size(module: Module, given: list[s.Argument]) -> bool:
    """Return whether the arguments are just one shape of a tensor, or unpacked integers."""
    if len(given) == 1 and not given[0].star:
        return is_shape(module, given[0].value)
    return bool(given) and all(a.star and _are_whole(module, a.value) for a in given)


def is_whole(module: Module, node: s.Expression, depth: int = _DEPTH) -> bool:
    """Return whether an expression is certainly an integer."""
    if depth == 0:
        return False
    if module.types(node) == {"builtins.int"}:
        return True
    if isinstance(node, s.Operation):
        return node.operator in _WHOLE and _all_whole(module, node.operands, depth)
    if isinstance(node, s.Conditional):
        return _all_whole(module, (node.body, node.orelse), depth)
    if isinstance(node, s.NamedExpression):
        return is_whole(module, node.value, depth - 1)
    if isinstance(node, s.Name):
        return all(_binds_whole(module, b, depth) for b in reaching(node) or (None,))
    if isinstance(node, s.Subscript):
        one = len(node.indices) == 1 and not isinstance(node.indices[0], s.Slice)
        return one and _are_whole(module, node.value, depth - 1) and is_whole(module, node.indices[0], depth - 1)
    if isinstance(node, s.Call):
        return _gives_whole(module, node, depth)
    if isinstance(node, s.Attribute):
        kinds = module.types(node.value)
        attributes = module.catalogue.names("memory", "size", "attributes", id="numbers")
        if kinds and kinds <= {TENSOR, ARRAY}:
            return node.attribute in attributes
        values = module.values(node) or ()
        return bool(values) and node not in values and _all_whole(module, values, depth)
    return False


def _all_whole(module: Module, nodes: Iterable[s.Expression], depth: int) -> bool:
    return all(is_whole(module, node, depth - 1) for node in nodes)


def _binds_whole(module: Module, binding: Binding | None, depth: int) -> bool:
    """Return whether a binding gives its name an integer: by assignment, or by counting."""
    if binding is None or binding.value is None:
        return False
    if binding.kind in ("for", "comprehension") and isinstance(binding.value, s.Call):
        called = module.callee(binding.value)
        return (called == {"builtins.range"} and not binding.path) or (
            called == {"builtins.enumerate"} and binding.path == (0,)
        )
    value = bound(binding)
    if value is not None:
        return is_whole(module, value, depth - 1)
    return binding.kind == "assign" and len(binding.path) == 1 and _are_whole(module, binding.value, depth - 1)


def _gives_whole(module: Module, call: s.Call, depth: int) -> bool:
    names, table = module.callee(call), module.catalogue
    if not names:
        return False
    if names <= table.names("memory", "size", id="numbers"):
        return True
    given = [a.value for a in call.arguments if not a.star]
    if names == {f"{TENSOR}.size"}:
        return len(given) == len(call.arguments) == 1
    products = names <= table.names("memory", "size", id="products")
    return products and len(given) == len(call.arguments) == 1 and _are_whole(module, given[0], depth - 1)


def _are_whole(module: Module, node: s.Expression, depth: int = _DEPTH) -> bool:
    """Return whether an expression is certainly a sequence of integers: a shape, or a display of them."""
    if depth == 0:
        return False
    if isinstance(node, s.Collection):
        return node.kind in ("tuple", "list") and all(
            _are_whole(module, each.value, depth - 1)
            if isinstance(each, s.Starred)
            else is_whole(module, each, depth - 1)
            for each in node.elements
        )
    if isinstance(node, s.Attribute) and node.attribute == "shape":
        kinds = module.types(node.value)
        return bool(kinds) and kinds <= {TENSOR, ARRAY}
    if isinstance(node, s.Call) and module.callee(node) and module.callee(node) <= _TUPLES:
        return len(node.arguments) == 1 and _are_whole(module, node.arguments[0].value, depth - 1)
    if isinstance(node, s.Operation) and node.operator == "+":
        return all(_are_whole(module, operand, depth - 1) for operand in node.operands)
    if isinstance(node, s.Subscript):
        sliced = len(node.indices) == 1 and isinstance(node.indices[0], s.Slice)
        return sliced and _are_whole(module, node.value, depth - 1)
    if isinstance(node, s.Name):
        values = module.values(node) or []
        kept = [v for v in values if not (isinstance(v, s.Collection) and v.kind == "list")]  # a list may change
        return bool(values) and len(kept) == len(values) and all(_are_whole(module, v, depth - 1) for v in values)
    return is_shape(module, node, depth)


def is_shape(module: Module, node: s.Expression, depth: int = _DEPTH) -> bool:
    """Return whether an expression is certainly the shape of a tensor, a `torch.Size`."""
    if depth == 0:
        return False
    if module.proven(node) == {_SIZE}:
        return True
    if isinstance(node, s.Attribute) and node.attribute == "shape":
        return module.proven(node.value) - {"builtins.NoneType"} == {TENSOR}
    if isinstance(node, s.Call):
        return module.callee(node) == {_SIZE} or (module.callee(node) == {f"{TENSOR}.size"} and not node.arguments)
    if isinstance(node, s.Operation) and node.operator in ("+", "*"):
        return is_shape(module, node.operands[0], depth - 1)
    if isinstance(node, s.Conditional):
        return is_shape(module, node.body, depth - 1) and is_shape(module, node.orelse, depth - 1)
    if isinstance(node, s.Subscript):
        sliced = len(node.indices) == 1 and isinstance(node.indices[0], s.Slice)
        return sliced and is_shape(module, node.value, depth - 1)
    values = (module.values(node) or ()) if isinstance(node, s.Name) else ()
    return bool(values) and all(is_shape(module, value, depth - 1) for value in values)
