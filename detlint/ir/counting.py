"""What the text of a file says whatever its values are, counted when it is lowered: who is called, stored, tested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from detlint.ir import nodes as ir
from detlint.ir.attribute_dicts import shown_by
from detlint.ir.counts import Counts

_NAMES = (ir.Global, ir.Local, ir.Captured, ir.Attribute)
_NAME = 60  # characters of a text that may be a name
_LOOKING = ("hasattr", "getattr")
_ASKING = ("isinstance", "issubclass", "super")  # which make nothing of the classes that they are given


def walk(part: Any) -> Iterator[Any]:
    """A part of the representation and all parts in it."""
    stack = [part]
    while stack:
        current = stack.pop()
        if isinstance(current, tuple):
            stack.extend(current)
        elif isinstance(current, Struct):
            yield current
            stack.extend([getattr(current, name) for name in current.__struct_fields__])


def counts(functions: Iterable[ir.Function]) -> Counts:
    """What a file's functions call, use as values, store and are decorated with, by name.

    What a file imports under another name counts as what it is called where it comes from.
    """
    parts = [part for function in functions for part in walk((function.parameters, function.body))]
    imports = [part for part in parts if isinstance(part, ir.ImportNames)]
    aliases = {last(target): name for part in imports for name, target in part.names if target is not None}
    called, used, decorating = Counter[str](), Counter[str](), Counter[str]()
    stored, spelled, counting = set[str](), Counter[str](), set[str]()
    imported: list[tuple[int, str]] = []
    for part in parts:
        if isinstance(part, _NAMES):
            used[aliases.get(part.name, part.name)] += 1
        elif isinstance(part, ir.Call):
            name = aliases.get(last(part.function), last(part.function))
            called[name] += 1
            used[name] -= 1
            stored.update(_named_attribute(name, part))
            spelled.subtract(_looked_for(name, part))
            if name == "update" and isinstance(part.function, ir.Attribute) and shown_by(part.function.value):
                stored.add("")
            if name in _ASKING:
                given = (x.name for x in walk(part.arguments) if isinstance(x, _NAMES))
                used.subtract(aliases.get(each, each) for each in given)
        elif isinstance(part, (ir.DefineClass, ir.Define)):
            decorating.update(map(decorator, part.decorators))
            if isinstance(part, ir.DefineClass):
                used[last(part.target)] -= 1
                bases = (last(argument.value) for argument in part.arguments)
                used.subtract(aliases.get(each, each) for each in bases)
        elif isinstance(part, ir.ImportNames):
            used.subtract(name for name, target in part.names if target is not None)
            imported.append((part.level, part.module))
            imported += [(part.level, f"{part.module}.{name}".lstrip(".")) for name, _ in part.names]
        elif isinstance(part, ir.ImportModule):
            imported.append((0, part.module))
        elif isinstance(part, (ir.Assign, ir.For, ir.WithItem, ir.Clause)):
            targets = part.targets if isinstance(part, ir.Assign) else (part.target,)
            stored.update(x.name for x in walk(targets) if isinstance(x, ir.Attribute))
            shown = (x.key for x in walk(targets) if isinstance(x, ir.Subscript) and shown_by(x.value))
            stored.update(x.value if isinstance(x, ir.Constant) else "" for x in shown)
            if isinstance(part, ir.Assign):
                counting |= _made_of_themselves(part)
        elif isinstance(part, ir.Constant) and part.kind == "str" and _is_name(part.value):
            spelled[part.value] += 1
        elif isinstance(part, ir.Argument):
            spelled[part.keyword] += 1
    if "" in stored:  # any attribute that a text of the file may name
        stored.update(part.value for part in parts if isinstance(part, ir.Constant) and part.value.isidentifier())
    net = {name: count for name, count in used.items() if count}
    store, spell, count = (tuple(sorted(each)) for each in (stored, +spelled, counting))
    return Counts(
        dict(called), net, dict(decorating), store, spell, count, tuple(dict.fromkeys(imported)), assigned(parts)
    )


def _named_attribute(name: str, call: ir.Call) -> tuple[str, ...]:
    """The attribute that a call stores by a name that is written down; "" where it is not, none for other calls."""
    given = [argument.value for argument in call.arguments]
    if name not in ("setattr", "__setattr__") or len(given) < 2:
        return ()
    found = [each.value for each in given[:2] if isinstance(each, ir.Constant) and each.kind == "str"]
    return tuple(found) or ("",)


def _looked_for(name: str, call: ir.Call) -> Iterator[str]:
    """The names of attributes that a call asks for, by which nothing has one."""
    for argument in call.arguments[1:2] if name in _LOOKING else ():
        if isinstance(argument.value, ir.Constant) and argument.value.kind == "str" and _is_name(argument.value.value):
            yield argument.value.value


def _made_of_themselves(part: ir.Assign) -> set[str]:
    """The variables and attributes that an assignment makes of what they were."""
    names = {target.name for target in part.targets if isinstance(target, _NAMES)}
    operations = (each for each in walk(part.value) if isinstance(each, ir.Operation))
    again = any(isinstance(x, _NAMES) and x.name in names for each in operations for x in walk(each.operands))
    return names if again or part.operator != "=" else set()


def option(text: str) -> str:
    """The name by which a namespace has the option of a text."""
    return text.lstrip("-").replace("-", "_")


def _is_name(text: str) -> bool:
    """Whether a text may be the name of an option."""
    return len(text) < _NAME and option(text).isidentifier()


def assigned(parts: Iterable[Any]) -> dict[str, tuple[int, int]]:
    """How often variables of a module, and attributes after a dot, are given None or False, and how often other values.

    What a class binds in its body is an attribute.
    """
    found: dict[str, tuple[int, int]] = {}
    for part in parts:
        names: list[tuple[str, ir.Assign]] = []
        if isinstance(part, ir.Assign):
            names += [(target.name, part) for target in part.targets if isinstance(target, ir.Global)]
            names += [(f".{target.name}", part) for target in part.targets if isinstance(target, ir.Attribute)]
        elif isinstance(part, ir.DefineClass):
            inner = [(target, each) for each in part.body if isinstance(each, ir.Assign) for target in each.targets]
            names += [(f".{target.name}", each) for target, each in inner if isinstance(target, ir.Local)]
        for name, assign in names:
            empty, other = found.get(name, (0, 0))
            found[name] = (empty + 1, other) if is_nothing(assign.value) else (empty, other + 1)
    return found


def is_nothing(expression: ir.Expression) -> bool:
    """Whether an expression is None or False."""
    return isinstance(expression, ir.Constant) and expression.kind in ("None", "False")


_BY_NAME = tuple(map(ir.Global, ("getattr", "setattr", "hasattr")))


def tested(function: ir.Function, inner: Iterable[ir.Function]) -> tuple[str, ...]:
    """The parameters of a function that tests and keys speak of, in its body or in those of functions within it."""
    names = {parameter.name for parameter in function.parameters}
    if not names:
        return ()
    own = {each.name for each in _asked(function.body) if isinstance(each, ir.Local)}
    shared = _asked(tuple(each.body for each in inner))
    own.update(each.name for each in shared if isinstance(each, ir.Captured) and each.owner == function.qualified)
    return tuple(sorted(names & own))


def _asked(body: ir.Statements | tuple[ir.Statements, ...]) -> Iterator[ir.Expression]:
    """What tests speak of, keys, and the names by which attributes are looked up."""
    for part in walk(body):
        if isinstance(part, (ir.If, ir.While, ir.Conditional)):
            yield part.test
        elif isinstance(part, ir.Subscript):
            yield part.key
        elif isinstance(part, ir.Call) and part.function in _BY_NAME:
            yield from (argument.value for argument in part.arguments[1:2])
        elif isinstance(part, ir.Compare) or (isinstance(part, ir.Operation) and part.operator.isalpha()):
            yield from part.operands


def decorator(expression: ir.Expression) -> str:
    """The name of a decorator, or of what makes it."""
    return last(expression.function if isinstance(expression, ir.Call) else expression)


def last(expression: ir.Expression) -> str:
    """The last part of a name."""
    return expression.name if isinstance(expression, _NAMES) else ""
