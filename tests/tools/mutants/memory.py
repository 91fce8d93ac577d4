"""Sites of memory: zeros that are added to, or of which a part is written."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.tools.mutants.edits import Edit, Site
from tests.tools.mutants.seeding import inside
from tests.tools.mutants.units import File, Unit, last_line

_EMPTY = {
    "torch.zeros": "empty",
    "torch.zeros_like": "empty_like",
    "numpy.zeros": "empty",
    "numpy.zeros_like": "empty_like",
}
_ADDING = ("index_add_", "scatter_add_", "add_", "index_add", "scatter_add")
_WRITING = ("scatter_", "masked_scatter_", "index_copy_", "index_fill_", "masked_fill_")


def zeros(file: File) -> Iterator[Site]:
    """M9: zeros of a variable that is not written as a whole before it is used."""
    for unit, node in file.walk(ast.Assign):
        made = inside(node.value, ("to", "cuda", "float", "long"))
        target = node.targets[0]
        if not isinstance(made, ast.Call) or len(node.targets) != 1 or not isinstance(target, ast.Name):
            continue
        if not isinstance(made.func, ast.Attribute):
            continue
        new = _EMPTY.get(file.qualified(made.func)) or ("new_empty" if made.func.attr == "new_zeros" else "")
        uses = set(_uses(unit, node, target.id)) if new else set()
        if uses and "written-all" not in uses:
            end = unit.span(made.func)[1]
            edit = Edit(unit.cell, end - len(made.func.attr), end, new)
            what = f"`{unit.text(made.func)}` -> `{new}`, {target.id}"
            yield Site(unit, node, what, tuple(sorted(uses)), (edit,))


def _uses(unit: Unit, made: ast.Assign, name: str) -> Iterator[str]:
    """What is done with a variable below the place where it is made."""
    for node in ast.walk(unit.scope(made)):
        if getattr(node, "lineno", 0) <= last_line(made):
            continue
        if isinstance(node, ast.AugAssign):
            if _is_name(node.target, name):
                yield "added-whole"
            elif isinstance(node.target, ast.Subscript) and _is_name(node.target.value, name):
                yield "added-part"
        elif isinstance(node, ast.Assign):
            yield from _assigned(unit, node, name)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_name(node.func.value, name):
            if node.func.attr in _ADDING:
                yield "added-method"
            elif node.func.attr in _WRITING:
                yield "written-method"


def _assigned(unit: Unit, node: ast.Assign, name: str) -> Iterator[str]:
    for target in node.targets:
        if isinstance(target, ast.Subscript) and _is_name(target.value, name):
            yield "written-all" if unit.text(target.slice) in (":", "...") else "written-part"
        elif _is_name(target, name) and isinstance(node.value, ast.BinOp) and _is_name(node.value.left, name):
            yield "added-whole"


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
