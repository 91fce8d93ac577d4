"""What the text shows about an index: whether it names an element more than once."""

from __future__ import annotations

from detlint.analysis.values.rounding import counts, is_rounded
from detlint.analysis.values.tensors import listed, makers, method_of, rank, sizes_of
from detlint.semantics.model import Module
from detlint.semantics.values import UNKNOWN, literal
from detlint.tree import syntax as s
from detlint.tree.scopes import bound, reaching

_DEPTH = 6


def index_values(module: Module, index: s.Expression, dim: int | None, depth: int = _DEPTH) -> str | None:
    """Return "unique" or "repeats" where an index's values along `dim` are known to differ or to repeat, else None."""
    if _is_edge(module, index) or counts(module, index):
        return "repeats"
    made = (_kept(module, index) or makers(module, index)) if depth else []
    kinds = {_kind_of_index(module, value, dim, depth, path) for value, path in made}
    return kinds.pop() if len(kinds) == 1 else None


def _kept(module: Module, index: s.Expression) -> list[tuple[s.Expression, tuple[int, ...]]]:
    """Return what the class's methods store in the container, kept in an attribute, of which an index is an item."""
    holder = index.value if isinstance(index, s.Subscript) else None
    klass = module.class_of(index)
    if not isinstance(holder, s.Attribute) or not isinstance(holder.value, s.Name) or klass is None:
        return []
    found: list[tuple[s.Expression, tuple[int, ...]]] = []
    family = module.family(klass)
    for each in module.attributes(holder.attribute):
        item = each.parent
        put = item.parent if isinstance(item, s.Subscript) and item.stored and module.class_of(each) in family else None
        if isinstance(put, s.Assign) and put.value is not None:
            found.append((put.value, ()))
    return found


def _is_edge(module: Module, index: s.Expression) -> bool:
    """Return whether an index is, by its name, a row of a graph's edge list: a node has several edges."""
    edges = listed(module, "edges")
    found = [bound(b) or b.value for b in reaching(index) or ()] if isinstance(index, s.Name) else [index]
    rows = [value.value if isinstance(value, s.Subscript) else value for value in found if value is not index]
    rows += [index.value] if isinstance(index, s.Subscript) else []
    names = [getattr(row, "attribute", getattr(row, "id", None)) for row in rows]
    return bool(names) and all(name in edges for name in names)


def _kind_of_index(
    module: Module, value: s.Expression, dim: int | None, depth: int, path: tuple[int, ...] = ()
) -> str | None:
    if isinstance(value, s.Name):
        return index_values(module, value, dim, depth - 1)
    if isinstance(value, s.Attribute) and value.attribute == "indices" and isinstance(value.value, s.Call):
        return _kind_of_index(module, value.value, dim, depth, (1,))
    if isinstance(value, s.Collection):  # a tuple or list of indices, one for each dimension
        inner = [index_values(module, element, None, depth - 1) for element in value.elements]
        return inner[0] if len(inner) == 1 else None
    if isinstance(value, s.Operation):
        return "repeats" if is_rounded(module, value) else None
    if isinstance(value, s.Subscript):
        if is_rounded(module, value):
            return "repeats"
        new = [i for i, node in enumerate(value.indices) if literal(node) is None]
        if new and dim is not None and (new[0] == dim or (dim == -1 and new[-1] == len(value.indices) - 1)):
            return "unique"  # one element along the dimension
        part = literal(value.indices[0]) if len(value.indices) == 1 else None
        if isinstance(value.value, s.Call) and type(part) is int and not new:
            return _kind_of_index(module, value.value, dim, depth - 1, (part,))
        return "unique" if index_values(module, value.value, dim, depth - 1) == "unique" and not new else None
    if not isinstance(value, s.Call):
        return None
    if is_rounded(module, value, path):
        return "repeats"
    if path == (1,) and module.callee(value) and module.callee(value) <= listed(module, "inverse-second"):
        return "repeats" if literal_argument(module, value, "return_inverse") is True else None
    for kind in ("unique", "repeats"):
        if module.callee(value) and module.callee(value) <= listed(module, f"index-{kind}"):
            one = dim is not None and (_has_size_1(value, dim) or _keeps_one(module, value, dim))
            return "unique" if one else kind
    method, receiver, positional = method_of(module, value)
    if not method and isinstance(value.function, s.Attribute) and not module.callee(value):
        method, receiver = value.function.attribute, value.function.value
    if method == "multinomial":
        replaced = literal_argument(module, value, "replacement")
        return None if replaced is UNKNOWN else "repeats" if replaced else "unique"
    if receiver is None:
        return None
    if method == "unsqueeze":
        at = literal(positional[0]) if positional else None
        if not isinstance(at, int) or dim is None or (at < 0) != (dim < 0):
            return None
        if at == dim:
            return "unique"  # one element along the dimension
        return index_values(module, receiver, dim - 1 if 0 <= at < dim else dim + 1 if dim < at < 0 else dim, depth - 1)
    if method in ("view", "reshape"):
        last = literal(positional[-1]) if positional else None
        return "unique" if last == 1 and dim in (len(positional) - 1, -1) else None
    if method in ("expand", "repeat"):
        own = [method == "expand" and _is_size_of(module, size, receiver, at) for at, size in enumerate(positional)]
        sizes = [-1 if same else literal(size) for same, size in zip(own, positional, strict=True)]
        if dim is None or sizes == [UNKNOWN] or not -len(sizes) <= dim < len(sizes):
            return None
        if sizes[dim] in (-1, 1):
            return index_values(module, receiver, dim, depth - 1) if sizes[dim] == 1 or method == "expand" else None
        return "repeats" if sizes[dim] is not UNKNOWN or method == "expand" else None
    if method in listed(module, "same-values"):
        return index_values(module, receiver, dim, depth - 1)
    return None


def _is_size_of(module: Module, size: s.Expression, tensor: s.Expression, dim: int) -> bool:
    """Return whether a size is that of a tensor along a dimension: `x.size(0)`, `x.shape[0]`."""
    shape = size.value if isinstance(size, s.Subscript) else size.function if isinstance(size, s.Call) else None
    at = size.indices if isinstance(size, s.Subscript) else [a.value for a in getattr(size, "arguments", ())]
    asked = isinstance(shape, s.Attribute) and shape.attribute in ("size", "shape")
    same = asked and isinstance(shape, s.Attribute) and module.source(shape.value) == module.source(tensor)
    return same and len(at) == 1 and literal(at[0]) == dim


def is_one_a_row(module: Module, index: s.Expression, dim: int | None, depth: int = _DEPTH) -> bool:
    """Return whether an index has, or seems to have, one element along `dim`: `i.unsqueeze(-1)` for dimension 1."""
    made = makers(module, index) if depth and dim is not None else []
    return bool(made) and all(dim is not None and _is_one(module, value, dim, depth) for value, _ in made)


def _is_one(module: Module, value: s.Expression, dim: int, depth: int) -> bool:
    if isinstance(value, s.Operation):
        first, *others = value.operands
        return is_one_a_row(module, first, dim, depth - 1) and not any(module.is_tensor(other) for other in others)
    method, receiver, positional = method_of(module, value) if isinstance(value, s.Call) else ("", None, [])
    if receiver is None:
        return False
    if method == "unsqueeze" and positional:
        at = literal(positional[0])
        known = rank(module, receiver)
        return at == dim or (at == -1 and dim == 1 and (known is None or known[1] <= 1))
    if method in ("view", "reshape"):
        sizes = sizes_of(positional)
        return -len(sizes) <= dim < len(sizes) and literal(sizes[dim]) == 1
    return method in listed(module, "same-rank") and is_one_a_row(module, receiver, dim, depth - 1)


def _has_size_1(call: s.Call, dim: int) -> bool:
    """Return whether the call makes a tensor from a display of sizes, with 1 at `dim`."""
    for argument in call.arguments:
        sizes = argument.value
        if isinstance(sizes, s.Collection) and -len(sizes.elements) <= dim < len(sizes.elements):
            return literal(sizes.elements[dim]) == 1
    return False


def _keeps_one(module: Module, call: s.Call, dim: int) -> bool:
    """Return whether a reduction along a dimension, such as `argmax`, leaves it with one element."""
    given = {argument.keyword: literal(argument.value) for argument in call.arguments if argument.keyword}
    positional = method_of(module, call)[2]
    along = literal(positional[0]) if positional else given.get("dim")
    return given.get("keepdim") is True and along == dim


def literal_argument(module: Module, call: s.Call, parameter: str) -> object:
    """Return the one constant that `call` passes for a parameter, or its default; UNKNOWN where there is none."""
    possible = module.possible(module.argument(call, parameter))
    return possible[0] if possible is not None and len(possible) == 1 else UNKNOWN
