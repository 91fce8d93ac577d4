"""What can be told of a tensor from the text: how many dimensions, whether integer, whether an index repeats."""

from __future__ import annotations

from detlint import syntax as s
from detlint.model import Module
from detlint.resolve import TENSOR, literal

_INTEGER_TYPES = frozenset(
    f"torch.{name}" for name in ("int8", "int16", "int32", "int64", "uint8", "short", "int", "long", "bool")
)


def rank(module: Module, node: s.Expression, depth: int = 6) -> tuple[int | None, int] | None:
    """The number of dimensions: exactly (or None), and at least. None where nothing is known."""
    values = module.values(node)
    if values is None or len(values) != 1 or depth == 0:
        return None
    value = values[0]
    if not isinstance(value, s.Call):
        return None
    names = module.callee(value)
    if len(names) != 1:
        return None
    head, _, method = next(iter(names)).rpartition(".")
    positional = [a.value for a in value.arguments if a.keyword is None and not a.star]
    if any(a.star for a in value.arguments):
        return None
    if head == TENSOR and isinstance(value.function, s.Attribute):
        receiver = value.function.value
    elif head == "torch" and positional:
        receiver, positional = positional[0], positional[1:]
    else:
        return None
    if method in module.catalogue.names("tensors", "rank", id="sizes"):
        sizes = positional if head == TENSOR else [receiver, *positional]
        return _from_sizes(module, sizes)
    if method in module.catalogue.names("tensors", "rank", id="vector"):
        return 1, 1
    if method in ("transpose", "swapaxes"):
        dims = [literal(d) for d in positional]
        known = rank(module, receiver, depth - 1)
        least = max((d + 1 if d >= 0 else -d for d in dims if isinstance(d, int)), default=0)
        return known if known is not None else (None, least)
    if method in module.catalogue.names("tensors", "rank", id="same"):
        return rank(module, receiver, depth - 1)
    if method == "flatten" and not positional and not value.arguments[int(head == "torch") :]:
        return 1, 1
    return None


def _from_sizes(module: Module, sizes: list[s.Expression]) -> tuple[int | None, int] | None:
    if len(sizes) == 1:
        size = sizes[0]
        if isinstance(size, s.Collection) and not any(isinstance(e, s.Starred) for e in size.elements):
            return len(size.elements), len(size.elements)
        if isinstance(literal(size), int):
            return 1, 1
        return None
    if not sizes or any(isinstance(size, s.Starred) for size in sizes):
        return None
    return len(sizes), len(sizes)


def is_integer(module: Module, node: s.Expression, depth: int = 6) -> bool:
    """Whether a tensor is known to hold integers or bools; False where that is not known."""
    values = module.values(node)
    if not values or depth == 0:
        return False
    return all(_integer_value(module, value, depth) for value in values)


def _integer_value(module: Module, value: s.Expression, depth: int) -> bool:
    if isinstance(value, s.Operation):
        if value.operator in ("==", "!=", "<", "<=", ">", ">=", "in", "not"):
            return True
        if value.operator in ("/", "**", "@"):
            return False
        return all(
            isinstance(literal(operand), int) or is_integer(module, operand, depth - 1) for operand in value.operands
        )
    if isinstance(value, s.Subscript):
        return is_integer(module, value.value, depth - 1)
    if not isinstance(value, s.Call):
        return False
    passed = next((a.value for a in value.arguments if a.keyword == "dtype"), None)
    if passed is not None:
        return bool(module.names(passed)) and module.names(passed) <= _INTEGER_TYPES
    names = module.callee(value)
    integer = module.catalogue.names("names", "tensor", id="integer")
    if names and names <= integer:
        if names == {"torch.arange"}:
            return all(not isinstance(literal(a.value), float) for a in value.arguments)
        return True
    function = value.function
    if isinstance(function, s.Attribute):
        if function.attribute in ("to", "type") and value.arguments:
            return bool(module.names(value.arguments[0].value) & _INTEGER_TYPES)
        if function.attribute in ("long", "int", "bool", "short", "byte"):
            return True
        keeps = module.catalogue.names("tensors", "rank", id="same") | module.catalogue.names("tensors", "rank", id="sizes")
        if function.attribute in keeps and not module.names(function.value):
            return is_integer(module, function.value, depth - 1)
    return False


def index_values(module: Module, call: s.Call, index: s.Expression, depth: int = 6) -> str | None:
    """"unique" or "repeats" for an index whose values are known to differ or to repeat; None: not known."""
    values = module.values(index)
    if not values or depth == 0:
        return None
    kinds = {_kind_of_index(module, call, value, depth) for value in values}
    return kinds.pop() if len(kinds) == 1 else None


def _kind_of_index(module: Module, call: s.Call, value: s.Expression, depth: int) -> str | None:
    if isinstance(value, s.Subscript):
        if any(literal(i) is None for i in value.indices):
            return "unique"  # x[:, None]: one element along the new dimension
        inner = index_values(module, call, value.value, depth - 1)
        return inner if inner == "unique" else None
    if not isinstance(value, s.Call):
        return None
    names = module.callee(value)
    for kind in ("unique", "repeats"):
        if names and names <= module.catalogue.names("tensors", "index", id=kind):
            return kind
    function = value.function
    if not isinstance(function, s.Attribute) or not (names <= {f"{TENSOR}.{function.attribute}"}):
        return None
    if function.attribute == "unsqueeze":
        return "unique"  # one element along the new dimension
    if function.attribute in ("view", "reshape"):
        last = value.arguments[-1].value if value.arguments else None
        return "unique" if last is not None and literal(last) == 1 else None
    if function.attribute in ("repeat", "expand", "expand_as", "long", "to", "cuda", "contiguous", "detach"):
        return index_values(module, call, function.value, depth - 1)
    return None


