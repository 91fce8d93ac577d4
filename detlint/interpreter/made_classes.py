"""Classes that calls make: what the text of the call says of them."""

from __future__ import annotations

from detlint.ir import nodes as ir

_PARTS = 3  # of `type(name, bases, attributes)`


def read(name: str, call: ir.Call) -> ir.Class:
    """A class of fields that are listed, or of bases and attributes."""
    given = [argument.value for argument in call.arguments if not argument.keyword]
    if len(given) == _PARTS and isinstance(given[1], ir.Display) and isinstance(given[2], ir.Mapping):
        keys = [key for key, _ in given[2].entries]
        return ir.Class(name, tuple(_texts(keys)), (), len(given[1].elements))
    found = fields(given[1]) if len(given) > 1 else ()
    return ir.Class(name, tuple(each for each, default in found if default), (), 1, tuple(each for each, _ in found))


def is_read(call: ir.Call) -> bool:
    """Whether the text of a call that makes a class says what this has."""
    given = [argument.value for argument in call.arguments if not argument.keyword]
    if any(argument.star for argument in call.arguments) or len(given) < 2:
        return False
    if len(given) == _PARTS and isinstance(given[2], ir.Mapping):
        keys = [key for key, _ in given[2].entries]
        return isinstance(given[1], ir.Display) and len(_texts(keys)) == len(keys)
    return bool(fields(given[1]))


def fields(listed: ir.Expression) -> tuple[tuple[str, ir.Expression | None], ...]:
    """The names of fields, with the defaults that some have; none where one is not known."""
    if isinstance(listed, ir.Constant) and listed.kind == "str":
        return tuple((name, None) for name in listed.value.replace(",", " ").split())
    if not isinstance(listed, ir.Display):
        return ()
    found: list[tuple[str, ir.Expression | None]] = []
    for element in listed.elements:
        parts = element.elements if isinstance(element, ir.Display) else (element,)
        name = parts[0] if parts else None
        if not isinstance(name, ir.Constant) or name.kind != "str":
            return ()
        found.append((name.value, parts[2] if len(parts) >= _PARTS else None))
    return tuple(found)


def _texts(expressions: list[ir.Expression | None]) -> list[str]:
    return [each.value for each in expressions if isinstance(each, ir.Constant) and each.kind == "str"]
