"""The statements of a file: their lines, and what they read, bind and call, as paths that begin with a variable."""

from __future__ import annotations

import ast
import builtins
import linecache
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any, TypeAlias

Path: TypeAlias = "tuple[str, ...]"
"""A variable, then `.NAME` for attributes, `[CONSTANT` (its repr) or `[=NAME` (that variable's value) for items."""

MISSING = object()
_LONGEST = 5
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_STEPS = (ast.Name, ast.Attribute, ast.Subscript)
_PLAIN = (FunctionType, int, float, str, list, tuple, dict, set, frozenset)
_BLOCKS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(slots=True)
class Statement:
    """A statement, or the head of a compound statement; the statements of one line count as one.

    `makes_set` says whether it makes a set, `returns` whether it returns a value. `number` and `count` belong to the
    follower of a program: the statement's number, and how often it began.
    """

    first: int
    last: int
    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()
    calls: tuple[Path, ...] = ()
    makes_set: bool = False
    imports: bool = False
    returns: bool = False
    number: int = -1
    count: int = 0
    names: tuple[str, ...] = field(default=())


def of_file(name: str) -> dict[int, Statement]:
    """Return the statements of a file by line; empty if its text is missing or cannot be parsed."""
    try:
        tree = ast.parse("".join(linecache.getlines(name)))
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[int, Statement] = {}
    for node, last in _heads(tree):
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        made = _read(node, first, last)
        known = found.get(first)
        if known is not None:
            made = _both(known, made)
        for line in range(made.first, made.last + 1):
            found[line] = made
    return found


def text(path: Path) -> str:
    """Return a path as a program spells it."""
    head, *rest = path
    return head + "".join(one if one[0] == "." else f"[{one[2:] if one[1] == '=' else one[1:]}]" for one in rest)


def _heads(tree: ast.AST) -> Iterator[tuple[ast.stmt | ast.excepthandler, int]]:
    """Yield the statements, outer ones first, each with the last line of its own part, before any inner statement."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.excepthandler)):
            body = getattr(node, "body", None) or getattr(node, "cases", None)
            inner = body[0] if isinstance(body, list) and body else None
            start = getattr(inner, "lineno", None) or getattr(getattr(inner, "pattern", None), "lineno", None)
            if start is not None and isinstance(inner, _BLOCKS) and inner.decorator_list:
                start = min(start, inner.decorator_list[0].lineno)
            last = node.end_lineno or node.lineno
            yield node, last if start is None else max(node.lineno, start - 1)


def _both(a: Statement, b: Statement) -> Statement:
    return Statement(
        min(a.first, b.first),
        max(a.last, b.last),
        tuple(dict.fromkeys((*a.reads, *b.reads))),
        tuple(dict.fromkeys((*a.writes, *b.writes))),
        tuple(dict.fromkeys((*a.calls, *b.calls))),
        a.makes_set or b.makes_set,
        a.imports or b.imports,
        a.returns or b.returns,
    )


def _read(node: ast.stmt | ast.excepthandler, first: int, last: int) -> Statement:
    imports, returns = isinstance(node, (ast.Import, ast.ImportFrom)), isinstance(node, ast.Return)
    made = Statement(first, last, imports=imports, returns=returns)
    if isinstance(node, (ast.Global, ast.Nonlocal, ast.Pass, ast.Import, ast.ImportFrom)):
        return made
    parts = list(_own(node))
    inner = {name for part in parts for name in _bound_within(part)}
    reads: list[Path] = []
    for part in parts:
        _gather(part, made, reads, inner)
    changed = isinstance(node, ast.AugAssign)
    reads += [one for one in made.writes if one not in reads and (changed or _is_base(one, made.writes))]
    made.reads = tuple(dict.fromkeys(reads))
    made.writes = tuple(dict.fromkeys(made.writes))
    made.calls = tuple(dict.fromkeys(made.calls))
    return made


def _is_base(path: Path, others: tuple[Path, ...]) -> bool:
    """Return whether an item of what a path leads to is bound: its other items remain."""
    return any(len(one) > len(path) and one[: len(path)] == path and one[len(path)][0] == "[" for one in others)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a statement that are not statements themselves."""
    if isinstance(node, _BLOCKS):
        yield from node.decorator_list
        if not isinstance(node, ast.ClassDef):
            yield from (one for one in (*node.args.defaults, *node.args.kw_defaults) if one is not None)
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.withitem, ast.match_case)):
            yield from _own(child)
        elif not isinstance(child, (ast.stmt, ast.excepthandler)):
            yield child


def _bound_within(node: ast.AST) -> Iterator[str]:
    """Yield the variables of comprehensions and lambdas, which are not variables of the frame."""
    for one in ast.walk(node):
        if isinstance(one, _COMPREHENSIONS):
            for generator in one.generators:
                yield from (name.id for name in ast.walk(generator.target) if isinstance(name, ast.Name))
        elif isinstance(one, ast.Lambda):
            yield from (name.arg for name in (*one.args.args, *one.args.kwonlyargs, *one.args.posonlyargs))


def _gather(node: ast.AST, made: Statement, reads: list[Path], inner: set[str]) -> None:
    if isinstance(node, _STEPS):
        path = _outside(_path(node), inner)
        store = isinstance(node.ctx, ast.Store)
        if path is not None and path[0] not in inner:
            if store:
                made.writes = (*made.writes, path)
            else:
                reads.append(path)
            if isinstance(node, ast.Subscript) and store and len(path) > 1:
                made.writes = (*made.writes, path[:-1])
        if path is None or not isinstance(node, ast.Name):
            for child in ast.iter_child_nodes(node):
                if (
                    path is None
                    or not isinstance(child, (ast.Name, ast.Attribute, ast.Subscript))
                    or _is_index(node, child)
                ):
                    _gather(child, made, reads, inner)
            if path is None and store:  # an item of something that has a path, under an index that has none
                base = _path(node.value) if isinstance(node, (ast.Subscript, ast.Attribute)) else None
                if base is not None and base[0] not in inner:
                    made.writes = (*made.writes, base)
                    reads.append(base)
        return
    if isinstance(node, ast.Call):
        function = _path(node.func)
        if function is not None:  # a method call reads its object
            made.calls = (*made.calls, function)
            if len(function) > 1 and function[0] not in inner:
                reads.append(function[:-1])
            keys = [one.slice for one in ast.walk(node.func) if isinstance(one, ast.Subscript)]
            for child in (*keys, *node.args, *node.keywords):
                _gather(child, made, reads, inner)
            return
        if isinstance(node.func, ast.Attribute):
            made.calls = (*made.calls, ("?", f".{node.func.attr}"))
    if isinstance(node, (ast.Set, ast.SetComp)):
        made.makes_set = True
    if isinstance(node, ast.NamedExpr) and isinstance(node.target, ast.Name):
        made.writes = (*made.writes, (node.target.id,))
    for child in ast.iter_child_nodes(node):
        _gather(child, made, reads, inner)


def _outside(path: Path | None, inner: set[str]) -> Path | None:
    """Return a path up to the first index that is a variable of a comprehension; None for None."""
    if path is None:
        return None
    cut = next((i for i, step in enumerate(path) if step[:2] == "[=" and step[2:] in inner), len(path))
    return path[:cut]


def _is_index(node: ast.AST, child: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and child is node.slice


def _path(node: ast.AST) -> Path | None:
    steps: list[str] = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            steps.append(f".{node.attr}")
            node = node.value
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            steps.append(f"[{node.slice.value!r}")
            node = node.value
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name):
            steps.append(f"[={node.slice.id}")
            node = node.value
        else:
            return None
        if len(steps) > _LONGEST:
            return None
    return (node.id, *reversed(steps))


# Values, found without running any code of the program


def reached(frame: FrameType, path: Path) -> tuple[Path, Any]:
    """Return a path and what it leads to in a frame, shortened to its longest prefix that is known."""
    found = value(frame, path)
    while found is MISSING and len(path) > 1:
        path = path[:-1]
        found = value(frame, path)
    return path, found


def value(frame: FrameType, path: Path) -> Any:
    """Return what a path leads to in a frame; MISSING if that is unknown without running code."""
    found = _variable(frame, path[0])
    for step in path[1:]:
        if found is MISSING:
            return MISSING
        found = _attribute(found, step[1:]) if step[0] == "." else _item(found, _key(frame, step[1:]))
    return found


def _variable(frame: FrameType, name: str) -> Any:
    for names in (frame.f_locals, frame.f_globals):
        if name in names:
            return names[name]
    return vars(builtins).get(name, MISSING)


def _key(frame: FrameType, step: str) -> Any:
    if step[0] == "=":
        found = _variable(frame, step[1:])
        return found if type(found) in (str, int) else MISSING
    try:
        return ast.literal_eval(step)
    except (ValueError, SyntaxError):
        return MISSING


def _item(found: Any, key: Any) -> Any:
    try:
        if isinstance(found, dict):
            return dict.get(found, key, MISSING)
        if type(found) in (list, tuple) and type(key) is int:
            return found[key]
        if type(found).__qualname__ == "_Environ" and isinstance(key, str):
            data = vars(found)["_data"]
            raw = data.get(key.encode(), data.get(key, MISSING))
            return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    except (IndexError, TypeError, KeyError):
        pass
    return MISSING


def _attribute(found: Any, name: str) -> Any:
    if isinstance(found, ModuleType):
        return vars(found).get(name, MISSING)
    try:
        own = object.__getattribute__(found, "__dict__")
    except (AttributeError, TypeError):
        own = {}
    if isinstance(found, type):
        held = next((vars(one)[name] for one in found.__mro__ if name in vars(one)), MISSING)
        return MISSING if type(held).__name__ in ("classmethod", "classmethod_descriptor", "property") else held
    if isinstance(own, dict):
        if name in own:
            return own[name]
        for group in ("_parameters", "_buffers", "_modules"):  # of torch's modules
            held = own.get(group)
            if isinstance(held, dict) and name in held:
                return held[name]
    for one in type(found).__mro__:
        if name in vars(one):
            held = vars(one)[name]
            kind = type(held).__name__
            if kind == "member_descriptor":
                try:
                    return held.__get__(found)
                except AttributeError:
                    return MISSING
            return (
                held
                if isinstance(held, (FunctionType, int, float, str, list, tuple, dict, set, frozenset))
                else MISSING
            )
    return MISSING


def called(frame: FrameType, path: Path) -> str:
    """Return the qualified name of what is called, `?.METHOD` if only that is known, "" if nothing is known."""
    if path[0] == "?":
        return f"?{path[-1]}"
    found = value(frame, path)
    owner = value(frame, path[:-1]) if len(path) > 1 and path[-1][0] == "." else MISSING
    if owner is not MISSING and not isinstance(owner, ModuleType) and (found is MISSING or not isinstance(owner, type)):
        kind = owner if isinstance(owner, type) else type(owner)
        return f"{kind.__module__}.{kind.__qualname__}{path[-1]}"
    if found is MISSING:
        return f"?{path[-1]}" if len(path) > 1 and path[-1][0] == "." else ""
    return qualified(found)


def qualified(function: Any) -> str:
    """Return the name by which tables know a function or class; for any other object, that of its class."""
    if isinstance(function, MethodType):
        held = function.__self__ if isinstance(function.__self__, type) else type(function.__self__)
        return f"{held.__module__}.{held.__qualname__}.{function.__func__.__name__}"
    kind = type(function)
    if not (isinstance(function, type) or kind.__module__ == "builtins" or "function" in kind.__name__.lower()):
        function = kind
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if not isinstance(name, str):
        return ""
    owner, module = getattr(function, "__self__", None), getattr(function, "__module__", None)
    if owner is not None and not isinstance(owner, (ModuleType, type)):
        return f"{type(owner).__module__}.{type(owner).__qualname__}.{getattr(function, '__name__', name)}"
    if not isinstance(module, str) and owner is not None and not isinstance(owner, ModuleType):
        module = (owner if isinstance(owner, type) else type(owner)).__module__
    return f"{module}.{name}" if isinstance(module, str) else name
