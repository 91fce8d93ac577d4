"""Notebooks: which cells are read, where findings stand, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from packaging.version import Version

from detlint import catalogue, engine
from detlint.analyse import Source
from detlint.cli import cli
from detlint.config import Config
from detlint.finding import Place
from detlint.report import Report
from detlint.semantics.model import Module
from detlint.sources import notebook, source
from detlint.tree.positions import Lines

BENCHMARK = "torch.backends.cudnn.benchmark = True"
OFF = "torch.backends.cudnn.deterministic = False"


def code(text: str | list[str], **more: object) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": text, **more}


def markdown(text: str = "# Title") -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def book(*cells: object, **metadata: object) -> str:
    """The text of a notebook; a text among `cells` is a code cell."""
    made = [code(cell) if isinstance(cell, str) else cell for cell in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": made}, indent=1)


def report(text: str, *select: str, path: str = "book.ipynb") -> Report:
    config = Config(select=select or ("ALL",))
    return engine.check_sources([Source(path, "book", text)], config, catalogue.load().newest_release())


def found(text: str, *select: str) -> list[tuple[int | None, int, str]]:
    """Cell, line and code of each finding."""
    findings = [judged.finding for judged in report(text, *select).findings]
    return [(finding.place.cell, finding.place.line, finding.code) for finding in findings]


def marked(text: str, place: Place) -> str:
    """What a place marks in the text of its cell."""
    lines = Lines(text)
    first, last = (place.line, place.column), (place.end_line, place.end_column)
    return text[lines.offset(None, *first) : lines.offset(None, *last)]


# Cells


def test_the_code_cells_are_one_program() -> None:
    text = book("import torch", markdown(), "from torch.backends import cudnn", "cudnn.benchmark = flag", "flag = 1")
    assert notebook.read("a.ipynb", text).text.splitlines() == [
        "import torch", "from torch.backends import cudnn", "cudnn.benchmark = flag", "flag = 1",
    ]  # fmt: skip
    assert found(book("from torch.backends import cudnn", markdown(), "cudnn.benchmark = True")) == [(2, 1, "DET501")]


@pytest.mark.parametrize(
    "source", ["import torch\n" + BENCHMARK, ["import torch\n", BENCHMARK], ["import torch", "\n", BENCHMARK, ""]]
)
def test_a_source_is_a_text_or_a_list_of_lines(source: str | list[str]) -> None:
    assert found(book(code(source))) == [(0, 2, "DET501")]


def test_only_code_cells_are_read() -> None:
    raw = {"cell_type": "raw", "metadata": {}, "source": "x = ("}
    sql = code("select (", metadata={"vscode": {"languageId": "sql"}})
    assert found(book(markdown("x = ("), raw, sql, "%%bash\nx = (", "import torch", BENCHMARK)) == [(5, 1, "DET501")]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_each_place_is_the_text_in_its_cell(newline: str) -> None:
    texts = [
        "import torch, random",
        "%cd é\n  \n!pip install \\\n  x\nx = '😀'; torch.rand(\n  2,\n)  # two lines",
        "\n    if x:\n        %time torch.backends.cudnn.benchmark = True\n    else:\n        !ls\n    'é'; random.random()",
        "%env PYTHONHASHSEED=0  # too late",
        "%%capture\nfor i in x:\n\tdef f():\n\t\treturn torch.empty(3) + 1",
        "torch.backends.cudnn.deterministic = False",
    ]
    cells = [text.replace("\n", newline) for text in texts]
    findings = [judged.finding for judged in report(book(*cells)).findings]
    places = {f.code: (f.place.cell, f.place.line, marked(cells[f.place.cell or 0], f.place)) for f in findings}
    assert places == {
        "DET101": (1, 5, f"torch.rand({newline}  2,{newline})"),
        "DET501": (2, 3, "torch.backends.cudnn.benchmark = True"),
        "DET103": (2, 6, "random.random()"),
        "DET505": (3, 1, "%env PYTHONHASHSEED=0  # too late"),
        "DET401": (4, 4, "torch.empty(3)"),
        "DET502": (5, 1, "torch.backends.cudnn.deterministic = False"),
    }
    assert [place[:2] for place in places.values()] == sorted(place[:2] for place in places.values())


def test_related_places_are_in_their_cells() -> None:
    text = book(
        "import torch",
        "def make():\n    return torch.nn.Linear(1, 1)",
        markdown(),
        "m = make()",
        "torch.manual_seed(0)",
    )
    (judged,) = report(text, "DET106").findings
    assert judged.finding.place.cell == 4
    assert [(r.place.cell, r.place.line) for r in judged.finding.related] == [(1, 2), (3, 1)]


def test_offsets_and_places_lead_to_each_other() -> None:
    text = book(
        "import torch\n!ls\nx = f(1)", markdown(), "%cd x\n\n", "  y = g(x)\n  %timeit -n 3 h(y)", "%%time\nz = x\r\n"
    )
    document = notebook.read("a.ipynb", text)
    rules = catalogue.load()
    module = Module(document.text, "a.ipynb", "a", rules, rules.newest_release(), document.origins)
    for node in module.calls:
        place = module.place(node)
        assert marked(document.texts[place.cell], place) == module.source(node)
        assert (
            module.source(node)
            == document.text[
                module.lines.offset(place.cell, place.line, place.column) : module.lines.offset(
                    place.cell, place.end_line, place.end_column
                )
            ]
        )
    assert [module.place(call).cell for call in module.calls] == [0, 3, 3]
    for missing in ((1, 1, 1), (0, 4, 1), (None, 1, 1)):
        with pytest.raises(KeyError):
            module.lines.offset(*missing)


def test_lines_without_cells_have_offsets_too() -> None:
    text = "a\r\nbc\n"
    lines = Lines(text)
    for offset in (0, 1, 3, 4, 6):
        assert lines.offset(*lines.locate(offset)) == offset


def test_a_place_ends_in_the_cell_where_it_begins() -> None:
    document = notebook.read("a.ipynb", book("def f():\n    return 1", "%%time\nx = 1", "\n"))
    lines = Lines(document.text, document.origins)
    for offset in range(len(document.text) + 1):
        cell, line, column = lines.locate(offset)
        assert cell is not None and 1 <= column <= len(document.texts[cell].split("\n")[line - 1]) + 1
    assert lines.locate(len(document.text)) == (2, 1, 1)


def test_places_sort_by_path_cell_and_line() -> None:
    def place(path: str, line: int, cell: int | None) -> Place:
        return Place(path, line, 1, line, 2, cell)

    wanted = [place("a.ipynb", 9, None), place("a.ipynb", 7, 0), place("a.ipynb", 1, 2), place("a.ipynb", 2, 2)]
    wanted += [place("a.ipynb", 1, 10), place("b.py", 1, None), place("b.py", 2, None)]
    shuffled = wanted[::-1]
    assert sorted(shuffled) == wanted


# Programs


def test_a_seed_in_an_earlier_cell_counts_and_one_in_a_later_cell_does_not() -> None:
    draw = "x = torch.rand(3)"
    assert found(book("import torch", "torch.manual_seed(0)", draw), "DET1") == []
    assert found(book("import torch", draw, "torch.manual_seed(0)"), "DET1") == [(2, 1, "DET106")]


def test_a_variable_of_the_environment_that_a_magic_sets_is_set() -> None:
    switch = "import torch\ntorch.use_deterministic_algorithms(True)"

    def codes(*cells: str) -> list[str]:
        config = Config(select=("DET5",))
        old = Version("2.4")
        return [j.rule.code for j in engine.check_sources([Source("a.ipynb", "a", book(*cells))], config, old).findings]

    assert codes(switch) == ["DET504"]
    assert codes("%env CUBLAS_WORKSPACE_CONFIG=:4096:8", switch) == []


# Languages


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"kernelspec": {"name": "python3"}},
        {"kernelspec": {"name": "conda-env-x-py", "language": "python"}, "language_info": {"name": "python"}},
        {"kernelspec": {"language": "Python"}},
        {"language_info": {"name": "ipython"}},
        {"kernelspec": None, "language_info": []},
    ],
)
def test_a_notebook_of_python_says_so_or_says_nothing(metadata: dict[str, object]) -> None:
    assert found(book("import torch\n" + BENCHMARK, **metadata)) == [(0, 2, "DET501")]


@pytest.mark.parametrize(
    "metadata",
    [
        {"kernelspec": {"name": "ir", "language": "R"}},
        {"kernelspec": {"name": "ir", "display_name": "R"}},
        {"kernelspec": {"name": "julia-1.9"}},
        {"kernelspec": {"name": "x"}, "language_info": {"name": "rust"}},
    ],
)
def test_a_notebook_in_another_language_is_passed_over(metadata: dict[str, object]) -> None:
    assert found(book("import torch\n" + BENCHMARK, "x = (", **metadata)) == []


def test_the_format_before_4_is_read() -> None:
    sheet = [[{"cell_type": "code", "input": ["import torch"], "language": "python"}, {"cell_type": "heading"}]]
    sheet += [[{"cell_type": "code", "input": BENCHMARK, "language": "python"}]]
    content = {"nbformat": 3, "metadata": {"name": ""}, "worksheets": [{"cells": cells} for cells in sheet]}
    assert found(json.dumps(content)) == [(2, 1, "DET501")]


# What is broken


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("x = 1\nx = (", 2),
        ("!ls\n\n  y = 1\n", 3),
        ("if x:", 1),
        ("print 'a'", 1),
        ("x = 1 \\", 1),
        ("x = 1\npip install x", 2),
        ({"cell_type": "code"}, 1),
        ({"cell_type": "code", "source": [1]}, 1),
        ({"cell_type": "code", "source": None}, 1),
        (None, 1),
    ],
)
def test_a_broken_cell_is_a_finding_and_no_stop(cell: object, line: int) -> None:
    text = book("import torch", cell, BENCHMARK)
    assert found(text) == [(1, line, "DET000"), (2, 1, "DET501")]


def test_a_broken_cell_says_what_is_wrong_where() -> None:
    text = book("    x = 1\n    y = = 2", {"cell_type": "code", "source": 1})
    first, second = (judged.finding for judged in report(text).findings)
    assert (first.message, first.place) == ("not analysed: invalid syntax", Place("book.ipynb", 2, 9, 2, 10, 0))
    assert second.message == "not analysed: the cell has no source that is text or a list of lines"


def test_cells_do_not_complete_each_other() -> None:
    text = book("import torch", "x = '''", BENCHMARK, "'''", "if x:", "  " + OFF)
    assert found(text) == [(1, 1, "DET000"), (2, 1, "DET501"), (3, 1, "DET000"), (4, 1, "DET000"), (5, 1, "DET502")]


def test_lone_surrogates_are_no_trouble() -> None:
    assert found(book("import torch\nx = '\ud800'; " + BENCHMARK)) == [(0, 2, "DET501")]


# Files and the command line


@pytest.mark.parametrize(
    ("path", "name"),
    [("train.ipynb", "train"), ("1. intro (old).ipynb", "1__intro__old_"), ("pkg/demo.ipynb", "demo")],
)
def test_a_notebook_is_named_after_its_file(tmp_path: Path, path: str, name: str) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").touch()
    assert source.module_name(tmp_path / path) == name


def test_text_and_json_show_the_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("b.ipynb").write_bytes(
        b"\xef\xbb\xbf" + book(markdown(), "import torch", "x = 'é'; torch.rand(3)", "x = (").encode()
    )
    Path("a.ipynb").write_text("{", encoding="utf-8")
    Path(".ipynb_checkpoints").mkdir()
    Path(".ipynb_checkpoints/b.ipynb").write_text("{", encoding="utf-8")
    result = CliRunner().invoke(cli, ["."])
    assert result.exit_code == 1
    heads = [line.partition(" DET")[0] for line in result.stdout.splitlines() if " DET" in line]
    assert heads == ["a.ipynb:1:2: error", "b.ipynb:cell 3:1:10: error", "b.ipynb:cell 4:1:5: error"]
    assert "\n1 | x = 'é'; torch.rand(3)\n  |          ^^^^^^^^^^^^^\n" in result.stdout
    assert "\n1 | x = (\n  |     ^\n" in result.stdout
    assert "{" not in result.stdout

    findings = json.loads(CliRunner().invoke(cli, ["--format", "json", "b.ipynb", "a.ipynb"]).stdout)["findings"]
    keys = ("path", "code", "cell", "line", "column", "end_line", "end_column")
    assert [tuple(finding[key] for key in keys) for finding in findings] == [
        ("a.ipynb", "DET000", None, 1, 2, 1, 3),
        ("b.ipynb", "DET101", 2, 1, 10, 1, 23),
        ("b.ipynb", "DET000", 3, 1, 5, 1, 6),
    ]


def test_related_places_are_shown_with_their_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.ipynb").write_text(book("import torch", "x = torch.rand(1)", "torch.manual_seed(0)"), encoding="utf-8")
    result = CliRunner().invoke(cli, ["--select", "DET106", "a.ipynb"])
    assert "a.ipynb:cell 3:1:1: error DET106" in result.stdout
    assert " = a.ipynb:cell 2:1:5: `torch.rand` draws before it" in result.stdout
    document = json.loads(CliRunner().invoke(cli, ["--select", "DET106", "--format", "json", "a.ipynb"]).stdout)
    assert document["findings"][0]["related"][0]["cell"] == 1
