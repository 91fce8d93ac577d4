"""What `detlint server` offers at a place: fixes, comments, pages of rules; in notebooks, too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from detlint.editing.vendoring import FILE, vendored_text
from tests.editor import ROOT, Editor, codes, marked, position, range_of

pytestmark = pytest.mark.slow

DRAW = "import torch\n\nprint(torch.rand(2))\n"
SEEDED = "import torch\n\ntorch.manual_seed(0)\nprint(torch.rand(2))\n"
BOTH = "import random\n\nimport torch\n\nprint(torch.rand(2), random.random())\n"
BOTH_SEEDED = BOTH.replace(
    "import torch\n\n", "import torch\n\nfrom detlint_runtime import seed_everything\n\nseed_everything(0)\n"
)
BENCHMARK = "torch.backends.cudnn.benchmark = True"
HELD = """import numpy as np
from torch.utils.data import Dataset


class Noisy(Dataset):
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __getitem__(self, index):
        return self.rng.normal()
"""


# Actions


def test_a_fix_makes_what_the_command_line_makes(editor: Editor, project: Path) -> None:
    uri = editor.create(project / "train.py", DRAW)
    (found,) = editor.diagnostics(uri)
    fix, suppress = editor.actions(uri, found.range, "quickfix")
    assert (fix.title, fix.is_preferred) == ("detlint: Seed with `torch.manual_seed(0)`", True)
    assert fix.diagnostics == (found,)
    assert suppress.is_preferred is None
    editor.apply(fix.edit)
    assert editor.texts == {uri: SEEDED}


def test_a_fix_brings_its_copy_of_the_runtime(editor: Editor, project: Path) -> None:
    uri = editor.create(project / "train.py", BOTH)
    found = editor.diagnostics(uri)
    editor.apply(editor.actions(uri, found[0].range, "quickfix")[0].edit)
    assert editor.texts == {uri: BOTH_SEEDED, (project / FILE).as_uri(): vendored_text({"seed_everything"})}


def test_a_menu_that_opens_by_itself_does_not_wait_for_an_analysis(editor: Editor, project: Path) -> None:
    automatic = types.CodeActionTriggerKind.Automatic
    uri = editor.open(project / "train.py", DRAW)
    (found,) = editor.diagnostics(uri)
    assert len(editor.actions(uri, found.range, kind=automatic)) == 2
    editor.type(uri, "rand(2)", "rand(3)")
    assert editor.actions(uri, found.range, kind=automatic) == []
    assert len(editor.actions(uri, found.range, kind=types.CodeActionTriggerKind.Invoked)) == 2


def test_an_edit_is_of_the_version_that_it_names(editor: Editor, project: Path) -> None:
    text = DRAW + "x = 1\n" * 1000
    uri = editor.open(project / "train.py", text)
    (found,) = editor.diagnostics(uri)
    document, context = types.TextDocumentIdentifier(uri), types.CodeActionContext([])
    wanted = types.CodeActionParams(document, found.range, context)
    editor.type(uri, "x = 1", "x = 2")
    asked = editor.client.text_document_code_action_async(wanted)
    editor.pause(0.05)
    editor.type(uri, "print", "y = 1\nprint")
    after = editor.client.text_document_hover_async(types.HoverParams(document, found.range.start))
    actions = editor.do(asked)
    editor.do(after)
    made = [each.new_text for action in actions or () for each in _edits(action, uri)]
    assert not any("y = 1" in each for each in made)


def _edits(action: types.Command | types.CodeAction, uri: str) -> list[Any]:
    assert isinstance(action, types.CodeAction) and action.edit is not None
    changes = [each for each in action.edit.document_changes or () if isinstance(each, types.TextDocumentEdit)]
    return [edit for each in changes if each.text_document.uri == uri for edit in each.edits]


def test_an_unsafe_fix_says_so(editor: Editor, project: Path) -> None:
    text = "import random\n\nrandom.seed(random.randint(0, 9) + random.randint(0, 9))\nprint(random.random())\n"
    uri = editor.open(project / "train.py", text)
    (found,) = editor.diagnostics(uri)
    fix = editor.actions(uri, found.range)[0]
    assert fix.title.endswith(" (unsafe)")
    assert fix.is_preferred is None
    editor.apply(fix.edit)
    assert "random.seed(0)" in editor.texts[uri]


def test_a_fix_that_is_only_shown_is_not_offered(editor: Editor, project: Path) -> None:
    uri = editor.open(project / "data.py", HELD)
    found = editor.diagnostics(uri)
    assert found
    titles = [each.title for each in editor.actions(uri, found[0].range)]
    assert titles == [f"detlint: suppress {found[0].code} with # noqa"]


def test_crlf_stays(editor: Editor, project: Path) -> None:
    uri = editor.create(project / "train.py", DRAW.replace("\n", "\r\n"))
    (found,) = editor.diagnostics(uri)
    assert marked(editor.texts[uri], found.range) == "torch.rand(2)"
    editor.apply(editor.actions(uri, found.range)[0].edit)
    assert editor.texts[uri] == SEEDED.replace("\n", "\r\n")


def test_all_that_is_safe_is_fixed_at_once(editor: Editor, project: Path) -> None:
    text = f"import torch\n\n{BENCHMARK}\nprint(torch.rand(2), torch.empty(2))\n"
    uri = editor.create(project / "train.py", text)
    (action,) = editor.actions(uri, range_of(text, 0, 0), "source.fixAll")
    editor.apply(action.edit)
    command = [sys.executable, "-m", "detlint", "--fix", "--jobs", "1", str(project)]
    subprocess.run(command, capture_output=True, cwd=ROOT)
    assert editor.texts[uri] == (project / "train.py").read_text(encoding="utf-8") != text
    editor.versions[uri] += 1
    assert editor.actions(uri, range_of(text, 0, 0), "source.organizeImports") == []


def test_a_finding_is_suppressed_where_the_line_ends(editor: Editor, project: Path) -> None:
    uri = editor.open(project / "train.py", DRAW)
    (found,) = editor.diagnostics(uri)
    editor.apply(editor.actions(uri, found.range)[-1].edit)
    assert editor.texts[uri] == DRAW.replace("(2))\n", "(2))  # noqa: DET101\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("print(torch.rand(2))  # noqa: E501 long", "print(torch.rand(2))  # noqa: E501, DET101 long"),
        ("print(torch.rand(2))  # two", "print(torch.rand(2))  # two  # noqa: DET101"),
        ('f(""" """, torch.rand(2, names="""\n"""))', 'f(""" """, torch.rand(2, names="""\n"""))  # noqa: DET101'),
        ("x = torch.rand(\n    2)", "x = torch.rand(  # noqa: DET101\n    2)"),
        ("x = torch.rand(2, \\\n    3)", "x = torch.rand(2, \\\n    3)  # noqa: DET101"),
    ],
)
def test_the_comment_goes_where_it_counts(editor: Editor, project: Path, before: str, after: str) -> None:
    text = f"import torch\n\n{before}"
    uri = editor.open(project / "train.py", text)
    (found,) = editor.diagnostics(uri)
    suppress = [each for each in editor.actions(uri, found.range) if "noqa" in each.title]
    editor.apply(suppress[0].edit)
    assert editor.texts[uri] == f"import torch\n\n{after}"


# Hover


def test_the_page_of_a_rule_is_shown_over_its_finding(editor: Editor, project: Path) -> None:
    uri = editor.open(project / "train.py", DRAW)
    (found,) = editor.diagnostics(uri)
    text = editor.hover(uri, found.range.start)
    assert text.startswith("**DET101** `unseeded-torch`: ")
    assert "\n\nHelp: call `torch.manual_seed(seed)` before the first draw" in text
    assert editor.hover(uri, types.Position(0, 0)) == ""


def test_the_page_of_a_rule_is_shown_over_its_code_in_a_comment(editor: Editor, project: Path) -> None:
    text = f"import torch\n\n{BENCHMARK}  # noqa: E501, DET501, DET101\n"
    uri = editor.open(project / "train.py", text)
    editor.expect(uri, [])
    assert editor.hover(uri, position(text, text.index("DET501") + 3)).startswith("**DET501**")
    over = editor.hover(uri, position(text, text.index("DET101") + 3))
    assert "\n\nWhy: " in over and "\n\nHelp: " not in over  # only a finding says what to do
    assert editor.hover(uri, position(text, text.index("E501") + 1)) == ""


# Notebooks


def test_a_notebook_is_one_program_with_diagnostics_for_each_cell(editor: Editor, project: Path) -> None:
    cells = ["%matplotlib inline\nimport torch\n", "torch.manual_seed(0)\n", "# title", "print(torch.rand(2))\n"]
    uris = editor.open_notebook(project / "book.ipynb", cells, markup={2})
    editor.until(lambda: uris[3] in editor.published)
    assert [editor.published[uri].diagnostics for uri in uris if uri != uris[2]] == [(), (), ()]
    assert uris[2] not in editor.published
    editor.type_in_cell(project / "book.ipynb", uris[1], "torch.manual_seed(0)", BENCHMARK)
    editor.until(lambda: editor.published[uris[3]].diagnostics)
    assert codes(list(editor.published[uris[1]].diagnostics)) == [(1, "DET501")]
    assert codes(list(editor.published[uris[3]].diagnostics)) == [(1, "DET101")]
    fix = editor.actions(uris[1], editor.published[uris[1]].diagnostics[0].range)[0]
    editor.apply(fix.edit)
    assert editor.texts[uris[1]] == BENCHMARK.replace("True", "False") + "\n"
    assert editor.texts[uris[0]] == cells[0]
    suppress = editor.actions(uris[3], editor.published[uris[3]].diagnostics[0].range)[-1]
    editor.apply(suppress.edit)
    assert editor.texts[uris[3]] == "print(torch.rand(2))  # noqa: DET101\n"


def test_a_cell_that_becomes_text_and_code_again_is_read_again(editor: Editor, project: Path) -> None:
    book = project / "book.ipynb"
    _, cell = editor.open_notebook(book, ["import torch\n", "print(torch.empty(2))\n"])
    editor.expect(cell, [(1, "DET401")])
    editor.change_kind(book, 1, types.NotebookCellKind.Markup, "markdown")
    editor.until(lambda: not editor.published[cell].diagnostics)
    editor.change_kind(book, 1, types.NotebookCellKind.Code, "python")
    editor.expect(cell, [(1, "DET401")])


def test_a_notebook_that_is_sent_as_one_python_text_has_its_findings_there(editor: Editor, project: Path) -> None:
    book = project / "book.ipynb"
    book.write_text('{"cells": []}', encoding="utf-8")  # a client that joins the cells has another text than the disk
    text = f"import torch\n\n\n{BENCHMARK}\n\n\nprint(torch.rand(2))\n"
    uri = editor.open(book, text)
    editor.expect(uri, [(4, "DET501"), (7, "DET101")])
    assert [marked(text, each.range) for each in editor.published[uri].diagnostics] == [BENCHMARK, "torch.rand(2)"]
    editor.type(uri, "print(", 'get_ipython().run_line_magic("run", " seeds.py")\nprint(')
    editor.create(project / "seeds.py", "import torch\n\ntorch.manual_seed(0)\n")
    editor.expect(uri, [(4, "DET501")])
    _, suppress = editor.actions(uri, editor.published[uri].diagnostics[0].range)
    editor.apply(suppress.edit)
    assert f"{BENCHMARK}  # noqa: DET501\n" in editor.texts[uri]


def test_a_notebook_that_is_sent_as_json_is_silent(editor: Editor, project: Path) -> None:
    item = types.TextDocumentItem((project / "book.ipynb").as_uri(), "json", 1, '{"cells": []}')
    editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    uri = editor.open(project / "train.py", DRAW)
    editor.expect(uri, [(3, "DET101")])
    assert item.uri not in editor.published
    editor.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(item.uri)))
