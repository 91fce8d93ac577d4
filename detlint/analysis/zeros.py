"""Edits that have memory filled with zeros where it is allocated."""

from __future__ import annotations

from detlint.editing import edits
from detlint.finding import Edit, Fix
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_ARRAY = frozenset(("shape", "dtype", "order"))


def zeroed(module: Module, call: s.Call) -> Fix | None:
    """The same allocation filled with zeros, or None where no function takes these arguments and fills."""
    function = call.function
    names = module.callee(call)
    if not isinstance(function, s.Attribute) or len(names) != 1 or not module.names(function):
        return None
    library, _, name = next(iter(names)).rpartition(".")
    if name != function.attribute:
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
    _, end = module.span(function)
    if not module.source(function).endswith(f".{old}"):
        return None
    renamed = Edit(module.at(end - len(old), end), new)
    return edits.fix(f"Allocate with `{new}`", renamed, *([edits.last(module, call, more)] if more else []))
