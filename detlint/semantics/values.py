"""Values of literals and signatures."""

from __future__ import annotations

import ast
from collections.abc import Collection
from fnmatch import fnmatchcase
from functools import cache

from detlint.tree import syntax as s


class Unknown:
    """The value of an expression that is not a constant."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()


def literal(node: s.Expression) -> object:
    """Return the value of a literal, including displays of literals and negative numbers, else UNKNOWN."""
    if isinstance(node, s.Constant):
        return node.value
    if isinstance(node, s.Collection) and node.kind in ("tuple", "list"):
        items = [literal(element) for element in node.elements]
        return UNKNOWN if UNKNOWN in items else tuple(items)
    if isinstance(node, s.Operation) and node.operator == "-" and len(node.operands) == 1:
        value = literal(node.operands[0])
        return -value if isinstance(value, (int, float)) else UNKNOWN
    return UNKNOWN


def among(word: str, wanted: Collection[str]) -> bool:
    """Return whether a word is in a condition, in which `*` stands for any letters; then case does not count."""
    return word in wanted or any("*" in each and fnmatchcase(word.lower(), each.lower()) for each in wanted)


@cache
def parse_signature(text: str) -> tuple[tuple[str, object, bool], ...]:
    """Return the parameters of a signature of `signatures.toml`: name, default (or UNKNOWN), keyword-only."""
    parsed = ast.parse(f"def f({text}): pass").body[0]
    assert isinstance(parsed, ast.FunctionDef)
    given = parsed.args
    positional = [*given.posonlyargs, *given.args]
    pad = len(positional) - len(given.defaults)
    defaults: list[ast.expr | None] = [*([None] * pad), *given.defaults]
    found = [(a.arg, _default(d), False) for a, d in zip(positional, defaults, strict=True)]
    only = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return (*found, *((a.arg, _default(d), True) for a, d in only))


@cache
def variadic(text: str) -> tuple[str, int]:
    """Return the `*parameter` of a signature of `signatures.toml` and the number of those before it; or ("", 0)."""
    parsed = ast.parse(f"def f({text}): pass").body[0]
    assert isinstance(parsed, ast.FunctionDef)
    given = parsed.args
    return ("", 0) if given.vararg is None else (given.vararg.arg, len(given.posonlyargs) + len(given.args))


def _default(node: ast.expr | None) -> object:
    if node is None:
        return UNKNOWN
    try:
        return ast.literal_eval(node)
    except ValueError:
        return UNKNOWN
