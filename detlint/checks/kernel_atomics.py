"""DET304: atomics in Triton kernels, and in CUDA source that is compiled from a string."""

from __future__ import annotations

import re
from collections.abc import Iterator

from detlint.catalogue import Rule
from detlint.finding import Finding
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield findings for `atomics` of the rule in kernels, and for `functions` in the strings that are compiled."""
    for call in module.calls_to(rule.data["atomics"]):
        if module.within(call, rule.data["decorators"]) and not _is_exact(module, rule, call):
            yield module.finding(rule, call, call=module.short(call.function))
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, rule.data["functions"])) + r")\s*\(([^;{}]*)")
    for call in module.calls_to(rule.data["compilers"]):
        for parameter in rule.data["sources"]:
            values = module.argument(call, parameter).values
            found = next((name for value in values for name in _atomics(module, value, pattern)), None)
            if found is not None:
                yield module.finding(rule, call, call=found)


def _is_exact(module: Module, rule: Rule, call: s.Call) -> bool:
    """Return whether the order cannot show: integers are added or stored, or a value is compared with itself."""
    values = module.argument(call, "val").values
    compared = module.argument(call, "cmp").values
    if compared:
        return bool(values) and literal(values[0]) == literal(compared[0]) and isinstance(literal(values[0]), int)
    return bool(values) and all(_is_integer(module, rule, value) for value in values)


def _is_integer(module: Module, rule: Rule, node: s.Expression, depth: int = 4) -> bool:
    values = module.values(node)
    return bool(values) and depth > 0 and all(_integer_value(module, rule, value, depth - 1) for value in values or ())


def _integer_value(module: Module, rule: Rule, value: s.Expression, depth: int) -> bool:
    if isinstance(value, s.Operation):
        exact = ("<", "<=", ">", ">=", "==", "!=", "&", "|", "not")
        return value.operator in exact or all(_is_integer(module, rule, operand, depth) for operand in value.operands)
    if not isinstance(value, s.Call):
        return type(literal(value)) is int
    if isinstance(value.function, s.Attribute) and value.function.attribute == "to" and value.arguments:
        return bool(module.names(value.arguments[0].value) & set(rule.data["integers"]))
    if module.callee(value) & set(rule.data["keep"]) and value.arguments:
        return _is_integer(module, rule, value.arguments[0].value, depth)
    return bool(module.callee(value) & set(rule.data["counts"]))


def _atomics(module: Module, node: s.Expression, pattern: re.Pattern[str]) -> Iterator[str]:
    """Yield the atomic functions that a source, or any source in a list, calls with more than a literal integer."""
    for value in module.values(node) or ():
        if isinstance(value, s.Collection):
            for element in value.elements:
                yield from _atomics(module, element, pattern)
        text = literal(value)
        if isinstance(text, str):
            code = re.sub(r"//[^\n]*|/\*.*?(?:\*/|\Z)", " ", text, flags=re.DOTALL)
            for match in pattern.finditer(code):
                if not re.search(r"(,\s*-?\d+[uUlL]*\s*\)|\(\s*(unsigned\s+)?(int|long long)\s*\*\s*\))", match[2]):
                    yield match[1]
