"""Edits that have memory filled with zeros where it is allocated."""

from __future__ import annotations

from detlint.editing import edits
from detlint.finding import Edit, Fix
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_ZEROS = {"empty": "zeros", "empty_like": "zeros_like", "new_empty": "new_zeros", "ndarray": "zeros", "Tensor": "zeros"}
_ARRAY = frozenset(("shape", "dtype", "order"))
_DTYPES = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "ShortTensor": "int16",
    "CharTensor": "int8",
    "ByteTensor": "uint8",
    "BoolTensor": "bool",
}


def zeroed(module: Module, call: s.Call) -> Fix | None:
    """The same allocation filled with zeros, or None where no function takes these arguments and fills."""
    function = call.function
    names = module.callee(call)
    if not isinstance(function, s.Attribute) or len(names) != 1 or not module.names(function):
        return None
    library, _, name = next(iter(names)).rpartition(".")
    if name != function.attribute:
        return None
    keywords = {argument.keyword for argument in call.arguments if argument.keyword}
    stars = any(argument.star == "**" for argument in call.arguments)
    old, more = name, ""
    if stars or "prototype" in keywords or (name == "empty" and not keywords.isdisjoint(("memory_format", "names"))):
        return None
    if name == "ndarray" and (not keywords <= _ARRAY or len(call.arguments) - len(keywords) > 2):
        return None
    if library in ("torch", "torch.cuda") and name in _DTYPES:
        if keywords:
            return None
        old = f"{library}.{name}".removeprefix("torch.")
        more = f"dtype={module.source(function).removesuffix(old)}{_DTYPES[name]}"
        more += ', device="cuda"' if library == "torch.cuda" else ""
    elif name not in _ZEROS or (name == "Tensor" and keywords):
        return None
    new = _ZEROS.get(name, "zeros")
    _, end = module.span(function)
    if not module.source(function).endswith(f".{old}"):
        return None
    renamed = Edit(module.at(end - len(old), end), new)
    return edits.fix(f"Allocate with `{new}`", renamed, *([edits.last(module, call, more)] if more else []))
