"""`detlint server` in a process of its own, as an editor uses it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types

from tests.editor import ROOT, Editor, codes, marked, range_of

pytestmark = pytest.mark.slow

DRAW = "import torch\n\nprint(torch.rand(2))\n"
EMPTY = "import torch\n\nprint(torch.empty(2))\n"
BENCHMARK = "torch.backends.cudnn.benchmark = True"


# Diagnostics


def test_a_diagnostic_says_what_the_command_line_says(editor: Editor, project: Path) -> None:
    text = f"import torch\n\n{BENCHMARK}\nx = torch.rand(2)\nprint(torch.empty(2))\n"
    found = editor.diagnostics(editor.create(project / "train.py", text))
    command = [sys.executable, "-m", "detlint", "--format", "json", "--jobs", "1", str(project)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    expected = json.loads(done.stdout)["findings"]
    assert len(expected) >= 3
    severities = {"error": 1, "warning": 2, "note": 3}
    assert [(d.code, d.message, d.severity, d.source) for d in found] == [
        (each["code"], each["message"], severities[each["severity"]], "detlint") for each in expected
    ]
    for shown, each in zip(found, expected, strict=True):
        assert (shown.range.start.line + 1, shown.range.start.character + 1) == (each["line"], each["column"])
        assert (shown.range.end.line + 1, shown.range.end.character + 1) == (each["end_line"], each["end_column"])
        lines = [one.location.range.start.line + 1 for one in shown.related_information or ()]
        assert lines == [one["line"] for one in each["related"]]


def test_what_is_typed_is_analysed_once_when_the_keys_rest(editor: Editor, project: Path) -> None:
    for attempt in range(3):  # a busy machine may delay a key for longer than the server waits
        uri = editor.open(project / f"train{attempt}.py", "import torch\n")
        editor.expect(uri, [])
        before = len(editor.history)
        editor.type(uri, "torch\n", "torch\n\nprint(torch.rand())\n")
        for old, new in (("rand()", "rand(2)"), ("2", "23"), ("23", "234")):
            editor.pause(0.05)
            editor.type(uri, old, new)
        editor.expect(uri, [(3, "DET101")])
        analysed = [each.version for each in editor.history[before:]]
        if analysed == [5]:
            break
    assert analysed == [5]


def test_what_was_found_in_a_text_that_changed_meanwhile_is_not_shown(editor: Editor, project: Path) -> None:
    uri = editor.open(project / "train.py", DRAW + "torch.rand(2)\n" * 1000)
    editor.type(uri, "rand(2)", "rand(3)")
    editor.expect(uri, [(3, "DET101")])
    assert [each.version for each in editor.history if each.uri == uri] == [2]


def test_a_file_that_is_closed_has_no_diagnostics(editor: Editor, project: Path) -> None:
    uri = editor.open(project / "train.py", DRAW)
    assert editor.diagnostics(uri)
    editor.close(uri)
    editor.until(lambda: not editor.published[uri].diagnostics)


def test_a_file_that_is_opened_again_has_its_diagnostics_again(editor: Editor, project: Path) -> None:
    uri = editor.open(project / "train.py", DRAW)
    editor.expect(uri, [(3, "DET101")])
    editor.open(project / "large.py", "import torch\n" + "x = 1\n" * 2000)
    editor.pause(0.1)  # the server is analysing that, and sees both at once
    editor.published.clear()
    editor.close(uri)
    editor.open_as(uri, DRAW)
    editor.expect(uri, [(3, "DET101")])


def test_a_syntax_error_is_shown_and_goes_again(editor: Editor, project: Path) -> None:
    uri = editor.open(project / "train.py", DRAW)
    editor.expect(uri, [(3, "DET101")])
    editor.type(uri, "rand(2))", "rand(2)")
    assert [code for _, code in codes(editor.diagnostics(uri))] == ["DET000"]
    editor.type(uri, "rand(2)", "rand(2))")
    editor.expect(uri, [(3, "DET101")])


def test_columns_count_as_the_client_counts_them(editor: Editor, project: Path) -> None:
    text = 'import torch\n\nprint("🎲🎲", torch.rand(2))\n'
    uri = editor.open(project / "train.py", text)
    (found,) = editor.diagnostics(uri)
    assert marked(text, found.range) == "torch.rand(2)"
    assert found.range.start.character == len('print("🎲🎲", ') + 2
    editor.type(uri, "🎲🎲", "🎲🎲🎲")
    (found,) = editor.diagnostics(uri)
    assert marked(editor.texts[uri], found.range) == "torch.rand(2)"


def test_typing_below_a_form_feed_changes_the_right_line(editor: Editor, project: Path) -> None:
    uri = editor.open(project / "train.py", "import torch\n\x0c\nx = 1\ny = 2\n")
    editor.expect(uri, [])
    editor.type(uri, "x = 1", "x = torch.rand(2)")
    (found,) = editor.diagnostics(uri)
    assert marked(editor.texts[uri], found.range) == "torch.rand(2)"


# Projects


def test_a_file_that_is_broken_while_it_is_typed_still_counts_for_the_others(editor: Editor, project: Path) -> None:
    helper = "import torch\n\n\ndef noise():\n    return torch.rand(2)\n"
    train = "import torch\nfrom helper import noise\n\nnoise()\n"
    script = editor.create(project / "train.py", train)
    other = editor.create(project / "helper.py", helper)
    editor.expect(other, [(5, "DET101")])
    editor.expect(script, [])
    before = len(editor.history)
    editor.type(other, "def noise():", "def noise(:")
    editor.expect(other, [(4, "DET000")])
    editor.type(other, "def noise(:", "\ndef noise():")
    editor.expect(other, [(6, "DET101")])
    assert {each.uri for each in editor.history[before:]} == {other}


def test_an_excluded_file_is_silent(editor: Editor, project: Path) -> None:
    (project / "build").mkdir()
    (project / "pyproject.toml").write_text('[tool.detlint]\nexclude = ["build"]\n', encoding="utf-8")
    uri = editor.create(project / "build" / "train.py", DRAW)
    editor.expect(uri, [])


def test_a_new_file_is_taken_into_the_project(editor: Editor, project: Path) -> None:
    uri = editor.create(project / "train.py", "from noise import noise\n\nprint(noise())\n")
    editor.expect(uri, [])
    other = editor.create(project / "noise.py", "import torch\n\n\ndef noise():\n    return torch.rand(2)\n")
    editor.expect(other, [(5, "DET101")])


def test_what_another_buffer_no_longer_seeds_is_found(editor: Editor, project: Path) -> None:
    helper = "import torch\n\n\ndef start():\n    torch.manual_seed(0)\n"
    train = "import torch\nfrom helper import start\n\nstart()\nprint(torch.rand(2))\n"
    script = editor.create(project / "train.py", train)
    other = editor.create(project / "helper.py", helper)
    editor.expect(script, [])
    editor.type(other, "torch.manual_seed(0)", "pass")
    editor.expect(script, [(5, "DET101")])
    editor.type(other, "pass", "torch.manual_seed(0)")
    editor.expect(script, [])


def test_what_changes_on_disk_is_read(editor: Editor, project: Path) -> None:
    helper = project / "helper.py"
    helper.write_text("import torch\n\n\ndef start():\n    torch.manual_seed(0)\n", encoding="utf-8")
    text = "import torch\nfrom helper import start\n\nstart()\nprint(torch.rand(2))\n"
    uri = editor.create(project / "train.py", text)
    editor.expect(uri, [])
    helper.write_text("def start():\n    pass\n", encoding="utf-8")
    editor.changed(helper)
    editor.expect(uri, [(5, "DET101")])
    helper.unlink()
    editor.changed(helper, types.FileChangeType.Deleted)
    editor.pause(0.5)
    editor.expect(uri, [(5, "DET101")])


def test_the_client_is_asked_to_watch_files(editor: Editor) -> None:
    assert types.WORKSPACE_DID_CHANGE_WATCHED_FILES in editor.registered


def test_a_related_place_may_be_in_another_file(editor: Editor, project: Path) -> None:
    uri = editor.create(project / "noise.py", "import torch\n\n\ndef noise():\n    return torch.rand(2)\n")
    (project / "use.py").write_text("from noise import noise\n\nprint(noise())\n", encoding="utf-8")
    editor.changed(project / "use.py", types.FileChangeType.Created)
    editor.expect(uri, [(5, "DET101")])
    (found,) = editor.diagnostics(uri)
    assert found.related_information is not None
    places = {(one.location.uri, one.location.range.start.line) for one in found.related_information}
    assert ((project / "use.py").as_uri(), 2) in places


def test_a_large_project_shows_how_far_it_is_read(editor: Editor, project: Path) -> None:
    for number in range(50):
        (project / f"module{number}.py").write_text("X = 1\n", encoding="utf-8")
    uri = editor.create(project / "train.py", DRAW)
    editor.expect(uri, [(3, "DET101")])
    assert editor.progress[:2] == ["create", "begin"]
    assert editor.progress[-1] == "end"
    assert set(editor.progress[2:-1]) == {"report"}


def test_a_file_outside_of_any_project_is_analysed_alone(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def start():\n    pass\n", encoding="utf-8")
    uri = editor.open(tmp_path / "stray.py", DRAW)
    editor.expect(uri, [(3, "DET101")])


def test_a_text_that_was_never_saved_is_analysed_alone(editor: Editor) -> None:
    uri = editor.open_as("untitled:Untitled-1", f"{DRAW}{BENCHMARK}\n")
    editor.expect(uri, [(3, "DET101"), (4, "DET501")])
    titles = [each.title for each in editor.actions(uri, range_of(editor.texts[uri], 0, len(editor.texts[uri])))]
    assert titles == [
        "detlint: Seed with `torch.manual_seed(0)`",
        "detlint: Set it to False (unsafe)",
        *(f"detlint: suppress {c} with # noqa" for c in ("DET101", "DET501")),
    ]


def test_a_text_that_is_in_no_file_has_findings_at_their_places(editor: Editor) -> None:
    editor.expect(editor.open_as("vscode-remote://host/train.py", DRAW), [(3, "DET101")])


# Settings


def test_settings_that_can_not_be_read_for_a_while_are_told_and_read_again(editor: Editor, project: Path) -> None:
    settings = project / "pyproject.toml"
    uri = editor.open(project / "train.py", DRAW)
    editor.expect(uri, [(3, "DET101")])
    settings.write_text("[tool.detl", encoding="utf-8")
    editor.changed(settings)
    editor.expect(uri, [])
    editor.until(lambda: editor.messages)
    assert f"{settings.as_posix()}: it is not TOML: Expected ']'" in editor.messages[0]
    settings.write_text("[tool.detlint]\n", encoding="utf-8")
    editor.changed(settings)
    editor.expect(uri, [(3, "DET101")])


def test_broken_settings_are_told_once_and_mended_ones_are_used(editor: Editor, project: Path) -> None:
    settings = project / "pyproject.toml"
    settings.write_text("[tool.detlint]\nselekt = []\n", encoding="utf-8")
    uri = editor.open(project / "train.py", DRAW)
    editor.until(lambda: editor.messages)
    assert f"{settings.as_posix()}: unknown setting 'selekt'" in editor.messages[0]
    editor.type(uri, "rand(2)", "rand(3)")
    editor.pause(0.6)
    assert len(editor.messages) == 1
    settings.write_text('[tool.detlint]\nignore = ["DET101"]\n', encoding="utf-8")
    editor.changed(settings)
    editor.expect(uri, [])
    settings.write_text("", encoding="utf-8")
    editor.changed(settings)
    editor.expect(uri, [(3, "DET101")])


def test_a_folder_that_is_added_is_a_project(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "noise.py").write_text("import torch\n\n\ndef noise():\n    return torch.rand(2)\n", encoding="utf-8")
    uri = editor.open(tmp_path / "noise.py", (tmp_path / "noise.py").read_text(encoding="utf-8"))
    (tmp_path / "use.py").write_text("from noise import noise\n\nprint(noise())\n", encoding="utf-8")
    editor.expect(uri, [])
    folder = types.WorkspaceFolder(tmp_path.as_uri(), "more")
    event = types.WorkspaceFoldersChangeEvent([folder], [])
    editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
    editor.expect(uri, [(5, "DET101")])


def test_the_editors_settings_come_on_top_of_the_projects(editor: Editor, project: Path) -> None:
    uri = editor.open(project / "train.py", DRAW)
    editor.expect(uri, [(3, "DET101")])
    editor.configure({"ignore": ["DET1"]})
    editor.expect(uri, [])
    editor.configure({"ignore": ["DET1"], "selcet": []})
    editor.until(lambda: editor.messages)
    assert "unknown setting 'selcet'" in editor.messages[0]
    editor.configure({})
    editor.expect(uri, [(3, "DET101")])
    editor.configure({"ignore": ["DET1"]})
    editor.expect(uri, [])
    editor.configure(None)  # as an editor whose settings have the section no more
    editor.expect(uri, [(3, "DET101")])


def test_settings_that_a_client_sends_without_being_asked_stay(tmp_path: Path) -> None:
    registers = types.DidChangeConfigurationClientCapabilities(dynamic_registration=True)
    able = types.ClientCapabilities(types.WorkspaceClientCapabilities(did_change_configuration=registers))
    editor = Editor([tmp_path], able, {"ignore": ["DET4"]})
    editor.configure({"severity": "error"})  # before it answers what the server registers
    editor.expect(editor.open(tmp_path / "train.py", f"{DRAW}{BENCHMARK}\n"), [(3, "DET101")])
    assert editor.registered
    editor.expect(editor.open(tmp_path / "other.py", f"{DRAW}{BENCHMARK}\n"), [(3, "DET101")])
    assert editor.quit() == 0


# Other clients


def test_a_client_that_creates_no_files_is_offered_what_needs_none(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    editor = Editor([tmp_path], types.ClientCapabilities(), {"ignore": ["DET4"]})
    try:
        both = "import random, torch\n\nprint([torch.rand(2), random.random()])\n"
        uri = editor.open(tmp_path / "train.py", f"{both}{BENCHMARK}\n")
        draw, _, switch = editor.diagnostics(uri)
        assert [each.title for each in editor.actions(uri, draw.range)] == ["detlint: suppress DET101 with # noqa"]
        fix = editor.actions(uri, switch.range)[0]
        assert fix.edit is not None and fix.edit.document_changes is None
        editor.apply(fix.edit)
        assert editor.texts[uri] == f"{both}{BENCHMARK.replace('True', 'False')}\n"
        editor.configure({"ignore": ["DET501"]})
        editor.expect(uri, [(3, "DET101"), (3, "DET103")])
        other = editor.open(tmp_path / "other.py", EMPTY)
        editor.expect(other, [(3, "DET401")])
        editor.configure(None)
        editor.expect(other, [])  # what it began with counts again
    finally:
        assert editor.quit(ask=False) == 1


def test_edits_of_all_fixes_are_made_when_they_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    lazy = types.ClientCodeActionResolveOptions(["edit"])
    document = types.TextDocumentClientCapabilities(
        code_action=types.CodeActionClientCapabilities(data_support=True, resolve_support=lazy)
    )
    general = types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind.Utf8])
    editor = Editor([tmp_path], types.ClientCapabilities(text_document=document, general=general))
    try:
        assert editor.able_to.position_encoding == types.PositionEncodingKind.Utf8
        uri = editor.open(tmp_path / "train.py", f'print("é🎲"); {EMPTY}')
        (found,) = editor.diagnostics(uri)
        assert found.range.start == types.Position(2, 6)
        (action,) = editor.actions(uri, found.range, "source")
        assert action.edit is None
        editor.apply(editor.do(editor.client.code_action_resolve_async(action)).edit)
        assert "torch.zeros(2)" in editor.texts[uri]
        editor.open(tmp_path / "other.py", 'import torch\n\nprint("é🎲", torch.rand(2))\n')
        (found,) = editor.diagnostics((tmp_path / "other.py").as_uri())
        assert found.range.start.character == len('print("é🎲", '.encode())
    finally:
        assert editor.quit(tell=False, ask=False) == 1


def test_without_pygls_one_line_says_what_to_install() -> None:
    code = "import sys; sys.modules['pygls'] = None; from detlint.cli import cli; cli(['server'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'detlint: the server needs pygls: pip install "pygls>=2"\n'
