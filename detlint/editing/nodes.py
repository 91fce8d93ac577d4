"""The code that edits write: libcst nodes, parsed from templates, with nodes of a file in their places."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import libcst as cst

_PLACE = re.compile(r"\{(\w+)\}")
_MARK = "detlint_place_"
_ATOMS = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.BaseNumber, cst.BaseString, cst.List, cst.Set, cst.Dict)
_OPEN = (cst.Tuple, cst.GeneratorExp, cst.NamedExpr, cst.Yield)  # would take in the arguments that follow


def expression(text: str) -> cst.BaseExpression:
    """Parse an expression, which may span lines as in brackets. Raises libcst.ParserSyntaxError."""
    node = cst.parse_expression(f"({text})")
    return node.with_changes(lpar=node.lpar[1:], rpar=node.rpar[:-1])


def filled(template: str, parts: Mapping[str, cst.BaseExpression]) -> cst.BaseExpression:
    """Parse a template and put expressions in the places of its `{names}`, in parentheses where needed."""
    node = expression(_marked(template, parts)).visit(_Filling(parts))
    assert isinstance(node, cst.BaseExpression)
    return node


def statement(template: str, parts: Mapping[str, cst.BaseExpression]) -> cst.BaseStatement:
    """Parse a template of a statement, as `filled` does."""
    node = cst.parse_statement(_marked(template, parts)).visit(_Filling(parts))
    assert isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
    return node


def printed(node: cst.CSTNode, newline: str = "\n", indent: str = "    ") -> str:
    """Print a node, with the newline of the text that it was parsed from, and blocks indented by `indent`."""
    return cst.Module([], default_newline=newline, default_indent=indent).code_for_node(node)


def _marked(template: str, parts: Mapping[str, cst.BaseExpression]) -> str:
    """Return a template whose places are names; braces around anything but a part stay."""
    return _PLACE.sub(lambda place: f"{_MARK}{place[1]}" if place[1] in parts else place[0], template)


def around(
    template: str, name: str, inner: cst.BaseExpression, parts: Mapping[str, cst.BaseExpression]
) -> tuple[str, str]:
    """Print what a template has before and after the place `{name}`, which `inner` is to take."""
    mark = cst.Name(f"{_MARK}{name}_")
    # an `inner` that needs parentheses is replaced by a stand-in that needs them too
    stand_in = mark if is_atom(inner) else cst.UnaryOperation(cst.Not(), mark)
    text = printed(filled(template, {**parts, name: stand_in}))
    before, _, after = text.partition(printed(stand_in))
    return before, after


class _Filling(cst.CSTTransformer):
    """A transformer that puts expressions in places, in parentheses except for arguments and whole expressions."""

    def __init__(self, parts: Mapping[str, cst.BaseExpression]) -> None:
        super().__init__()
        self._parts = parts
        self._bare: list[cst.CSTNode] = []

    def visit_Arg(self, node: cst.Arg) -> None:  # noqa: N802
        self._bare.append(node.value)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:  # noqa: N802
        name = original_node.value.removeprefix(_MARK)
        if name == original_node.value or name not in self._parts:
            return updated_node
        part = self._parts[name]
        bare = any(node is original_node for node in self._bare) and not isinstance(part, _OPEN)
        return part if bare or is_atom(part) else parenthesised(part)


def is_atom(node: cst.BaseExpression) -> bool:
    """Return whether an expression never needs parentheses."""
    return bool(node.lpar) or isinstance(node, _ATOMS)


def parenthesised(node: cst.BaseExpression) -> cst.BaseExpression:
    """Put parentheses around an expression."""
    return node.with_changes(lpar=[cst.LeftParen(), *node.lpar], rpar=[*node.rpar, cst.RightParen()])


def arguments(template: str, parts: Mapping[str, cst.BaseExpression]) -> Sequence[cst.Arg]:
    """Parse a template of arguments of a call."""
    call = filled(f"call({template})", parts)
    assert isinstance(call, cst.Call)
    return call.args
