"""What an argument holds: the entries of a dict, and what was passed to the call that made an object."""

from __future__ import annotations

from detlint.semantics.model import Module, Passed
from detlint.semantics.values import UNKNOWN, literal
from detlint.tree import syntax as s

_ABSENT = Passed(False, (), None)
_HIDDEN = Passed(None)


def held(module: Module, call: s.Call, name: str) -> list[Passed]:
    """Return the ways a call may pass a parameter, or with `parameter.inner` what that holds; each one counts."""
    parameter, _, inner = name.partition(".")
    passed = module.argument(call, parameter)
    if not inner:
        return [passed]
    if not passed.values:
        absent = passed.given is False and passed.default in (None, UNKNOWN)
        return [_ABSENT if absent else _HIDDEN]
    found = [each for expression in passed.values for each in _within(module, call, expression, inner)]
    return found if passed.given else [*found, _ABSENT]


def _within(module: Module, call: s.Call, expression: s.Expression, name: str) -> list[Passed]:
    """Return the ways in which what an expression passes to a call may hold something named `name`."""
    entries = module.entries(expression, given=call)
    if entries is not None:
        key, _, inner = name.partition(".")
        if key not in entries:
            return [_ABSENT]
        surely = module.always_holds(expression, key)
        if not inner:
            return [Passed(True if surely else None, tuple(entries[key]), None)]
        found = [each for value in entries[key] for each in _within(module, call, value, inner)]
        return found if surely else [*found, _ABSENT]
    found = []
    for value in module.values(expression) or [expression]:
        if isinstance(value, s.Call) and _shows(module, value, name.partition(".")[0]):
            found += held(module, value, name)
        else:
            found.append(_ABSENT if literal(value) is None else _HIDDEN)
    return found


def _shows(module: Module, made: s.Call, name: str) -> bool:
    """Return whether a call makes an object of a library that keeps what was passed for a parameter."""
    callee = module.callee(made)
    named = any(argument.keyword == name for argument in made.arguments)
    given = named or any(parameter == name for parameter, _, _ in module.signature(callee))
    signed = module.catalogue.signatures.keys()
    known = bool(callee) and all(each in signed or each.rpartition(".")[2][:1].isupper() for each in callee)
    own = not callee.isdisjoint(module.classes)
    return known and given and not own and not any(node.stored for node in module.attributes(name))
