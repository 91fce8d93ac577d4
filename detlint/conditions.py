"""Conditions of the tables of facts on a call's arguments: `mode=bilinear`, `!generator`, `@rank=1` ..."""

from __future__ import annotations

import re
from collections.abc import Iterable

from detlint import syntax as s
from detlint.model import Module
from detlint.resolve import UNKNOWN
from detlint.tensors import index_values, is_integer, rank

_PATTERN = re.compile(r"(?P<not>!)?(?P<name>@?\w+)(?P<operator>!=|>=|=|:)?(?P<values>.*)")


def applies(module: Module, call: s.Call, when: Iterable[str], unless: Iterable[str]) -> bool:
    """Whether all of `when` are known to hold and all of `unless` are known not to."""
    return all(holds(module, call, c) is True for c in when) and all(holds(module, call, c) is False for c in unless)


def holds(module: Module, call: s.Call, condition: str) -> bool | None:
    """Whether a condition holds for `call`; None where that cannot be decided.

    `p=a|b`: p's constant value is one of these, `p!=a`: none of these, `p`: given and not None, `!p`: absent
    or None, `p:Tensor`: a tensor. `@rank=1` and `@rank>=3` speak of the tensor's dimensions, `@float` of its
    element type, `@repeats:p` and `@unique:p` of the values of an index.
    """
    match = _PATTERN.fullmatch(condition)
    if match is None:
        raise ValueError(f"not a condition: {condition!r}")
    name, operator, values = match["name"], match["operator"], match["values"]
    if name.startswith("@"):
        return _about_tensor(module, call, name, operator, values)
    passed = module.argument(call, name)
    if operator == ":":
        if not passed.values:
            return None if passed.given is None else False
        return True if all(module.is_tensor(value) for value in passed.values) else None
    absent = passed.given is False and passed.default is UNKNOWN
    possible = [None] if absent else module.possible(passed)
    if operator is None:
        if possible is not None:
            given = {value is not None for value in possible}
            answer = given.pop() if len(given) == 1 else None
        else:
            answer = True if passed.given else None
        return answer if not match["not"] or answer is None else not answer
    if possible is None:
        return None
    wanted = values.split("|")
    answers = {_spelled(value) in wanted for value in possible}
    if len(answers) != 1:
        return None
    return answers.pop() is (operator == "=")


def _spelled(value: object) -> str:
    """A constant as the tables write it; a tuple of equal elements is that element."""
    if isinstance(value, tuple) and value and all(item == value[0] for item in value):
        value = value[0]
    return str(value)


def _about_tensor(module: Module, call: s.Call, name: str, operator: str | None, values: str) -> bool | None:
    if name in ("@repeats", "@unique"):
        found = [index_values(module, call, value) for value in module.argument(call, values).values]
        kinds = set(found)
        if not kinds or None in kinds:
            return None
        return kinds == {name[1:]} if len(kinds) == 1 else None
    tensor = subject(module, call)
    if name == "@float":
        return tensor is None or not is_integer(module, tensor)
    if name == "@rank":
        found_rank = None if tensor is None else rank(module, tensor)
        if found_rank is None:
            return None
        exact, least = found_rank
        wanted = int(values)
        if operator == ">=":
            return True if least >= wanted else False if exact is not None else None
        return exact == wanted if exact is not None else False if least > wanted else None
    raise ValueError(f"not a condition: {name!r}")


def subject(module: Module, call: s.Call) -> s.Expression | None:
    """The tensor that a call is about: a method's receiver, else the first argument."""
    callee = module.callee(call)
    if isinstance(call.function, s.Attribute) and any(name.startswith("torch.Tensor.") for name in callee):
        return call.function.value
    signature = module.signature(callee)
    if signature:
        passed = module.argument(call, signature[0][0])
        return passed.values[0] if passed.given and passed.values else None
    first = call.arguments[0] if call.arguments else None
    return first.value if first is not None and not first.star and first.keyword is None else None


