"""Operators, comparisons and conversions of the project's objects, by the methods of their classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from detlint.facts import facts as f
from detlint.link.state.mappings import may_be_empty
from detlint.link.state.truth import Truth, truth
from detlint.link.state.values import SOME, UNKNOWN, Class, Constant, Entropy, Function, Object, Option, Value, only

if TYPE_CHECKING:
    from detlint.link.language.attributes import Attributes as Run
else:
    Run = Any

_ARITHMETIC = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
_UNARY = {"-": "__neg__", "~": "__invert__", "+": "__pos__"}
_COMPARED = {
    "==": ("__eq__", "__eq__"), "!=": ("__ne__", "__ne__"), "<": ("__lt__", "__gt__"), "<=": ("__le__", "__ge__"),
    ">": ("__gt__", "__lt__"), ">=": ("__ge__", "__le__"),
}  # fmt: skip
_SETTLED = (Constant, Option, Entropy)  # what a number or a text may be
_SHOWN = f.Computed((), "builtins.str")
_Method = tuple[int, str]  # the index of the operand with a method, and the method's name


def has_own(values: Iterable[Value]) -> bool:
    """Return whether any of some values may be an object of a class of the project."""
    for value in values:  # a generator expression would cost more than the test
        for atom in value:
            if type(atom) is Object and type(atom.kind) is Class:
                return True
    return False


def computed(run: Run, node: f.Computed, values: Sequence[Value]) -> Value | None:
    """Return the result of an operator or a conversion by a method of its operands; None if they have none."""
    operation = node.operation
    if operation in f.ASKING:
        found = called(run, [(0, name) for name in f.ASKING[operation]], values)
        return found if found is None or all(type(atom) in _SETTLED for atom in found) else SOME
    if len(values) == 1:
        methods = [(0, _UNARY[operation])] if operation in _UNARY else []
    else:
        name = _ARITHMETIC.get(operation.removesuffix("="), "")
        in_place = [(0, f"__i{name}__")] if operation.endswith("=") else []
        methods = [*in_place, (0, f"__{name}__"), (1, f"__r{name}__")] if name else []
    return called(run, methods, values)


def shown(run: Run, value: Value) -> Value:
    """Return a value as an f-string formats it."""
    found = computed(run, _SHOWN, [value]) if has_own((value,)) else None
    return value if found is None else found


def compared(run: Run, operator: str, values: Sequence[Value]) -> Truth | None:
    """Return the outcome of a comparison by a method of its operands; None if they have none."""
    if operator in ("in", "not in"):
        found = called(run, [(1, "__contains__")], values)
        answer = None if found is None else truth(found)
        return ~answer if answer is not None and operator == "not in" else answer
    names = _COMPARED.get(operator)
    found = None if names is None else called(run, [(0, names[0]), (1, names[1])], values)
    if found is None and operator == "!=":
        answer = compared(run, "==", values)
        return None if answer is None else ~answer
    return None if found is None else truth(found)


def told(run: Run, value: Value) -> Truth:
    """Return the truth of a value, by the `__bool__` of its object if there is one."""
    found = called(run, [(0, "__bool__")], [value]) if has_own((value,)) else None
    if found is not None:
        return truth(found)
    open_ = [atom for atom in value if run.is_container(atom) and may_be_empty(run.program.objects, atom)]
    return truth((value - set(open_)) | UNKNOWN if open_ else value)


def called(run: Run, methods: Iterable[_Method], values: Sequence[Value]) -> Value | None:
    """Call the first of some methods that a known operand has, and return its result; None if there is none."""
    if run.state is None:
        return None
    for number, name in methods:
        atom = only(values[number])
        if isinstance(atom, Object) and isinstance(atom.kind, Class):
            known = run.program.objects.attribute(atom, name) or frozenset()
            own = frozenset(a for a in known if isinstance(a, Function))
            if own:
                rest = [value for index, value in enumerate(values) if index != number]
                return run.call_value(run.bound(own, atom), rest, {}, run.place_of(own))
    return None
