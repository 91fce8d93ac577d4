"""The functions of a file that can be called without arguments and lead to a kernel."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator


def kernel_at(text: str, line: int) -> str:
    """Return the name of the decorated function that contains a line, decorators included; "" if there is none.

    Only functions that the file itself binds count: a function made by another one has no name to call it by.
    """
    try:
        functions = [node for node in _functions(text) if node.decorator_list]
    except SyntaxError:
        return ""
    inside = (node.name for node in functions if node.decorator_list[0].lineno <= line <= (node.end_lineno or 0))
    return next(inside, "")


def callers(text: str, kernel: str) -> list[str]:
    """Return the functions of a file that need no arguments and reach a kernel, by name, in the order of the text.

    Decorated functions are left out: their arguments are unknown.
    """
    used: dict[str, set[str]] = {}
    for node in _bound(ast.parse(text).body):
        used.setdefault(node.name, set()).update(_names(node))
    reaching = {kernel}
    while more := {name for name, names in used.items() if name not in reaching and names & reaching}:
        reaching |= more
    return [node.name for node in _functions(text) if node.name in reaching - {kernel} and _is_free(node)]


def needing(text: str, kernel: str) -> list[str]:
    """Return the names of a file's functions that use a kernel themselves."""
    return [node.name for node in _functions(text) if node.name != kernel and kernel in _names(node)]


def _functions(text: str) -> list[ast.FunctionDef]:
    """Return the functions that a file binds, the last one of each name. Raises SyntaxError."""
    found = {node.name: node for node in _bound(ast.parse(text).body)}
    return [node for node in found.values() if isinstance(node, ast.FunctionDef)]


def _bound(body: Iterable[ast.stmt]) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    """Yield the functions and classes that a file binds, also within `if`, `try` and `with` statements."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            handlers = (each.body for each in getattr(node, "handlers", ()))
            parts = (node.body, getattr(node, "orelse", ()), getattr(node, "finalbody", ()), *handlers)
            yield from _bound(each for part in parts for each in part)


def _names(node: ast.AST) -> Iterator[str]:
    return (each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def _is_free(node: ast.FunctionDef) -> bool:
    given = node.args
    needed = len(given.posonlyargs) + len(given.args) - len(given.defaults)
    return needed == 0 and None not in given.kw_defaults and not node.decorator_list
