"""Each node's span is the text of the node, and equals what libcst's own metadata says."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from detlint import reading
from detlint.reading import cst_tree
from detlint.reading.cst_spans import TreeSpans
from detlint.reading.lowering import NotPythonError
from detlint.tree import positions
from detlint.tree import syntax as s

TEXTS = {
    "parentheses": "x = ((1 + 2))\ny = (f(a, (b)))\n",
    "unicode": "x = 'é€𝄞'; y = f(x)\nz = f('é', y)\n",
    "crlf": "x = 1\r\nif x:\r\n    y = f(x)\r\n",
    "tabs": "if 1:\n\tx = f(\n\t\ty,\n\t)\n",
    "no newline": "def f(a, *b, c=1, **d):\n    return lambda x: x[1:2, ...]",
    "decorators": "@a.b(c)\nclass K(B, m=M):\n    @d\n    async def f(self): await g()\n",
    "empty tuple": "x: tuple[()] = ()\n",
    "match": "match p:\n    case {'a': [x, *y]} if x: f(x)\n    case K(z=1) | None: pass\n",
    "strings": "x = f'{a!r:>{w}}' \"b\" r'c'\n",
    "own file": Path(cst_tree.__file__).read_text(encoding="utf-8"),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_spans_equal_libcst_positions(text: str) -> None:
    parsed = cst_tree.parse(text)
    file = cst_tree.lower(parsed)
    spans, lines = TreeSpans(parsed, text), positions.Lines(text)
    known = MetadataWrapper(parsed, unsafe_skip_copy=True).resolve(PositionProvider)
    compared = 0
    for node in s.walk(file):
        if isinstance(node, s.Expression) and isinstance(node.origin, cst.BaseExpression):
            start, end = (lines.position(offset) for offset in spans.of(node))
            wanted = known[node.origin]
            assert start == (wanted.start.line, wanted.start.column + 1)
            assert end == (wanted.end.line, wanted.end.column + 1)
            compared += 1
    assert compared


@pytest.mark.parametrize(
    ("text", "offset", "position"),
    [("a\nbc", 3, (2, 2)), ("a\r\nbc", 3, (2, 1)), ("a\rbc", 2, (2, 1)), ("a\x0cb\u2028c", 4, (1, 5)), ("", 0, (1, 1))],
)
def test_lines_end_as_python_ends_them(text: str, offset: int, position: tuple[int, int]) -> None:
    assert positions.Lines(text).position(offset) == position


def test_parents_and_order_follow_evaluation() -> None:
    file = reading.read("x = f(a, b=g(c)) + h(d)\n").file
    calls = sorted((n for n in s.walk(file) if isinstance(n, s.Call)), key=lambda n: n.order)
    assert [c.function.id for c in calls if isinstance(c.function, s.Name)] == ["g", "f", "h"]
    assert all(child.parent is node for node in s.walk(file) for child in node)


@pytest.mark.parametrize("text", ["x = = 1\n", "print 'python 2'\n", "def f(:\n", "x = (\n", "'a' b'c'\n"])
def test_what_is_not_python_is_a_syntax_problem(text: str) -> None:
    with pytest.raises(NotPythonError) as caught:
        reading.read(text)
    assert caught.value.line >= 1
