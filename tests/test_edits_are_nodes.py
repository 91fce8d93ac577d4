"""What fixes write is printed by libcst: nothing builds the text of an edit, but of comments, which are no syntax."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "detlint"
PRINTED = {  # where an edit may be made, and the functions whose text it may have
    "editing/edits.py": {"_printed", "_lines", "around", "printed"},
    "editing/importing.py": {"printed", "rewritten"},
    "editing/import_removal.py": {"rewritten"},
}
COMMENTS = {"sources/unused.py", "applying/suppressing.py"}


def makers() -> dict[str, list[ast.Call]]:
    """The calls that make an edit, by file."""
    found: dict[str, list[ast.Call]] = {}
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    for path, text in texts.items():
        for node in ast.walk(ast.parse(text)) if "Edit(" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Edit":
                found.setdefault(path.relative_to(PACKAGE).as_posix(), []).append(node)
    return found


def test_edits_are_made_where_libcst_prints_them_and_of_comments() -> None:
    assert set(makers()) == {*PRINTED, *COMMENTS}


def test_no_text_of_an_edit_is_written_out() -> None:
    for path, calls in makers().items():
        if path in PRINTED:
            written = [part for call in calls for part in ast.walk(call.args[1]) if isinstance(part, ast.Constant)]
            assert {part.value for part in written if isinstance(part.value, str)} <= {"", "\n"}, path


def test_each_module_that_makes_edits_prints_nodes() -> None:
    for path, functions in PRINTED.items():
        tree = ast.parse((PACKAGE / path).read_text(encoding="utf-8"))
        called = {getattr(n.func, "id", getattr(n.func, "attr", "")) for n in ast.walk(tree) if isinstance(n, ast.Call)}
        assert called & functions, path
