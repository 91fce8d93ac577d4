"""The element type of a tensor, where the text shows it."""

from __future__ import annotations

from detlint.analysis.values.tensors import listed, makers, method_of
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_DEPTH = 6


def element_type(module: Module, node: s.Expression, depth: int = _DEPTH) -> str:
    """Return the type's name as in `tensors.toml`, such as "int32"; "" where it is not known.

    Floating-point numbers of unknown type count as "float32", torch's default.
    """
    if depth == 0:
        return ""
    found = {"" if path else _of(module, value, depth) for value, path in makers(module, node)}
    return found.pop() if len(found) == 1 else ""


def _of(module: Module, value: s.Expression, depth: int) -> str:
    if isinstance(value, s.Operation):
        kinds = {element_type(module, operand, depth - 1) for operand in value.operands}
        arithmetic = value.operator in ("+", "-", "*", "/", "**")
        return next((kind for kind in sorted(kinds) if arithmetic and "float" in kind), "")
    if isinstance(value, s.Subscript):
        return element_type(module, value.value, depth - 1)
    if not isinstance(value, s.Call):
        return ""
    passed = next((a.value for a in value.arguments if a.keyword == "dtype"), None)
    if passed is not None:
        return _named(module, module.names(passed))
    if module.callee(value) and module.callee(value) <= listed(module, "same-tensor") and value.arguments:
        return element_type(module, value.arguments[0].value, depth - 1)
    method, receiver, positional = method_of(module, value)
    if method in ("to", "type") and positional and (told := _named(module, module.names(positional[0]))):
        return told
    if receiver is not None and not positional and (told := _named(module, frozenset({f"torch.{method}"}))):
        return told
    if method in listed(module, "floating"):
        return "float32"
    if method in listed(module, "same-dtype") and receiver is not None:
        return element_type(module, receiver, depth - 1)
    made = {name.rpartition(".")[2] for name in module.callee(value)}
    rows = module.catalogue.rows("tensors", "dtype")
    return next((row.id for row in rows if made == {row.text("tensor")}), "")


def _named(module: Module, names: frozenset[str]) -> str:
    """Return the type that a name stands for where a type is expected, or ""."""
    rows = module.catalogue.rows("tensors", "dtype")
    return next((row.id for row in rows if names and names <= row.set("names")), "")
