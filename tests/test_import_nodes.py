"""Import statements with one more name: text in, text out."""

from __future__ import annotations

import pytest

from detlint.editing.import_nodes import import_line, printed, rewritten, with_name
from detlint.finding import Import


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("from m import a  # c", 18, "from m import (  # c\n    a,\n    b,\n)"),
        ("from m import (a, c as d)", 18, "from m import (\n    a,\n    b,\n    c as d,\n)"),
        ("from m import a as x, c", 88, "from m import a as x, b, c"),
    ],
)
def test_a_name_is_added(text: str, width: int, expected: str) -> None:
    assert rewritten(text, lambda line: with_name(line, "b", width)) == expected


def test_a_statement_is_printed_between_lines() -> None:
    need = Import("a.py", "...m.n", "a")
    assert printed(import_line(need)) == "from ...m.n import a\n"
    assert printed(import_line(Import("a.py", ".", "a"))) == "from . import a\n"
    assert printed(import_line(Import("a.py", "m.n")), above=1, below=2) == "\nimport m.n\n\n\n"
    assert printed(import_line(need), above=1, below=1, ends=False) == "\nfrom ...m.n import a\n"
