"""What the text shows about a tensor: dimensions, integers and device."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from detlint.semantics.index import last_word
from detlint.semantics.infer import TENSOR
from detlint.semantics.model import Module
from detlint.semantics.values import UNKNOWN, literal
from detlint.tree import syntax as s
from detlint.tree.scopes import reaching

_DEPTH = 6
_CPU = ("cpu",)
_REGISTERS = "register_buffer"
Rank = tuple["int | None", int]


def makers(module: Module, node: s.Expression) -> list[tuple[s.Expression, tuple[int, ...]]]:
    """Return what may have made a value, each with the index into it where it was unpacked; empty if not known."""
    values = module.values(node)
    if values is not None:
        return [(value, ()) for value in values]
    found: list[tuple[s.Expression, tuple[int, ...]]] = []
    for binding in (reaching(node) or ()) if isinstance(node, s.Name) else ():
        if binding.kind != "assign" or binding.value is None:
            return []
        if binding.path and isinstance(binding.value, s.Call):
            found.append((binding.value, binding.path))
        else:
            inner = [] if binding.path else makers(module, binding.value)
            if not inner:
                return []
            found += inner
    return found


def every(module: Module, node: s.Expression, judge: Callable[[s.Expression, tuple[int, ...]], bool]) -> bool:
    """Return whether all that may have made a value is known, and `judge` accepts each of it."""
    made = makers(module, node)
    return bool(made) and all(judge(value, path) for value, path in made)


def listed(module: Module, kind: str) -> frozenset[str]:
    """Return one of the lists of `tensors.toml`."""
    return module.catalogue.names("tensors", "kind", id=kind)


def method_of(module: Module, call: s.Call) -> tuple[str, s.Expression | None, list[s.Expression]]:
    """Return the last name of what is called, the tensor that it works on, if any, and the other positional arguments.

    A method, and the function of the same name in `torch` or `torch.nn.functional`, give the same result.
    """
    positional = [a.value for a in call.arguments if a.keyword is None and not a.star]
    names = module.callee(call)
    heads = {name.rpartition(".")[0] for name in names}
    last = {name.rpartition(".")[2] for name in names}
    if heads <= {TENSOR} and isinstance(call.function, s.Attribute):
        return call.function.attribute, call.function.value, positional
    if len(last) == 1 and heads <= {"torch", "torch.nn.functional"}:
        name = last.pop()
        if not names & listed(module, "factory") and positional:
            return name, positional[0], positional[1:]
        return name, None, positional
    return "", None, positional


def registered_buffer(module: Module, node: s.Expression) -> s.Expression | None:
    """Return what an attribute of an object is registered with as a buffer in its class, or None."""
    klass = module.class_of(node)
    if not isinstance(node, s.Attribute) or not isinstance(node.value, s.Name) or klass is None:
        return None
    for call in module.calls_like(words=(_REGISTERS,)):
        given = [argument.value for argument in call.arguments if not argument.star]
        same = len(given) > 1 and literal(given[0]) == node.attribute and module.class_of(call) is klass
        if same and last_word(call.function) == _REGISTERS:
            return given[1]
    return None


# Dimensions


def rank(module: Module, node: s.Expression, depth: int = _DEPTH) -> Rank | None:
    """Return the number of dimensions: exactly (or None), and at least. None where nothing is known."""
    if depth == 0:
        return None
    ranks = [None if path else _rank_of(module, value, depth) for value, path in makers(module, node)]
    known = [found for found in ranks if found is not None]
    if not known or len(known) < len(ranks):
        return None
    exact = {found[0] for found in known}
    return (exact.pop() if len(exact) == 1 else None), min(found[1] for found in known)


def _rank_of(module: Module, value: s.Expression, depth: int) -> Rank | None:
    if isinstance(value, s.Operation) and value.operator in ("+", "-", "*", "/", "**", "==", "<", ">", "<=", ">="):
        ranks = [_rank_of_operand(module, operand, depth) for operand in value.operands]
        known = [found for found in ranks if found is not None]
        least = max((found[1] for found in known), default=0)
        if len(known) == len(ranks) and all(found[0] is not None for found in known):
            return least, least
        return (None, least) if least else None
    if not isinstance(value, s.Call) or any(a.star for a in value.arguments):
        return None
    if _is_image(module, value.function, depth):
        return None, 3
    method, receiver, positional = method_of(module, value)
    if method in listed(module, "rank-of-sizes"):
        return _rank_from_sizes(positional)
    if method in listed(module, "rank-1"):
        return 1, 1
    if method in listed(module, "rank-of-list") and positional:
        return _rank_from_list(positional[0])
    if receiver is None:
        return None
    if method in listed(module, "same-rank"):
        return rank(module, receiver, depth - 1)
    dims = [literal(d) for d in positional]
    known_rank = rank(module, receiver, depth - 1)
    if method in ("transpose", "swapaxes"):
        least = max((d + 1 if d >= 0 else -d for d in dims if isinstance(d, int)), default=0)
        return known_rank if known_rank is not None else (None, least)
    if method == "unsqueeze":
        if known_rank is not None:
            return (None if known_rank[0] is None else known_rank[0] + 1), known_rank[1] + 1
        return (None, max(dims[0] + 1, 1)) if dims and isinstance(dims[0], int) else None
    if method == "flatten" and not any(a.keyword for a in value.arguments):
        if not dims:
            return 1, 1
        return (dims[0] + 1, dims[0] + 1) if len(dims) == 1 and isinstance(dims[0], int) and dims[0] >= 0 else None
    return None


def _is_image(module: Module, function: s.Expression, depth: int) -> bool:
    """Return whether a call gives an image or a video: of a function or layer of torch, or of what ends in a layer."""
    names = module.names(function)
    if names and names <= listed(module, "rank-3-or-more"):
        return True
    layers = module.values(function) or []
    return bool(layers) and depth > 0 and all(_gives_image(module, layer, depth) for layer in layers)


def _gives_image(module: Module, layer: s.Expression, depth: int) -> bool:
    if not isinstance(layer, s.Call):
        return False
    if module.callee(layer) == {"torch.nn.Sequential"} and layer.arguments:
        return _is_image(module, layer.arguments[-1].value, depth - 1)
    return _is_image(module, layer.function, depth - 1)


def _rank_of_operand(module: Module, operand: s.Expression, depth: int) -> Rank | None:
    return (0, 0) if isinstance(literal(operand), (int, float)) else rank(module, operand, depth - 1)


def sizes_of(positional: list[s.Expression]) -> list[s.Expression]:
    """Return the sizes or dimensions that a method takes one by one or in one tuple; none where some are unpacked."""
    if len(positional) == 1 and isinstance(positional[0], s.Collection):
        positional = positional[0].elements
    return [] if any(isinstance(size, s.Starred) for size in positional) else positional


def _rank_from_sizes(positional: list[s.Expression]) -> Rank | None:
    sizes = sizes_of(positional)
    if len(positional) == 1 and sizes == positional and not isinstance(literal(positional[0]), int):
        return None  # a size, or a tuple of them
    return (len(sizes), len(sizes)) if sizes else None


def _rank_from_list(value: s.Expression) -> Rank | None:
    if isinstance(value, s.Collection) and value.elements:
        inner = _rank_from_list(value.elements[0])
        return None if inner is None else (None if inner[0] is None else inner[0] + 1, inner[1] + 1)
    return (0, 0) if isinstance(literal(value), (int, float)) else None


# Integers


def is_integer(module: Module, node: s.Expression, depth: int = _DEPTH) -> bool:
    """Return whether a tensor is known to hold integers or bools; False where that is not known."""
    types = module.types(node)
    if types and types <= listed(module, "integer-type"):
        return True
    if not types and isinstance(node, (s.Name, s.Attribute)) and not makers(module, node):
        name = node.id if isinstance(node, s.Name) else node.attribute
        return name.lower().rpartition("_")[2] in listed(module, "integer-word")
    return depth > 0 and every(module, node, lambda value, path: _integer_value(module, value, path, depth))


def _integer_value(module: Module, value: s.Expression, path: tuple[int, ...], depth: int) -> bool:
    if path:
        names = module.callee(value) if isinstance(value, s.Call) and path == (1,) else frozenset()
        return bool(names) and names <= listed(module, "integer-second")
    if isinstance(value, s.Operation):
        if value.operator in ("==", "!=", "<", "<=", ">", ">=", "in", "not"):
            return True
        if value.operator in ("/", "**", "@"):
            return False
        return all(type(literal(o)) is int or is_integer(module, o, depth - 1) for o in value.operands)
    if isinstance(value, s.Subscript):
        return is_integer(module, value.value, depth - 1)
    if not isinstance(value, s.Call):
        return False
    dtype = listed(module, "integer-dtype")
    passed = next((a.value for a in value.arguments if a.keyword == "dtype"), None)
    if passed is not None:
        if isinstance(passed, s.Attribute) and passed.attribute == "dtype" and not module.names(passed):
            return is_integer(module, passed.value, depth - 1)
        return bool(module.names(passed)) and module.names(passed) <= dtype
    names = module.callee(value)
    method, receiver, positional = method_of(module, value)
    if method == "arange" and receiver is None:
        return bool(positional) and not any(isinstance(literal(v), float) for v in positional)
    if method in ("full", "tensor", "as_tensor") and receiver is None:
        values = positional[1:2] if method == "full" else positional[:1]
        return bool(values) and all(_integer_literal(v) for v in values)
    if names and names <= module.catalogue.names("names", "tensor", id="integer"):
        return True
    if method in listed(module, "to-integer"):
        return True
    if method in ("to", "type") and positional:
        if module.names(positional[0]) & dtype:
            return True
        if module.names(positional[0]) & listed(module, "float-dtype"):
            return False
    if method in listed(module, "same-dtype") and receiver is not None:
        return is_integer(module, receiver, depth - 1)
    return False


def _integer_literal(value: s.Expression) -> bool:
    """Return whether a number or nested list is known to have no float in it; calls of `len` and `int` have none."""
    if isinstance(value, s.Collection):
        return bool(value.elements) and all(_integer_literal(element) for element in value.elements)
    found = literal(value)
    if found is UNKNOWN:
        return isinstance(value, s.Call) and isinstance(value.function, s.Name) and value.function.id in ("len", "int")
    return isinstance(found, int)


def is_whole(module: Module, node: s.Expression, depth: int = _DEPTH) -> bool:
    """Return whether a tensor is known to hold whole numbers of any type: sums of a few are exact in any order."""
    if is_integer(module, node):
        return True
    return depth > 0 and every(module, node, lambda value, _: _whole_value(module, value, depth))


def _whole_value(module: Module, value: s.Expression, depth: int) -> bool:
    if isinstance(value, s.Subscript):
        return is_whole(module, value.value, depth - 1)
    if not isinstance(value, s.Call):
        return _is_whole_number(value)
    names = module.callee(value)
    method, receiver, positional = method_of(module, value)
    if method in listed(module, "ones") or (names and names <= listed(module, "counts")):
        return True
    if last_word(value.function) in listed(module, "counting"):
        return True
    if method == "fill_":
        return bool(positional) and _is_whole_number(positional[0])
    convert = method in listed(module, "same-dtype") or method in listed(module, "to-float")
    return receiver is not None and convert and is_whole(module, receiver, depth - 1)


def _is_whole_number(node: s.Expression) -> bool:
    found = literal(node)
    return isinstance(found, int) or (isinstance(found, float) and found.is_integer())


def is_zeros(module: Module, node: s.Expression, depth: int = _DEPTH) -> bool:
    """Return whether a tensor is known to be made of zeros, as a buffer that is added to may be."""
    buffer = registered_buffer(module, node)
    if buffer is not None:
        return is_zeros(module, buffer, depth - 1)
    return depth > 0 and every(module, node, lambda value, _: _zeros_value(module, value, depth))


def _zeros_value(module: Module, value: s.Expression, depth: int) -> bool:
    if not isinstance(value, s.Call):
        return False
    method, receiver, positional = method_of(module, value)
    if method in listed(module, "zeros"):
        return True
    if method in listed(module, "filled"):
        filled = [a.value for a in value.arguments if a.keyword == "fill_value"] or positional[1:]
        return bool(filled) and literal(filled[0]) == 0
    return receiver is not None and method in listed(module, "same-dtype") and is_zeros(module, receiver, depth - 1)


# Device and gradient


def is_on_cpu(module: Module, node: s.Expression, depth: int = _DEPTH) -> bool:
    """Return whether a tensor is known to be in the CPU's memory."""
    return depth > 0 and every(module, node, lambda value, _: _cpu_value(module, value, depth))


def _cpu_value(module: Module, value: s.Expression, depth: int) -> bool:
    if isinstance(value, s.Operation):
        return any(is_on_cpu(module, operand, depth - 1) for operand in value.operands)
    if isinstance(value, (s.Subscript, s.Attribute)):
        return is_on_cpu(module, value.value, depth - 1)
    if not isinstance(value, s.Call) or any(a.star == "**" for a in value.arguments):
        return False
    device = next((a.value for a in value.arguments if a.keyword == "device"), None)
    if device is not None:
        return _is_cpu_device(module, device)
    if module.callee(value) & listed(module, "parameter"):
        return False  # moves with its module
    method, receiver, positional = method_of(module, value)
    if method == "cpu" or (isinstance(value.function, s.Attribute) and value.function.attribute == "cpu"):
        return True
    if method in ("cuda", "xpu"):
        return False
    if method == "to" and positional and not module.names(positional[0]) & listed(module, "dtype"):
        return _is_cpu_device(module, positional[0])
    if module.callee(value) & listed(module, "factory"):
        moved = next(module.calls_to(listed(module, "default-device")), None) is not None
        return not moved and not module.within(value, listed(module, "device-context"))
    return any(is_on_cpu(module, node, depth - 1) for node in tensors(receiver, positional))


def _is_cpu_device(module: Module, node: s.Expression) -> bool:
    constants = module.constants(node)
    if constants is not None:
        return all(constant in _CPU for constant in constants)
    values = module.values(node) or ()
    calls = [v for v in values if isinstance(v, s.Call) and module.callee(v) == {"torch.device"} and v.arguments]
    return bool(calls) and len(calls) == len(values) and all(literal(c.arguments[0].value) in _CPU for c in calls)


def tensors(receiver: s.Expression | None, positional: list[s.Expression]) -> Iterator[s.Expression]:
    """Yield what a call works on: its receiver and positional arguments, a list's items singly, without constants."""
    for node in ([] if receiver is None else [receiver]) + positional:
        if isinstance(node, s.Collection):
            yield from node.elements
        elif literal(node) is UNKNOWN:
            yield node
