"""Projects of a few files, as people write them: what each entry point draws before it has seeded, across the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from detlint import catalogue, engine
from detlint.config import Config
from detlint.report import Judged

from .support import Several, projects

RULES = ("DET101", "DET102", "DET103", "DET106")
KNOWN_MISS = pytest.mark.xfail(strict=True, reason="a known miss")
CASES = [pytest.param(each, id=str(each), marks=[KNOWN_MISS] if each.missed else []) for each in projects("projects")]


@pytest.mark.parametrize("project", CASES)
def test_finds_what_is_marked_and_nothing_else(
    project: Several, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [
        (each.finding.place.path, each.finding.place.line, each.finding.code)
        for each in check(project, tmp_path, monkeypatch)
    ]
    assert found == project.marks


@pytest.mark.parametrize("project", [case for case in CASES if "as notes" in str(case.id)])
def test_what_only_reads_weights_is_a_note(project: Several, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {each.severity.value for each in check(project, tmp_path, monkeypatch)} == {"note"}


def check(project: Several, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Judged]:
    """What detlint reports on the project when it is run in its root."""
    for path, text in project.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    release = catalogue.load().newest_release()
    return list(engine.check_paths([Path()], Config(select=RULES), release, jobs=1).findings)
