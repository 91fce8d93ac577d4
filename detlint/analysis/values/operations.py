"""What a device can be asked about a finding: the row that describes its call, and the call's literals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from detlint.analysis.values.conditions import subject
from detlint.analysis.values.element_types import element_type
from detlint.analysis.values.tensors import is_zeros, listed, makers, method_of
from detlint.catalogue import Row
from detlint.finding import Operation
from detlint.semantics.model import Module, Passed
from detlint.semantics.values import UNKNOWN, literal, variadic
from detlint.tree import syntax as s

_DEPTH = 6
_SIZES = ("size", "shape")
_DTYPE = "dtype"
_VALUES = "@values."
_LONGEST = 1024  # numbers


def operation(module: Module, call: s.Call, row: Row, raising: bool = False) -> Operation:
    """Return what `row` says of `call`, to be measured; with `raising`, whether the deterministic mode refuses it.

    The arguments are those with exactly one known value, sorted by parameter, as `repr` writes a number, string, bool,
    None or tuple of these (a list counts as a tuple). A dtype is the bare name that torch and numpy share, as in
    'float16'; where no argument says it, it is that of the tensor that the call is about. "@shape" is the shape of that
    tensor, "@zeros" says that it is made of zeros, and "@values.index" holds the numbers in the text that the tensor
    passed for `index` is made of. For a row about calls of an object, the arguments of its constructor are included.
    `called` is a name of the row.
    """
    made = module.constructors(call) if row.text("called") else [call]
    names = frozenset(name for one in made for name in module.callee(one))
    arguments = _in_common([_literals(module, one) for one in made])
    defaults = _in_common([_defaults(module, one) for one in made])
    if call not in made:
        arguments |= _literals(module, call)
        defaults |= _defaults(module, call)
    tensor = subject(module, call)
    sizes = None if tensor is None else shape(module, tensor)
    if sizes is not None:
        arguments["@shape"] = repr(sizes)
    if tensor is not None and (kind := element_type(module, tensor)):
        arguments.setdefault(_DTYPE, repr(kind))
    if tensor is not None and is_zeros(module, tensor):
        arguments["@zeros"] = repr(True)
    spoken_of = {name for key in ("names", "calls", "compilers") for name in row.list(key)}
    called = next(iter(names)) if len(names) == 1 and names <= spoken_of else ""
    left = {name: text for name, text in defaults.items() if name not in arguments}
    return Operation(row.id, called, tuple(sorted(arguments.items())), raising, tuple(sorted(left.items())))


# Arguments


def _in_common(forms: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the arguments that all calls pass with the same value."""
    given = [set(form.items()) for form in forms]
    return dict(set.intersection(*given)) if given else {}


def _literals(module: Module, call: s.Call) -> dict[str, str]:
    """Return the arguments of one call whose values are known, by parameter."""
    names = module.callee(call)
    parameters = [name for name, _, _ in module.signature(names)]
    keywords = [argument.keyword for argument in call.arguments if argument.keyword is not None]
    found = {name: _text(module, name, module.argument(call, name)) for name in (*parameters, *keywords)}
    found |= {f"{_VALUES}{name}": _numbers(module, module.argument(call, name)) for name in found}
    sizes = _one_by_one(module, call, names)
    return {name: text for name, text in (found | sizes).items() if text is not None}


def _numbers(module: Module, passed: Passed) -> str | None:
    """Return the numbers of a one-dimensional tensor that is certainly made of a list in the text, or None."""
    made = makers(module, passed.values[0]) if passed.given is True and len(passed.values) == 1 else []
    value, path = made[0] if len(made) == 1 else (None, ())
    if not isinstance(value, s.Call) or path:
        return None
    method, receiver, positional = method_of(module, value)
    if receiver is not None or method not in listed(module, "rank-of-list") or not positional:
        return None
    held = _constant(module, positional[0])
    whole = isinstance(held, tuple) and 0 < len(held) <= _LONGEST and all(type(each) is int for each in held)
    return repr(held) if whole else None


def _defaults(module: Module, call: s.Call) -> dict[str, str]:
    """Return the parameters that a call certainly leaves at their defaults, with these defaults."""
    parameters = {name: module.argument(call, name) for name, _, _ in module.signature(module.callee(call))}
    left = {name: passed.default for name, passed in parameters.items() if passed.given is False}
    return {name: repr(default) for name, default in left.items() if _is_plain(default)}


def _text(module: Module, parameter: str, passed: Passed) -> str | None:
    """Return the one value that is certainly passed, as Python writes it, or None."""
    if passed.given is not True or len(passed.values) != 1:
        return None
    expression = passed.values[0]
    name = module.name(expression) if parameter == _DTYPE else None
    if name is not None:
        rows = module.catalogue.rows("tensors", "dtype")
        return next((repr(row.id) for row in rows if name in row.list("names")), None)
    value = _constant(module, expression)
    return None if value is UNKNOWN else repr(value)


def _one_by_one(module: Module, call: s.Call, names: Iterable[str]) -> dict[str, str]:
    """Return the arguments that a function takes one by one or as one tuple, such as sizes, under their common name."""
    texts = [module.catalogue.signatures.get(name, "") for name in sorted(names)]
    parameter, place = next((variadic(text) for text in texts if text), ("", 0))
    given = [argument.value for argument in call.arguments if argument.keyword is None and not argument.star]
    if not parameter or len(given) <= place or any(argument.star == "*" for argument in call.arguments):
        return {}
    values = [_constant(module, each) for each in given[place:]]
    if UNKNOWN in values:
        return {}
    return {parameter: repr(values[0] if len(values) == 1 and isinstance(values[0], tuple) else tuple(values))}


def _constant(module: Module, expression: s.Expression, depth: int = _DEPTH) -> object:
    """Return the one constant that an expression is; UNKNOWN where it may be another, or `repr` does not restore it."""
    values = module.values(expression) or [] if depth else []
    found = {repr(value): value for value in (_value(module, each, depth) for each in values)}
    return found.popitem()[1] if len(found) == 1 else UNKNOWN


def _value(module: Module, node: s.Expression, depth: int) -> object:
    if isinstance(node, s.Collection) and node.kind in ("tuple", "list"):
        items = tuple(_constant(module, element, depth - 1) for element in node.elements)
        return UNKNOWN if UNKNOWN in items else items
    value = literal(node)
    return value if _is_plain(value) else UNKNOWN


def _is_plain(value: object) -> bool:
    """Return whether any Python reads the `repr` of a value back as the same value."""
    return value is None or isinstance(value, (int, str)) or (isinstance(value, float) and math.isfinite(value))


# Shapes


def shape(module: Module, tensor: s.Expression, depth: int = _DEPTH) -> tuple[int, ...] | None:
    """Return the shape of a tensor that was made with sizes that are numbers in the text, or None if not known."""
    made = makers(module, tensor) if depth else []
    found = {None if path else _shape_of(module, value, depth) for value, path in made}
    return found.pop() if len(found) == 1 else None


def _shape_of(module: Module, value: s.Expression, depth: int) -> tuple[int, ...] | None:
    if not isinstance(value, s.Call) or any(argument.star == "*" for argument in value.arguments):
        return None
    names = module.callee(value)
    if names and names <= listed(module, "parameter") and value.arguments:
        return shape(module, value.arguments[0].value, depth - 1)
    method, receiver, positional = method_of(module, value)
    named = [argument.value for argument in value.arguments if argument.keyword in _SIZES]
    if method in listed(module, "sizes"):
        return _sizes(module, named or positional)
    if method in listed(module, "filled"):
        return _sizes(module, named or positional[:1])
    if method == "randint":
        return _sizes(module, named or positional[-1:])
    if receiver is not None and method in listed(module, "same-rank"):
        return shape(module, receiver, depth - 1)
    return None


def _sizes(module: Module, given: list[s.Expression]) -> tuple[int, ...] | None:
    """Return sizes that are passed one by one, or as one tuple; None where one is not known."""
    found = [_constant(module, each) for each in given]
    sizes = found[0] if len(found) == 1 and isinstance(found[0], tuple) else tuple(found)
    numbers = tuple(size for size in sizes if type(size) is int and size >= 0)
    return numbers if given and len(numbers) == len(sizes) else None
