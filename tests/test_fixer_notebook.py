"""Fixes in notebooks: nothing but the changed characters of a cell's source changes in the file."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from detlint.applying import fixer
from detlint.applying.rewriting import BadEditError, rewrite
from detlint.finding import Edit, Finding, Fix, Import, Place, Safety
from detlint.sources import notebook
from detlint.tree.positions import Lines

PATH = "book.ipynb"

LISTED = """{
 "cells": [
  {
   "cell_type": "markdown",
   "metadata": {},
   "source": ["# caf\\u00e9"]
  },
  {
   "cell_type": "code",
   "execution_count": 1,
   "metadata": {"a":1,  "b":[ ]},
   "outputs": [{"text": ["f(a)\\n"], "data": "\\/ \\ud83d\\ude00"}],
   "source": [
    "import os\\n",
    "\\n",
    "f(a) # \\u00e9 \\/ \\ud83d\\ude00\\n",
    "g(b)"
   ]
  }
 ],
 "metadata": {"kernelspec": {"language": "python"}},
 "nbformat": 4, "nbformat_minor": 1e0
}
"""
ONE = (
    '{"cells":[{"cell_type":"code","source":"import os\\n\\nf(a) # \\u00e9 \\/ \\ud83d\\ude00\\ng(b)"}],"metadata":{}}'
)


def edit(raw: str, cell: int, old: str, new: str) -> Edit:
    """`old`, of which a "|" marks the place between two characters, becomes `new`."""
    text = notebook.texts(PATH, raw)[cell]
    start = text.index(old.replace("|", ""))
    start, end = (start + old.index("|"),) * 2 if "|" in old else (start, start + len(old))
    lines = Lines(text)
    return Edit(Place(PATH, *lines.position(start), *lines.position(end), cell), new)


def changed(raw: str, *edits: Edit) -> str:
    return rewrite(PATH, raw, edits)


def code(*sources: str | list[str]) -> str:
    cells: list[Any] = [{"cell_type": "code", "source": source} for source in sources]
    return json.dumps({"cells": cells, "metadata": {}}, indent=1)


CASES = {
    "within a line": ("f(a", "f(x", "f(a) # \\u00e9", "f(x) # \\u00e9"),
    "a line ahead": ("|f(a", "h(c)\n", '"f(a)', '"h(c)\\n",\n    "f(a)'),
    "lines ahead": ("|f(a", "h(c)\nh(d)\n", '"f(a)', '"h(c)\\n",\n    "h(d)\\n",\n    "f(a)'),
    "a line behind": ("os|", "\nimport re", '"import os\\n"', '"import os\\n",\n    "import re\\n"'),
    "a line at the end": ("g(b)|", "\nh(c)", '"g(b)"', '"g(b)\\n",\n    "h(c)"'),
    "a newline at the end": ("g(b)|", "\n", '"g(b)"', '"g(b)\\n"'),
    "a line less": ("import os\n", "", '"import os\\n",\n    ', ""),
    "lines joined": ("os\n\nf", "os; f", '"import os\\n",\n    "\\n",\n    "f(a)', '"import os; f(a)'),
    "what has to be escaped": ("f(a", 'f("a\\\t', "f(a)", 'f(\\"a\\\\\\t)'),
    "what is not ASCII": ("f(a", "f('é😀'", "f(a)", "f('\\u00e9\\ud83d\\ude00')"),
}


@pytest.mark.parametrize(("old", "new", "raw_old", "raw_new"), CASES.values(), ids=CASES)
def test_a_list_of_lines_stays_one(old: str, new: str, raw_old: str, raw_new: str) -> None:
    head, _, source = LISTED.partition('"source": [\n    ')
    assert raw_old in source
    expected = head + '"source": [\n    ' + source.replace(raw_old, raw_new, 1)
    assert changed(LISTED, edit(LISTED, 1, old, new)) == expected
    lines = json.loads(expected)["cells"][1]["source"]
    assert all(line.endswith("\n") for line in lines[:-1]) and lines[-1]


@pytest.mark.parametrize(("old", "new", "raw_old", "raw_new"), CASES.values(), ids=CASES)
def test_a_text_stays_one(old: str, new: str, raw_old: str, raw_new: str) -> None:
    raw_old, raw_new = (raw.replace('",\n    "', "").strip('"') for raw in (raw_old, raw_new))
    raw_old, raw_new = (raw.removesuffix('",\n    ') for raw in (raw_old, raw_new))
    assert changed(ONE, edit(ONE, 0, old, new)) == ONE.replace(raw_old, raw_new, 1)


def test_characters_that_are_not_ascii_are_written_as_the_file_does() -> None:
    raw = code("f(a)\n").replace("f(a)", "f('é')")
    assert "f('è')" in changed(raw, edit(raw, 0, "é", "è"))
    assert "f('è')" in changed(code("f(a)"), edit(code("f(a)"), 0, "a", "'è'"))
    mixed = code("f(a) # ä\n", "g(b) # é").replace("é", "\\u00e9").replace("\\u00e4", "ä")
    assert changed(mixed, edit(mixed, 1, "b", "'è'")) == mixed.replace("g(b)", "g('è')")


def test_a_list_of_one_line_grows_as_it_is_laid_out() -> None:
    for raw in ('{"cells": [{"cell_type": "code", "source": ["f(a)\\n"]}]}', code(["f(a)\n"])):
        new = changed(raw, edit(raw, 0, "|f", "x = 1\n"))
        assert json.loads(new)["cells"][0]["source"] == ["x = 1\n", "f(a)\n"]
        assert new.count("\n") - raw.count("\n") == (1 if "\n" in raw else 0)


def test_a_list_may_be_cut_at_odd_places() -> None:
    raw = code(["", "f(", "a)\ng(b)\n", "", "h(c)"])
    new = changed(raw, edit(raw, 0, "f(a", "f(x"), edit(raw, 0, "|h", "y = 1\n"))
    assert "".join(json.loads(new)["cells"][0]["source"]) == "f(x)\ng(b)\ny = 1\nh(c)"


def test_half_a_character_is_kept() -> None:
    raw = code("f(a) # \ud83d\n")
    assert changed(raw, edit(raw, 0, "a", "b")) == raw.replace("f(a)", "f(b)")


def test_notebooks_before_format_4() -> None:
    cells = [{"cell_type": "code", "input": ["f(a)"], "language": "python"}]
    raw = json.dumps({"worksheets": [{"cells": cells}, {"cells": cells}], "nbformat": 3})
    assert changed(raw, edit(raw, 1, "a", "b")) == "f(b)".join(raw.rsplit("f(a)", 1))


def test_the_last_of_equal_keys_counts() -> None:
    raw = '{"cells": [{"cell_type": "code", "source": "x", "source": "f(a)"}]}'
    assert changed(raw, edit(raw, 0, "a", "b")) == raw.replace("f(a)", "f(b)")


def test_lines_end_as_those_beside_them() -> None:
    raw = code("f(a)\r\ng(b)")
    assert json.loads(changed(raw, edit(raw, 0, "|g", "x = 1\n")))["cells"][0]["source"] == "f(a)\r\nx = 1\r\ng(b)"


MAGICS = {
    "an assignment of a command": ("x = !ls a\nf(a)\n", "x = !ls a", True),
    "a line magic": ("%env A=a\nf(a)\n", "a\n", True),
    "Python behind a magic": ("%time f(a)\n", "a", False),
    "an insertion in a magic": ("%env A=a\nf(a)\n", "%en|v", True),
    "the magic ahead of Python": ("%time f(a)\n", "time", True),
    "Python beside a magic": ("%time f(a)\ng(b)\n", "b", False),
    "a line above a magic": ("%env A=a\nf(a)\n", "|%env", False),
    "a line below a magic": ("%env A=a\nf(a)\n", "=a|", False),
    "a magic among lines": ("f(a)\n!ls\ng(b)\n", "a)\n!ls\ng(", True),
    "indented": ("  f(a)\n  g(b)\n", "a", False),
    "another language": ("%%bash\nf(a)\n", "a", True),
}


@pytest.mark.parametrize(("source", "old", "refused"), MAGICS.values(), ids=MAGICS)
def test_magics_are_not_changed(source: str, old: str, refused: bool) -> None:
    raw = code(source)
    if refused:
        with pytest.raises(BadEditError):
            changed(raw, edit(raw, 0, old, "x"))
    else:
        assert json.loads(changed(raw, edit(raw, 0, old, "x"))) != json.loads(raw)


def test_a_cell_must_be_there() -> None:
    for cell in (None, 7):
        with pytest.raises(BadEditError):
            changed(ONE, Edit(Place(PATH, 1, 1, 1, 1, cell), "x"))
    with pytest.raises(BadEditError):
        rewrite("a.py", "f(a)\n", [Edit(Place("a.py", 1, 1, 1, 1, 0), "x")])


def test_fixes_are_applied_and_imported() -> None:
    raw = code(["%matplotlib inline\n", "import torch"], "%time f(a)\nf(b)", ["%%time\n", "f(c)"])
    found = []
    for cell, name in ((1, "a"), (1, "b"), (2, "c")):
        need = Import(PATH, "rt", f"{name}{name}")
        fix = Fix("Mend it", Safety.SAFE, (edit(raw, cell, f"({name})", f"({name}{name})"),), (need,))
        found.append(Finding("DET900", fix.edits[0].place, "wrong", fix=fix))
    new = fixer.apply(found, lambda path: raw).texts[PATH]
    assert [cell["source"] for cell in json.loads(new)["cells"]] == [
        ["%matplotlib inline\n", "import torch\n", "from rt import aa, bb, cc"],
        "%time f(aa)\nf(bb)",
        ["%%time\n", "f(cc)"],
    ]


def test_a_fix_that_breaks_a_cell_is_left_out() -> None:
    raw = code("f(a)", "f(b)")
    found = [
        Finding("DET900", made.place, "wrong", fix=Fix("Mend it", Safety.SAFE, (made,)))
        for made in (edit(raw, 0, "a", "("), edit(raw, 1, "b", "c"))
    ]
    applied = fixer.apply(found, lambda path: raw)
    assert applied.texts == {PATH: raw.replace("f(b)", "f(c)")}
    assert [left.reason for left in applied.left] == [fixer.NO_PARSE]


def test_any_edit_gives_what_it_gives_in_the_text() -> None:
    refused = [seed for seed in range(30) if not edited_as_text(random.Random(seed))]
    assert len(refused) < 15, "what reads as a magic"


def edited_as_text(draw: random.Random) -> bool:
    """Whether a random edit is made in a notebook; it gives what it gives in the text."""
    alphabet = ["a", "\n", "é", "😀", '"', "\\", "\t", " "]
    lines = ["".join(draw.choices(alphabet, k=draw.randrange(5))) for _ in range(draw.randrange(1, 6))]
    source: Any = lines if draw.random() < 0.5 else "".join(lines)
    cells = [{"cell_type": "code", "source": "1"}, {"cell_type": "code", "source": source}]
    raw = json.dumps({"cells": cells}, ensure_ascii=draw.random() < 0.5, indent=draw.choice([None, 1, "\t"]))
    text = "".join(lines)
    start = draw.randrange(len(text) + 1)
    end = draw.randrange(start, len(text) + 1)
    new = "".join(draw.choices(alphabet, k=draw.randrange(4)))
    positions = Lines(text)
    at = Place(PATH, *positions.position(start), *positions.position(end), 1)
    try:
        outcome = json.loads(changed(raw, Edit(at, new)))["cells"]
    except BadEditError:
        return False  # it reads as a magic
    assert ["".join(cell["source"]) for cell in outcome] == ["1", text[:start] + new + text[end:]], (text, at, new)
    assert isinstance(outcome[1]["source"], type(source)), raw
    return True
