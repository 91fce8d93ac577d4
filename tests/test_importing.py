"""Imports that fixes need: what was clean to ruff's isort rules stays clean, and the file keeps its form."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from detlint.applying.rewriting import rewrite
from detlint.editing.importing import Head, NoPlaceError
from detlint.finding import Import, Place

FIRST_PARTY = frozenset(("mine",))
LONG = "averyveryverylongnames"

# What is imported, the head of a file that is clean, and the head that comes of it.
CLEAN = {
    "into a file without imports": ("os", "x = 1\n", "import os\n\nx = 1\n"),
    "above a function": ("os", "def f():\n    pass\n", "import os\n\n\ndef f():\n    pass\n"),
    "above a decorated class": ("os", "@d\nclass A:\n    pass\n", "import os\n\n\n@d\nclass A:\n    pass\n"),
    "above an async function": ("os", "async def f():\n    pass\n", "import os\n\n\nasync def f():\n    pass\n"),
    "above a commented function": ("os", "x = 1\n", "import os\n\nx = 1\n"),
    "below a docstring": ("os", '"""Doc."""\n\nx = 1\n', '"""Doc."""\n\nimport os\n\nx = 1\n'),
    "below a docstring right above code": ("os", '"""Doc."""\nx = 1\n', '"""Doc."""\n\nimport os\n\nx = 1\n'),
    "below a docstring far above code": ("os", '"""Doc."""\n\n\nx = 1\n', '"""Doc."""\n\nimport os\n\nx = 1\n'),
    "below a docstring above a class": (
        "os",
        '"""Doc."""\n\nclass A:\n    pass\n',
        '"""Doc."""\n\nimport os\n\n\nclass A:\n    pass\n',
    ),
    "below a docstring of lines": (
        "os",
        '"""Doc.\n\nMore.\n"""\n\nx = 1\n',
        '"""Doc.\n\nMore.\n"""\n\nimport os\n\nx = 1\n',
    ),
    "below a docstring at the end": ("os", '"""Doc."""', '"""Doc."""\n\nimport os'),
    "below a shebang and a licence": ("os", "#!/bin/x\n# (c)\n\nx = 1\n", "#!/bin/x\n# (c)\n\nimport os\n\nx = 1\n"),
    "below an encoding": ("os", "# coding: utf-8\nx = 1\n", "# coding: utf-8\nimport os\n\nx = 1\n"),
    "above the comment of a statement": ("os", '"""D."""\n\n# why\nx = 1\n', '"""D."""\n\nimport os\n\n# why\nx = 1\n'),
    "above a comment that stands alone": (
        "os",
        '"""D."""\n\n# why\n\ndef f():\n    pass\n',
        '"""D."""\n\nimport os\n\n# why\n\ndef f():\n    pass\n',
    ),
    "a licence, a docstring and a comment": (
        "os",
        '# (c)\n"""D."""\n\n# why\nx = 1\n',
        '# (c)\n"""D."""\n\nimport os\n\n# why\nx = 1\n',
    ),
    "first of its section": ("os", "import sys\n\nx = 1\n", "import os\nimport sys\n\nx = 1\n"),
    "last of its section": ("sys", "import os\n\nx = 1\n", "import os\nimport sys\n\nx = 1\n"),
    "at the end of a file without newline": ("sys", "import os", "import os\nimport sys"),
    "in the middle": ("re", "import os\nimport sys\n", "import os\nimport re\nimport sys\n"),
    "case counts last": ("ab", "import A11\nimport b\n", "import A11\nimport ab\nimport b\n"),
    "numbers are numbers": ("a10", "import a9\nimport a11\n", "import a9\nimport a10\nimport a11\n"),
    "plain imports come first": ("torch", "from numpy import x\n", "import torch\nfrom numpy import x\n"),
    "from after import": ("math:pi", "import os\n\nimport torch\n", "import os\nfrom math import pi\n\nimport torch\n"),
    "a section ahead of others": ("os", "import torch\n\nx = 1\n", "import os\n\nimport torch\n\nx = 1\n"),
    "a section after others": ("mine:a", "import torch\n\nx = 1\n", "import torch\n\nfrom mine import a\n\nx = 1\n"),
    "a section between": (
        "torch",
        "import os\n\nfrom mine import a\n\nx = 1\n",
        "import os\n\nimport torch\n\nfrom mine import a\n\nx = 1\n",
    ),
    "after the future": (
        "os",
        "from __future__ import annotations\n\nx = 1\n",
        "from __future__ import annotations\n\nimport os\n\nx = 1\n",
    ),
    "between the future and others": (
        "os",
        "from __future__ import annotations\n\nimport torch\n",
        "from __future__ import annotations\n\nimport os\n\nimport torch\n",
    ),
    "ahead of relative ones": (
        "mine:a",
        "import torch\n\nfrom . import b\n\nx = 1\n",
        "import torch\n\nfrom mine import a\n\nfrom . import b\n\nx = 1\n",
    ),
    "relative, most dots first": (
        "..a:b",
        "from ...z import y\nfrom .c import d\n",
        "from ...z import y\nfrom ..a import b\nfrom .c import d\n",
    ),
    "below a comment that heads the file": ("os", "# (c)\nimport sys\n", "# (c)\nimport os\nimport sys\n"),
    "above a comment of the first import": (
        "os",
        '"""D."""\n\n# why\nimport sys\n',
        '"""D."""\n\nimport os\n\n# why\nimport sys\n',
    ),
    "above a comment of another import": (
        "os",
        "import math\n\n# why\nimport torch\n",
        "import math\nimport os\n\n# why\nimport torch\n",
    ),
    "below a comment behind an import": ("sys", "import os  # why\n", "import os  # why\nimport sys\n"),
    "the block with most of its section": (
        "numpy:a",
        "import os\n\nos.environ['A'] = 'b'\nimport math\n\nimport torch\n\ny = 2\n",
        "import os\n\nos.environ['A'] = 'b'\nimport math\n\nimport torch\nfrom numpy import a\n\ny = 2\n",
    ),
    "ahead of code that parts the imports": (
        "numpy:a",
        "import os\n\nx = 1\nimport math\n\nimport torch\n\ny = 2\n",
        "import os\n\nfrom numpy import a\n\nx = 1\nimport math\n\nimport torch\n\ny = 2\n",
    ),
    "the later of equal blocks": (
        "mine:a",
        "import os\n\nos.environ['A'] = 'b'\nimport torch\n\nx = 1\n",
        "import os\n\nos.environ['A'] = 'b'\nimport torch\n\nfrom mine import a\n\nx = 1\n",
    ),
    "not within TYPE_CHECKING": (
        "os",
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import os\n\nx = 1\n",
        "import os\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import os\n\nx = 1\n",
    ),
    "not within try": (
        "os:path",
        "try:\n    from os import sep\nexcept ImportError:\n    pass\n",
        "from os import path\n\ntry:\n    from os import sep\nexcept ImportError:\n    pass\n",
    ),
    "already there": ("os", "import os\n", "import os\n"),
    "already there in a longer one": ("os", "import os.path\n", "import os.path\n"),
    "already there among names": ("m:b", "from m import a, b\n", "from m import a, b\n"),
    "there by another name": ("os", "import os as o\n", "import os\nimport os as o\n"),
    "merged at the end": ("m:b", "from m import a\n", "from m import a, b\n"),
    "merged at the start": ("m:a", "from m import b\n", "from m import a, b\n"),
    "merged in the middle": ("m:b", "from m import a, c  # why\n", "from m import a, b, c  # why\n"),
    "merged, constants and classes first": ("m:Z", "from m import AB, Y, x\n", "from m import AB, Y, Z, x\n"),
    "merged beside an alias of its own": (
        "m:c",
        "from m import a\nfrom m import b as d\n",
        "from m import a, c\nfrom m import b as d\n",
    ),
    "not merged into an alias": ("m:c", "from m import b as d\n", "from m import b as d\nfrom m import c\n"),
    "not merged into a star": ("m:c", "from m import *\n", "from m import *\nfrom m import c\n"),
    "merged below one another": (
        "m:b",
        f"from m import (\n    a,\n    c,\n    z{LONG}{LONG}{LONG}{LONG},\n)\n",
        f"from m import (\n    a,\n    b,\n    c,\n    z{LONG}{LONG}{LONG}{LONG},\n)\n",
    ),
    "merged first of those below one another": (
        "m:a",
        "from m import (\n    b,\n)\n",
        "from m import (\n    a,\n    b,\n)\n",
    ),
    "merged last of those below one another": (
        "m:c",
        "from m import (\n    a,\n    b,  # why\n)\n",
        "from m import (\n    a,\n    b,  # why\n    c,\n)\n",
    ),
    "merged below the comment of the name ahead": (
        "m:b",
        "from m import (\n    a,  # why\n    # how\n    c,\n)\n",
        "from m import (\n    a,  # why\n    b,\n    # how\n    c,\n)\n",
    ),
    "broken where it gets too long": (
        "m:a",
        f"from m import {LONG}1, {LONG}2, {LONG}3\n",
        f"from m import (\n    a,\n    {LONG}1,\n    {LONG}2,\n    {LONG}3,\n)\n",
    ),
    "broken with its comment": (
        "m:a",
        f"from m import {LONG}1, {LONG}2  # why so long, my dear\n",
        f"from m import (  # why so long, my dear\n    a,\n    {LONG}1,\n    {LONG}2,\n)\n",
    ),
    "merged far below": (
        "m:b",
        "import os\n\nx = 1\nfrom m import a\n\ny = 2\n",
        "import os\n\nx = 1\nfrom m import a, b\n\ny = 2\n",
    ),
    "a form feed is no line": ("os", 'x = "\\f"\n\x0c\ny = 1\n', 'import os\n\nx = "\\f"\n\x0c\ny = 1\n'),
    "an odd space in a string is no line": (
        "sys",
        '"""D \u2028 \x0b \x1c."""\n\nimport os\n\nx = 1\n',
        '"""D \u2028 \x0b \x1c."""\n\nimport os\nimport sys\n\nx = 1\n',
    ),
}

# The same for heads that are not clean: nothing else is put in order.
UNTIDY = {
    "no blank lines between sections": (
        "mine:a",
        "import os\nimport torch\n\nx = 1\n",
        "import os\nimport torch\nfrom mine import a\n\nx = 1\n",
    ),
    "a section that is not sorted": (
        "re",
        "import sys\nimport os\n\nimport torch\n",
        "import sys\nimport os\nimport re\n\nimport torch\n",
    ),
    "sections in no order": (
        "mine:a",
        "import torch\nimport os\nx = 1\n",
        "import torch\nimport os\nfrom mine import a\nx = 1\n",
    ),
    "merged among names in no order": ("m:b", "from m import c, a\n", "from m import c, a, b\n"),
    "merged behind a trailing comma": ("m:b", "from m import (a,)\n", "from m import (a, b,)\n"),
    "merged without a trailing comma": ("m:b", "from m import (\n    a\n)\n", "from m import (\n    a,\n    b\n)\n"),
    "merged without a comma behind a comment": (
        "m:c",
        "from m import (\n  a,\n  b # why\n)\n",
        "from m import (\n  a,\n  b, # why\n  c\n)\n",
    ),
    "merged into a hanging one": (
        "m:c",
        "from m import (a,\n               b)\n",
        "from m import (a,\n               b,\n               c)\n",
    ),
    "merged behind a backslash": ("m:b", "from m import a, \\\n    c\n", "from m import a, \\\n    b, c\n"),
    "merged behind the comment of the first": (
        "..m:b",
        "from .. m import (a, # why\n                  c) # how\n",
        "from .. m import (a, # why\n                  b,\n                  c) # how\n",
    ),
    "merged where comments hold commas and brackets": (
        "m:b",
        "from m import (  # (a, b\n    a as x,  # b), c\n\n    # d,\n    c\n)\n",
        "from m import (  # (a, b\n    a as x,  # b), c\n    b,\n\n    # d,\n    c\n)\n",
    ),
    "merged behind backslashes": (
        "m:z",
        "from m \\\n    import a, \\\n    c  # why\n",
        "from m \\\n    import a, \\\n    c, z  # why\n",
    ),
    "merged ahead of a semicolon": (
        "m:b",
        "import os; from m import a;  # why\nx = 1\n",
        "import os; from m import a, b;  # why\nx = 1\n",
    ),
    "merged ahead of a statement on its line": ("m:b", "from m import (a); x = 1\n", "from m import (a, b); x = 1\n"),
    "two on a line": ("re", "import os; import sys\nx = 1\n", "import os; import sys\nimport re\nx = 1\n"),
    "a line that is longer than usual": (
        "m:a",
        f"from n import {LONG}1, {LONG}2, {LONG}3, {LONG}4\nfrom m import {LONG}1, {LONG}2, {LONG}3\n",
        f"from n import {LONG}1, {LONG}2, {LONG}3, {LONG}4\nfrom m import a, {LONG}1, {LONG}2, {LONG}3\n",
    ),
    "imports between code are left": (
        "mine:a",
        "x = 1\nimport os\ny = 1\n",
        "x = 1\nimport os\n\nfrom mine import a\ny = 1\n",
    ),
}


def need(text: str, path: str = "a.py") -> Import:
    module, _, name = text.partition(":")
    return Import(path, module, name or None)


def added(text: str, *needs: str, before: Place | None = None, path: str = "a.py") -> str:
    for each in needs:
        text = rewrite(path, text, Head(path, text, FIRST_PARTY).edits(need(each, path), before))
    return text


def at(line: int, cell: int | None = None, path: str = "a.py") -> Place:
    return Place(path, line, 1, line, 1, cell)


@pytest.mark.parametrize("heads", [CLEAN, UNTIDY], ids=["clean", "untidy"])
def test_an_import_goes_where_it_belongs(heads: dict[str, tuple[str, str, str]]) -> None:
    expected = {name: head[2] for name, head in heads.items()}
    assert {name: added(text, wanted) for name, (wanted, text, _) in heads.items()} == expected
    assert {name: added(after, wanted) for name, (wanted, _, after) in heads.items()} == expected, "when it is there"


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_lines_end_as_those_beside_them(newline: str) -> None:
    of_lines = {name: head for name, head in CLEAN.items() if "\n" in head[1]}
    made = {name: added(text.replace("\n", newline), wanted) for name, (wanted, text, _) in of_lines.items()}
    assert made == {name: expected.replace("\n", newline) for name, (*_, expected) in of_lines.items()}


def test_heads_that_ruff_finds_clean_stay_clean(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    after.mkdir()
    for number, (wanted, text, _) in enumerate(CLEAN.values()):
        (before / f"f{number}.py").write_text(text, newline="")
        (after / f"f{number}.py").write_text(added(text, wanted), newline="")
    cells = [
        ["%%time\n", "x = 1"],
        ["%matplotlib inline\n", "import os\n", "\n", "import torch"],
        ["def f():\n", "    pass"],
    ]
    for number, wanted in enumerate(("os:path", "sys", "mine:a", "torch:b")):
        for folder, needs in ((before, ()), (after, (wanted, f"{wanted}c"))):
            text = added(notebook(["import os"], *cells), *needs, path="n.ipynb")
            (folder / f"n{number}.ipynb").write_text(text)
            text = added(notebook(cells[0]), *needs, path="n.ipynb")
            (folder / f"head{number}.ipynb").write_text(text)
    names = {f"f{number}.py": name for number, name in enumerate(CLEAN)}
    assert {names.get(file, file) for file in unsorted(before)} == set()
    assert {names.get(file, file) for file in unsorted(after)} == set()


def unsorted(folder: Path) -> set[str]:
    """The names of the files whose imports ruff would change."""
    ruff = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--isolated",
        "--no-cache",
        "--select",
        "I",
        "--output-format",
        "json",
    ]
    known = "lint.isort.known-first-party = ['mine']"
    done = subprocess.run([*ruff, "--config", known, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return {Path(found["filename"]).name for found in json.loads(done.stdout)}


def test_imports_come_ahead_of_their_use() -> None:
    text = "import os\n\nx = f()\nimport re\nimport sys\nimport torch\n"
    assert added(text, "re", before=at(3)) == "import os\nimport re\n\nx = f()\nimport re\nimport sys\nimport torch\n"
    assert added("x = f()\nimport os\n", "sys", before=at(1)) == "import sys\n\nx = f()\nimport os\n"
    assert (
        added('"""D."""\nx = f()\nimport os\n', "os", before=at(2)) == '"""D."""\n\nimport os\n\nx = f()\nimport os\n'
    )
    same_line = "import re\nimport os; x = f()\n"
    assert added(same_line, "os", before=at(2)) == f"import os\n{same_line}"
    with pytest.raises(NoPlaceError):
        added('"""D."""\nx = 1\n', "os", before=at(1))
    with pytest.raises(NoPlaceError):
        added("\n", "os")


def test_several_imports_are_one_statement() -> None:
    text = "import torch\n\nx = 1\n"
    expected = "import torch\nfrom mine2 import a, b, c\n\nx = 1\n"
    assert added(text, "mine2:b", "mine2:a", "mine2:c") == expected


TAKEN = {
    "not bound": ("m:a", "x = 1\n", 1, False),
    "bound by the same import": ("m:a", "from m import a\n", 1, False),
    "bound by the same import in a function": ("m:a", "def f():\n    from m import a\n", 2, False),
    "bound by the same import in a try": ("m:a", "try:\n    from m import a\nexcept E:\n    pass\n", 1, False),
    "bound by another import": ("m:a", "from n import a\n", 1, True),
    "bound by an alias": ("m:a", "from m import b as a\n", 1, True),
    "bound by a function": ("m:a", "def a():\n    pass\n", 1, True),
    "bound by an assignment": ("m:a", "from m import a\na = 1\n", 1, True),
    "a parameter where it is used": ("m:a", "def f(a):\n    g()\n", 2, True),
    "a parameter elsewhere": ("m:a", "def f(a):\n    g()\nx = 1\n", 3, False),
    "a builtin that is used": ("m:open", "open('f')\n", 1, True),
    "a builtin that is not used": ("m:open", "x = 1\n", 1, False),
    "perhaps from a star": ("m:a", "from n import *\na()\n", 2, True),
    "a module by itself": ("os", "import os\n", 1, False),
    "a module by one in it": ("os", "import os.path\n", 1, False),
    "a module in a package": ("os.path", "import os\n", 1, False),
    "a module by its own alias": ("os", "import os as os\n", 1, False),
    "another module by alias": ("os", "import numpy as os\n", 1, True),
    "a name like the module's": ("os", "from x import os\n", 1, True),
    "relative": (".m:a", "from .m import a\n", 1, False),
    "relative elsewhere": (".m:a", "from ..m import a\n", 1, True),
}


def test_a_name_may_be_taken() -> None:
    found = {
        name: Head("a.py", text).taken(need(wanted), [at(line)]) for name, (wanted, text, line, _) in TAKEN.items()
    }
    assert found == {name: expected for name, (*_, expected) in TAKEN.items()}


def notebook(*cells: list[str] | str) -> str:
    made: list[object] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": x} for x in cells
    ]
    title = {"cell_type": "markdown", "metadata": {}, "source": ["# Title"]}
    return json.dumps({"cells": [title, *made], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


BOOK = "n.ipynb"
BOOKS = {
    "the first cell with imports": (
        ["x = 1", "import os\ny = 1", "import sys"],
        "re",
        ["x = 1", "import os\nimport re\ny = 1", "import sys"],
    ),
    "the first cell where none has": (["x = 1", "y = 1"], "re", ["import re\n\nx = 1", "y = 1"]),
    "a cell without a newline": (["import os", "x = 1"], "re", ["import os\nimport re", "x = 1"]),
    "a magic that is no import": (["%env A=1\nimport sys"], "os", ["%env A=1\nimport os\nimport sys"]),
    "a cell magic stays first": (["%%time\nx = 1"], "os", ["%%time\nimport os\n\nx = 1"]),
    "a line magic": (["%matplotlib inline\nx = 1"], "os", ["import os\n\n%matplotlib inline\nx = 1"]),
    "a cell in another language": (["%%bash\nls", "x = 1"], "os", ["%%bash\nls", "import os\n\nx = 1"]),
    "merged": (
        ["from m import (\n    a,\n    c,\n)\nx = 1"],
        "m:b",
        ["from m import (\n    a,\n    b,\n    c,\n)\nx = 1"],
    ),
    "already there": (["import os", "x = 1"], "os", ["import os", "x = 1"]),
}


@pytest.mark.parametrize(("cells", "wanted", "expected"), BOOKS.values(), ids=BOOKS)
def test_a_notebook_imports_in_one_cell(cells: list[str], wanted: str, expected: list[str]) -> None:
    text = added(notebook(*cells), wanted, path=BOOK)
    assert [cell["source"] for cell in json.loads(text)["cells"][1:]] == expected


def test_a_notebook_imports_ahead_of_the_use() -> None:
    text = added(notebook("x = 1", "y = os", "import re"), "os", before=at(1, 2, BOOK), path=BOOK)
    assert [cell["source"] for cell in json.loads(text)["cells"][1:]] == ["import os\n\nx = 1", "y = os", "import re"]


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parent.parent / "detlint").glob("[c-f]*.py")), ids=lambda p: p.name
)
def test_files_of_this_project_stay_clean(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    new = added(text, "detlint_runtime:seed_worker", "torch:a")
    assert text != new and set(text.split("\n")) - set(new.split("\n")) == set()
    compile(new, str(path), "exec", dont_inherit=True)
