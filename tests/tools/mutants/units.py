"""The texts that are mutated: modules and the cells of notebooks, with their trees and the names that imports bind."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

Placed = ast.expr | ast.stmt | ast.keyword
Function = (ast.FunctionDef, ast.AsyncFunctionDef)
Kind = TypeVar("Kind", bound=ast.AST)
_OTHER_LANGUAGE = re.compile(r"(?!%%(time|capture|timeit)\b)%%")


class Unit:
    """The text of a module, or of the cell of a notebook with this number, and its tree."""

    def __init__(self, cell: int | None, text: str, tree: ast.Module) -> None:
        self.cell = cell
        self.tree = tree
        self.data = text.encode()
        self.starts = [0]
        for line in self.data.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.nodes = list(ast.walk(tree))
        self.parents = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    def span(self, node: Placed) -> tuple[int, int]:
        """The bytes of a node: its first one, and the first one behind it."""
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[last_line(node) - 1] + (
            node.end_col_offset or 0
        )

    def text(self, node: Placed) -> str:
        """What is written for a node."""
        start, end = self.span(node)
        return self.data[start:end].decode()

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes that a node is in, innermost first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def scope(self, node: ast.AST) -> ast.AST:
        """The function that a node is in, or the module."""
        return next((each for each in self.around(node) if isinstance(each, (*Function, ast.Module))), self.tree)

    def is_statement(self, call: ast.Call) -> bool:
        """Whether nothing is done with what a call gives."""
        return isinstance(self.parents.get(call), ast.Expr)

    def statement(self, call: ast.Call) -> ast.Expr:
        """The statement that is this call. Raises TypeError where it is part of another one."""
        parent = self.parents[call]
        if not isinstance(parent, ast.Expr):
            raise TypeError("the value of the call is used")
        return parent


class File:
    """A module or a notebook: its units, what its imports bind, and what it defines.

    Raises OSError, KeyError and ValueError (thus UnicodeDecodeError too) for what is none.
    """

    def __init__(self, root: Path, path: Path) -> None:
        self.path = path.relative_to(root).as_posix()
        self.notebook = path.suffix == ".ipynb"
        texts = _cells(path) if self.notebook else [(None, path.read_bytes().decode("utf-8"))]
        self.units = [
            Unit(cell, text, tree)
            for cell, text in texts
            if "\r" not in text and "\f" not in text and (tree := parse(text)) is not None
        ]
        self.names: dict[str, str] = {}
        self.defined: set[str] = set()
        for unit in self.units:
            for node in unit.nodes:
                self._bind(node)

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                self.names[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                self.names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            self.defined.add(node.name)

    def text(self) -> bytes:
        """All that is written in its units."""
        return b"\n".join(unit.data for unit in self.units)

    def qualified(self, node: ast.AST) -> str:
        """The name of what a node stands for, by the imports; it begins with `?` where what has the attribute is no name."""
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            parts.append(self.names.get(node.id, node.id))
        elif parts:
            parts.append("?")
        return ".".join(reversed(parts))

    def walk(self, kind: type[Kind]) -> Iterator[tuple[Unit, Kind]]:
        """All nodes of a kind, unit by unit, the outermost of each first."""
        for unit in self.units:
            for node in unit.nodes:
                if isinstance(node, kind):
                    yield unit, node

    def calls(self) -> Iterator[tuple[Unit, ast.Call, str]]:
        """All calls, with the name of what each one calls."""
        for unit, node in self.walk(ast.Call):
            yield unit, node, self.qualified(node.func)


def last_line(node: Placed) -> int:
    """The number of the last line of a node."""
    return node.end_lineno or node.lineno


def last(name: str) -> str:
    """The last part of a qualified name."""
    return name.rpartition(".")[2]


def is_none(node: ast.expr) -> bool:
    """Whether it is the word None."""
    return isinstance(node, ast.Constant) and node.value is None


def parse(text: str) -> ast.Module | None:
    """The tree of a text, None where it is not Python."""
    try:
        return parsed(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def parsed(text: str) -> ast.Module:
    """The tree of a text. Raises SyntaxError, ValueError or RecursionError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def plain(text: str) -> str | None:
    """The text of a cell with its magics replaced, position by position; None for a cell in another language."""
    if _OTHER_LANGUAGE.match(text.lstrip()):
        return None
    return "\n".join(_without_magic(line) for line in text.split("\n"))


def _without_magic(line: str) -> str:
    body = line.lstrip()
    if not re.match(r"[%!?]", body):
        return line
    length = len(body.encode())
    return line[: len(line) - len(body)] + ("pass" if length >= 4 else "0").ljust(length)


def source_of(cell: dict[str, str | list[str]]) -> str:
    """The text of a cell of a notebook."""
    return "".join(cell["source"])


def _cells(path: Path) -> Sequence[tuple[int, str]]:
    cells = enumerate(json.loads(path.read_bytes())["cells"])
    texts = [(number, plain(source_of(cell))) for number, cell in cells if cell.get("cell_type") == "code"]
    return [(number, text) for number, text in texts if text is not None]
