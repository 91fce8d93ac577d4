"""After any edits of a project, its answers are those of a fresh run.

`pytest --hypothesis-profile=long -m slow tests/test_edited_projects.py` tries many more, other ones each time.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detlint import catalogue, engine
from detlint.cache import courses
from detlint.config import Config
from detlint.workspace import Workspace
from tests.edited import Text, edit, edits, projects
from tests.tools.edits import differences

pytestmark = pytest.mark.slow

TORCH = catalogue.load().newest_release()
CONFIG = Config(select=("ALL",), cache_dir=None)
FEWER = settings(deadline=None, max_examples=settings().max_examples // 2)


def _in_folder(do: Callable[[], None]) -> None:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            do()
        finally:
            os.chdir(before)


def _write(files: dict[str, Text]) -> None:
    for path, text in files.items():
        Path(path).write_text(str(text))


def _edit(files: dict[str, Text], kind: str, path: str, at: int, step: str) -> None:
    if kind == "delete":
        Path(path).unlink(missing_ok=True)
    else:
        Path(path).write_text(edit(files[path], kind, at, step))


def _workspace() -> Workspace:
    return Workspace(replace(CONFIG, root=Path()), TORCH)


@FEWER
@given(projects(), st.lists(edits(), min_size=3, max_size=8))
def test_answers_after_edits_are_those_of_a_fresh_run(
    files: dict[str, Text], done: Sequence[tuple[str, str, int, str]]
) -> None:
    def run() -> None:
        _write(files)
        workspace = _workspace()
        workspace.report()
        for number, (kind, path, at, step) in enumerate(done):
            _edit(files, kind, path, at, step)
            workspace.refresh()
            if number % 3:
                workspace.standing()
            assert differences(workspace.report(), _workspace().report()) == []

    _in_folder(run)


@FEWER
@given(projects(), st.lists(edits(), min_size=2, max_size=5))
def test_runs_after_edits_find_in_the_cache_what_a_fresh_run_finds(
    files: dict[str, Text], done: Sequence[tuple[str, str, int, str]]
) -> None:
    def run() -> None:
        _write(files)
        kept = replace(CONFIG, root=Path(), cache_dir=Path(".detlint_cache"))
        engine.check_paths([Path()], kept, TORCH, jobs=1)
        for kind, path, at, step in done:
            _edit(files, kind, path, at, step)
            fresh = engine.check_paths([Path()], replace(CONFIG, root=Path()), TORCH, jobs=1)
            assert differences(engine.check_paths([Path()], kept, TORCH, jobs=1), fresh) == []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(courses, "_FEWEST", 0)
        patch.delenv("DETLINT_NO_CACHE", raising=False)
        _in_folder(run)
