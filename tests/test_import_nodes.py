"""Import statements with a name more or less, text in, text out, and imports that nothing uses any more."""

from __future__ import annotations

import pytest

from detlint.applying.rewriting import rewrite
from detlint.editing.edits import unused
from detlint.editing.import_nodes import import_line, printed, rewritten, with_name, without_names
from detlint.finding import Import
from detlint.tree import syntax as s
from tests.support import expression, module


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


REMOVED = {
    "import a, b": "import a",
    "import b.c, a": "import a",
    "import a as b, b as a": "import b as a",
    "from m import a, b, c  # why": "from m import a, c  # why",
    "from m import a, \\\n    b, c": "from m import a, \\\n    c",
    "from m import a, b, \\\n    c": "from m import a, \\\n    c",
    "from m import (b, a,)": "from m import (a,)",
    "from .m import (a, b)": "from .m import (a)",
    "from . import (a,\n               b)": "from . import (a)",
    "from . import (b,\n               a)": "from . import (a)",
    "from . import (a,  # why\n               b)": "from . import (a  # why\n               )",
    "from . import (b,  # why\n               a)": "from . import (  # why\n               a)",
    "from m import (\n    a,\n    b,\n)": "from m import (\n    a,\n)",
    "from m import (  # why\n    b,  # b\n    a\n)": "from m import (  # why\n    a\n)",
    "from m import (\n    a,  # a\n    # more\n    b,  # b\n    c,\n)": "from m import (\n    a,  # a\n    # more\n    c,\n)",
    "from m import (\n    a, b,  # both\n    c,\n)": "from m import (\n    a,  # both\n    c,\n)",
    "from m import (\r\n    a,\r\n    b,\r\n)": "from m import (\r\n    a,\r\n)",
}


def test_a_name_is_removed() -> None:
    assert {text: rewritten(text, lambda line: without_names(line, {"b"})) for text in REMOVED} == REMOVED


def test_a_statement_is_printed_between_lines() -> None:
    need = Import("a.py", "...m.n", "a")
    assert printed(import_line(need)) == "from ...m.n import a\n"
    assert printed(import_line(Import("a.py", ".", "a"))) == "from . import a\n"
    assert printed(import_line(Import("a.py", "m.n")), above=1, below=2) == "\nimport m.n\n\n\n"
    assert printed(import_line(need), above=1, below=1, ends=False) == "\nfrom ...m.n import a\n"


# What is left of the lines above `draw(x, y)`, once that is gone.
UNUSED = {
    "from m import draw\nimport x, y\n": "",
    "from m import draw, x as z, y\nx = z\n": "from m import x as z\nx = z\n",
    "from m import (\n    draw,\n    keep,\n)\nx = y = 1\n": "from m import (\n    keep,\n)\nx = y = 1\n",
    "from m import (  # why\n    draw,\n)\nx = y = 1\n": "x = y = 1\n",
    "from m import draw  # why\r\nx = y = 1\r\n": "x = y = 1\r\n",
    "from m import draw\rx = y = 1\r": "x = y = 1\r",
    "from m import draw; x = y = 1\n": "from m import draw; x = y = 1\n",
    "import draw; import x\ny = 1\n": "import draw; import x\ny = 1\n",
    "from m import draw\ntry:\n    import x, y\nexcept E:\n    pass\n": "try:\n    import x, y\nexcept E:\n    pass\n",
    "if k:\n    import draw\nfrom m import x, \\\n    y, z\n": "if k:\n    import draw\nfrom m import z\n",
    "import draw\ndraw(x)\nimport x.y, y\n": "import draw\ndraw(x)\nimport x.y\n",
    "from m import *\n": "from m import *\n",
}


def test_imports_that_nothing_uses_any_more_go() -> None:
    assert {text: without_draw(text) for text in UNUSED} == UNUSED


@pytest.mark.parametrize("path", ["m/__init__.py", "example.py"])
def test_the_imports_of_a_package_stay(path: str) -> None:
    text = "from m import draw\n"
    assert without_draw(text, path) == (text if "__init__" in path else "")


def without_draw(text: str, path: str = "example.py") -> str:
    used = module(f"{text}draw(x, y)\n", path)
    call = expression(used, "draw(x, y)")
    assert isinstance(call, s.Call)
    return rewrite(path, text, unused(used, [call]))
