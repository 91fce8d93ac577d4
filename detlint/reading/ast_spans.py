"""The spans of nodes lowered from Python's own `ast`, as libcst counts them, computed on demand.

libcst excludes a node's own parentheses, also those of a tuple and a generator, but includes them in an argument and in
an item of a `with`. A compound statement ends where its last simple statement ends, before a semicolon.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from detlint.reading.ast_places import Places
from detlint.tree import syntax as s

_WITH = re.compile(r"(?:async(?:[ \t\f]|\\(?:\r\n|\r|\n))+)?with")
_CASE = re.compile(r"[ \t\f]*(case)\b")
_AS_THEY_ARE = frozenset((s.Call, s.Attribute, s.Subscript, s.Dictionary))  # most lookups are about these
_OPENED = re.compile(r"(?:[\s\\(]|#[^\r\n]*)*")


class AstSpans:
    """The spans of one file.

    The origin of a node is a node of `ast`, the list of a block's statements, or the span itself.
    """

    def __init__(self, places: Places) -> None:
        self._places = places

    def of(self, node: s.Node) -> tuple[int, int]:
        """Return the start and end of a node, without its own parentheses and surrounding space."""
        origin = node.origin
        if type(node) in _AS_THEY_ARE:
            return self._places.of(origin)
        if isinstance(origin, tuple):
            return self._from_tuple(origin)
        if isinstance(origin, list):
            return self._places.start(origin[0]), self._end(origin[-1])
        if isinstance(origin, ast.Module):
            return 0, len(self._places.text)
        if isinstance(node, s.Parameter):
            return self._parameter(node)
        if isinstance(node, s.Argument):
            return self._argument(node)
        if isinstance(node, s.WithItem):
            return self._item(node)
        if isinstance(node, s.Clause):
            return self._clause(node)
        return self._own(node, origin)

    def _from_tuple(self, origin: Any) -> tuple[int, int]:
        """Return the span that the origin is, or the span of an `and` or `or` up to one of its values."""
        start, end = origin
        if isinstance(start, int):
            return start, end
        return self._places.start(start), self._places.closed(self._places.end(end))

    def _own(self, node: s.Node, origin: Any) -> tuple[int, int]:
        places = self._places
        if isinstance(origin, ast.Tuple):
            return self._tuple(origin)
        if isinstance(origin, ast.GeneratorExp):
            return self._generator(origin)
        if isinstance(origin, ast.Slice):
            end = places.end(origin)
            return places.start(origin), places.skip(end) if places.text[end - 1] == ":" else end
        if isinstance(origin, ast.ExceptHandler) and isinstance(node, s.Name):
            start = places.skip(places.skip(places.closed(places.end(origin.type))) + len("as"))
            return start, start + len(node.id)
        if isinstance(origin, ast.match_case):
            return self._case(origin)
        if isinstance(origin, ast.Delete) and isinstance(node, s.Collection):
            return places.skip(places.start(origin) + len("del")), places.end(origin)
        return places.start(origin), self._end(origin) if isinstance(origin, ast.stmt) else places.end(origin)

    def _end(self, node: Any) -> int:
        """Return where a statement ends: for a compound one, the end of the last simple statement in it."""
        while True:
            inner = [getattr(node, name, None) for name in ("finalbody", "orelse", "handlers", "cases", "body")]
            block = next((block for block in inner if block), None)
            if block is None:
                return self._places.end(node)
            node = block[-1]

    def _tuple(self, origin: ast.Tuple) -> tuple[int, int]:
        places = self._places
        start, end = places.of(origin)
        if not places.is_parenthesised(origin):
            return start, end
        if not origin.elts:
            return end - 1, end - 1
        return places.skip(start + 1), places.last(places.end(origin.elts[-1]), end - 1)

    # Comprehensions

    def _generator(self, origin: Any) -> tuple[int, int]:
        return self._places.skip(self._places.start(origin) + 1), self._last(origin)

    def _last(self, origin: Any) -> int:
        """Return where the last clause of a comprehension ends."""
        return self._places.last(self._places.end(_tail(origin.generators[-1])), self._places.end(origin) - 1)

    def _clause(self, node: s.Clause) -> tuple[int, int]:
        """Return the span of a clause, which begins where the text before it ends and includes the later clauses."""
        around: Any = node.parent.origin if node.parent is not None else None
        index = around.generators.index(node.origin)
        value = around.value if isinstance(around, ast.DictComp) else around.elt
        before = _tail(around.generators[index - 1]) if index else value
        return self._places.closed(self._places.end(before)), self._last(around)

    # Parameters, arguments, items

    def _parameter(self, node: s.Parameter) -> tuple[int, int]:
        places = self._places
        name = start = places.start(node.origin)
        if node.star:
            star = places.text.rfind("*", 0, start)
            while star >= 0 and places.skip(star + 1) in (start, name):
                start, star = star, places.text.rfind("*", 0, star)
        return start, name + len(node.name)

    def _argument(self, node: s.Argument) -> tuple[int, int]:
        """Return the span of an argument, with the parentheses of its value."""
        places, origin, call = self._places, node.origin, node.parent
        if isinstance(origin, (ast.keyword, ast.Starred)) or not isinstance(call, (s.Call, s.Class)):
            return places.of(origin)
        index = call.arguments.index(node)
        around: Any = call.origin
        if index:
            before = places.skip(places.closed(places.end(call.arguments[index - 1].origin))) + 1
        elif isinstance(around, ast.Call):
            before = places.skip(places.closed(places.end(around.func))) + 1
        else:
            before = self._bases(around)
        return self._outer(before, origin)

    def _bases(self, origin: ast.ClassDef) -> int:
        """Return where the bases of a class begin."""
        parameters = getattr(origin, "type_params", ())
        place = self._places.end(parameters[-1]) if parameters else self._places.start(origin)
        return self._places.text.index("(", place) + 1

    def _outer(self, before: int, origin: Any) -> tuple[int, int]:
        """Return the span of an expression with its parentheses, after a delimiter that ends at `before`."""
        start, end = self._places.of(origin)
        if start < before:  # a generator that is a call's only argument takes the call's parentheses
            return self._generator(origin)
        return self._places.skip(before), self._places.closed(end, self._places.opened(before, start))

    def _item(self, node: s.WithItem) -> tuple[int, int]:
        """Return the span of an item of a `with`, with the parentheses of its parts but not those around all items."""
        places = self._places
        origin: Any = node.origin
        around: Any = node.parent.origin if node.parent is not None else None
        index = around.items.index(origin)
        start, end = places.of(origin.context_expr)
        if index:
            previous = around.items[index - 1]
            before = places.skip(places.closed(places.end(previous.optional_vars or previous.context_expr))) + 1
        else:
            keyword = _WITH.match(places.text, places.start(around))
            before = keyword.end() if keyword is not None else start
        opened = places.opened(before, start)
        after = places.skip(places.closed(end))
        if origin.optional_vars is not None or places.text.startswith(",", after):
            own = places.closing(end)
        else:
            is_bare = isinstance(origin.context_expr, (ast.Yield, ast.YieldFrom, ast.NamedExpr))
            own = opened - (not index and opened > is_bare)
        first = before
        for _ in range(opened - own):
            first = places.skip(first) + 1
        if origin.optional_vars is None:
            return places.skip(first), places.closed(end, own)
        target = origin.optional_vars
        between = places.opened(places.closed(end, own), places.start(target))
        return places.skip(first), places.closed(places.end(target), between)

    def _case(self, origin: ast.match_case) -> tuple[int, int]:
        """Return the span of a case, from its keyword on, which is the first word of its line."""
        places = self._places
        start = places.start(origin.pattern)
        line = places.position(start)[0]
        while True:
            keyword = _CASE.match(places.text, places.offset(line, 0))
            if keyword is not None and keyword.end() <= start:
                opened = _OPENED.match(places.text, keyword.end())
                if opened is not None and opened.end() >= start:
                    return keyword.start(1), self._end(origin)
            line -= 1


def _tail(clause: ast.comprehension) -> ast.expr:
    """Return the last expression of a clause."""
    return clause.ifs[-1] if clause.ifs else clause.iter
