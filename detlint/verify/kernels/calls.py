"""Which functions of a file can be called without arguments, and lead to a kernel."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def kernel_at(text: str, line: int) -> str:
    """The name of the function with decorators that a line is in, or in whose decorators it is; "" for none.

    Only functions that the file itself binds count: what another one makes has no name to call it by.
    """
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return ""
    functions = [node for node in body if isinstance(node, ast.FunctionDef) and node.decorator_list]
    inside = (node.name for node in functions if node.decorator_list[0].lineno <= line <= (node.end_lineno or 0))
    return next(inside, "")


def callers(text: str, kernel: str) -> list[str]:
    """The names of a file's functions that need no arguments and come to use a kernel, in the order of the text.

    What has a decorator is left out: what it is called with is not known.
    """
    functions = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    used = {name: set(_names(node)) for name, node in functions.items()}
    reaching = {kernel}
    while more := {name for name, names in used.items() if name not in reaching and names & reaching}:
        reaching |= more
    return [name for name, node in functions.items() if name in reaching - {kernel} and _is_free(node)]


def needing(text: str, kernel: str) -> list[str]:
    """The names of a file's functions that use a kernel themselves."""
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return [node.name for node in functions if node.name != kernel and kernel in _names(node)]


def _names(node: ast.AST) -> Iterator[str]:
    return (each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def _is_free(node: ast.FunctionDef) -> bool:
    given = node.args
    needed = len(given.posonlyargs) + len(given.args) - len(given.defaults)
    return needed == 0 and None not in given.kw_defaults and not node.decorator_list
