"""Sites of order: listings and sets that are sorted, and the epoch that a sampler is told."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.tools.mutants.edits import Site, dropped, replaced
from tests.tools.mutants.units import File, Unit, last

_LISTINGS = {"os.listdir", "os.scandir", "os.walk", "glob.glob", "glob.iglob"}
_LISTING_METHODS = {"iterdir", "rglob", "glob"}
_PASSING_ON = {"list", "tuple", "filter", "map", "enumerate"}
_OF_SETS = {"union", "intersection", "difference"}
_JOINING = (ast.Add, ast.BitOr, ast.BitAnd, ast.Sub)


def sorting(file: File) -> Iterator[Site]:
    """M4: `sorted(...)` and `.sort()` of what has no order of its own."""
    for unit, call, name in file.calls():
        if name == "sorted" and call.args:
            kind = _unordered(file, unit, call.args[0])
            by_key = any(keyword.arg == "key" for keyword in call.keywords)
            if kind and not (by_key and "min" in unit.text(call)):
                new = _unsorted(unit, call.args[0], kind)
                yield Site(unit, call, f"`{unit.text(call)}` -> `{new}`", (kind,), replaced(unit, call, new))
        elif (
            last(name) == "sort" and not call.args and unit.is_statement(call) and isinstance(call.func, ast.Attribute)
        ):
            kind = _unordered(file, unit, call.func.value) if isinstance(call.func.value, ast.Name) else ""
            if kind:
                what = f"drop `{unit.text(call)}`"
                yield Site(unit, call, what, (kind, "sort()"), dropped(unit, unit.statement(call)))


def epochs(file: File) -> Iterator[Site]:
    """M6: `sampler.set_epoch(...)`."""
    for unit, call, name in file.calls():
        if last(name) == "set_epoch" and unit.is_statement(call):
            yield Site(unit, call, f"drop `{unit.text(call)}`", (), dropped(unit, unit.statement(call)))


def _unsorted(unit: Unit, argument: ast.expr, kind: str) -> str:
    """The argument of `sorted` as a list."""
    text = unit.text(argument)
    if kind == "listing" and isinstance(argument, (ast.Call, ast.ListComp)):
        return text
    return f"list{text}" if isinstance(argument, ast.GeneratorExp) and text[0] == "(" else f"list({text})"


def _unordered(file: File, unit: Unit, node: ast.expr, seen: tuple[str, ...] = ()) -> str:
    """`set`, `listing` or `generator` where what an expression gives has no order of its own, else nothing."""
    if isinstance(node, (ast.Set, ast.SetComp)):
        return "set"
    if isinstance(node, ast.Call):
        return _unordered_call(file, unit, node, seen)
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        kind = _unordered(file, unit, node.generators[0].iter, seen)
        return "generator" if kind and isinstance(node, ast.GeneratorExp) else kind
    if isinstance(node, ast.BinOp) and isinstance(node.op, _JOINING):
        return _unordered(file, unit, node.left, seen) or _unordered(file, unit, node.right, seen)
    if isinstance(node, ast.Name) and node.id not in seen:
        assigned = (other for other in ast.walk(unit.scope(node)) if isinstance(other, ast.Assign))
        values = (other.value for other in assigned if any(_is_name(target, node.id) for target in other.targets))
        kinds = (_unordered(file, unit, value, (*seen, node.id)) for value in values)
        return next(filter(None, kinds), "")
    return ""


def _unordered_call(file: File, unit: Unit, node: ast.Call, seen: tuple[str, ...]) -> str:
    name = file.qualified(node.func)
    if name in _LISTINGS:
        return "listing"
    if isinstance(node.func, ast.Attribute) and node.func.attr in _LISTING_METHODS:
        return "generator"
    if name in ("set", "frozenset") or (last(name) in _OF_SETS and name.startswith("set.")):
        return "set"
    if name in _PASSING_ON and node.args:
        return _unordered(file, unit, node.args[-1], seen)
    return ""


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
