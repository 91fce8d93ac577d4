"""Fixes that fill memory with zeros where it is allocated."""

from __future__ import annotations

from detlint.analysis.training.contexts import named
from detlint.analysis.values.sizes import may_be_no_size
from detlint.catalogue import Row
from detlint.editing import edits
from detlint.finding import Fix, Safety
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_NUMBERS = ("numpy.", "cupy.", "builtins.", "torch.")  # where names of element types come from
_ARRAY = frozenset(("shape", "dtype", "order"))


def zeroed(module: Module, call: s.Call, row: Row) -> Fix | None:
    """Return a fix that allocates with zeros, or None where no function takes these arguments and fills.

    It is unsafe for an array whose elements are not known to be numbers: objects start as None.
    """
    function = call.function
    names = module.callee(call)
    if not isinstance(function, s.Attribute) or len(names) != 1 or not module.names(function):
        return None
    library, _, name = next(iter(names)).rpartition(".")
    if name != function.attribute:
        return None
    if _is_quantised(module, call) or (row.text("kind") == "size" and _differs(module, call)):
        return None
    tables = module.catalogue
    filled = tables.by_name("memory", "zeroed", "allocators")
    dtypes = tables.by_name("tensors", "dtype", "tensor")
    keywords = {argument.keyword for argument in call.arguments if argument.keyword}
    stars = any(argument.star == "**" for argument in call.arguments)
    old, more = name, ""
    if stars or "prototype" in keywords or (name == "empty" and not keywords.isdisjoint(("memory_format", "names"))):
        return None
    if name == "ndarray" and (not keywords <= _ARRAY or len(call.arguments) - len(keywords) > 2):
        return None
    if library in ("torch", "torch.cuda") and name in dtypes:
        if keywords:
            return None
        old = f"{library}.{name}".removeprefix("torch.")
        more = f"dtype={module.source(function).removesuffix(old)}{dtypes[name].id}"
        more += ', device="cuda"' if library == "torch.cuda" else ""
    elif name not in filled or (name == "Tensor" and keywords):
        return None
    new = filled[name].id if name in filled else "zeros"
    if not module.source(function).endswith(f".{old}"):
        return None
    renamed = edits.renamed(module, function, new, also=old.count("."))
    safety = Safety.UNSAFE if row.list("filled_dtypes") and _may_hold_objects(module, call, name) else Safety.SAFE
    changes = [renamed, *([edits.last(module, call, more)] if more else [])]
    return edits.fix(f"Allocate with `{new}`", *changes, safety=safety)


def _differs(module: Module, call: s.Call) -> bool:
    """Return whether `torch.zeros` may differ from an old constructor in more than the zeros.

    Without any size it raises, and it allocates on the default device, which old constructors ignore.
    """
    moved = any(True for _ in module.calls_to(named(module, "default-device")))
    return moved or may_be_no_size(call)


def _is_quantised(module: Module, call: s.Call) -> bool:
    """Return whether a tensor is of a type for which there are no zeros."""
    quantised = module.catalogue.names("memory", "quantised", "dtypes")
    return any(not module.names(value).isdisjoint(quantised) for value in module.argument(call, "dtype").values)


def _may_hold_objects(module: Module, call: s.Call, name: str) -> bool:
    """Return whether the elements of an array are not known to be numbers."""
    passed = module.argument(call, "dtype")
    if passed.given is False:
        return name == "empty_like"
    return not passed.values or not all(_is_number_type(module, value) for value in passed.values)


def _is_number_type(module: Module, node: s.Expression) -> bool:
    constants, names = module.constants(node), module.names(node)
    told = bool(constants) and all(isinstance(constant, str) for constant in constants or ())
    return told or (bool(names) and all(name.startswith(_NUMBERS) for name in names))
