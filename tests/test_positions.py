"""Lines and columns of offsets, and the order of nodes."""

from __future__ import annotations

import pytest

from detlint import reading
from detlint.tree import positions
from detlint.tree import syntax as s


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
