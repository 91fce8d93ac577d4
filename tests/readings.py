"""The two ways from a text to `syntax` compared: all that either tells of a file, as text."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import fields

from detlint.reading import Spans, cst_tree
from detlint.reading.ast_places import Places
from detlint.reading.ast_spans import AstSpans
from detlint.reading.ast_tree import lower
from detlint.reading.cst_spans import TreeSpans
from detlint.tree import syntax as s
from detlint.tree.scopes import Binding, Scope


def by_libcst(text: str, package: str = "") -> list[str]:
    """What libcst tells of a text, a line for each node, binding and scope. Raises NotPythonError."""
    module = cst_tree.parse(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return told(cst_tree.lower(module, package), TreeSpans(module, text))


def by_ast(text: str, package: str = "") -> list[str]:
    """What the running Python tells of a text. Raises SyntaxError, ValueError, NotPythonError and UnclearError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        places = Places(text)
        return told(lower(ast.parse(text), places, package), AstSpans(places))


def told(file: s.File, spans: Spans) -> list[str]:
    """All that is known of a file: a line for each node, binding and scope."""
    return list(_Told(spans).file(file))


def without_places(lines: list[str]) -> list[str]:
    """What was told, without offsets."""
    return [re.sub(r"\(\d+, \d+\)", "", line) for line in lines]


class _Told:
    def __init__(self, spans: Spans) -> None:
        self._spans = spans
        self._scopes: dict[int, int] = {}

    def file(self, file: s.File) -> Iterator[str]:
        yield from self._node(file)
        yield f"stars {file.stars}"

    def _node(self, root: s.Node) -> Iterator[str]:
        for node in s.walk(root):
            yield self._shown(node)
            if any(child.parent is not node for child in node):
                yield "a child that does not know its parent"
            aside = [getattr(node, name, None) for name in ("annotation", "returns")]
            for each in aside:
                if isinstance(each, s.Node):
                    yield f"aside, below {each.parent and each.parent.order}"
                    yield from self._node(each)
            if isinstance(node, (s.File, s.Function, s.Class, s.Name)):
                yield from self._scope(node.scope)

    def _shown(self, node: s.Node) -> str:
        told = [f"{node.order} {type(node).__name__} {self._spans.of(node)} in {node.around and node.around.order}"]
        for field in fields(node):
            value = getattr(node, field.name)
            if field.name not in ("parent", "around", "order", "origin") and not isinstance(value, (s.Node, Scope)):
                told.append(f"{field.name}={self._value(value)}")
        return " ".join(told)

    def _value(self, value: object) -> str:
        if isinstance(value, s.Node):
            return f"#{value.order}"
        if isinstance(value, (list, tuple)):
            return f"[{', '.join(map(self._value, value))}]"
        return repr(value)

    def _scope(self, scope: Scope | None) -> Iterator[str]:
        if scope is None or id(scope) in self._scopes:
            yield f"scope {self._scopes.get(id(scope))}"
            return
        self._scopes[id(scope)] = len(self._scopes)
        yield f"scope {self._scopes[id(scope)]} {scope.kind} of {scope.owner and scope.owner.order} {scope.outside}"
        yield from self._scope(scope.parent)
        for name, bindings in scope.bindings.items():
            yield from (f"  {name}: {self._binding(binding)}" for binding in bindings)

    def _binding(self, binding: Binding) -> str:
        value = None if binding.value is None else binding.value.order
        rest = (binding.name, binding.kind, value, binding.path, binding.qualified)
        return f"{self._shown(binding.node)} {rest}"
