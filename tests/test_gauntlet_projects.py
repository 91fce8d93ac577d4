"""Projects of a few files, as people write them: what each entry point draws before it has seeded, across the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from detlint import catalogue, engine
from detlint.config import Config
from detlint.finding import Severity
from detlint.report import Judged

from .support import Several, by_section, projects

RULES = ("DET101", "DET102", "DET103", "DET106")
SECTIONS = by_section(projects())
MISSED = [name for name in SECTIONS if name.endswith("missed")]


@pytest.mark.parametrize("section", [name for name in SECTIONS if name not in MISSED])
def test_finds_what_is_marked_and_nothing_else(section: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged = {name: check(each, tmp_path / name, monkeypatch) for name, each in SECTIONS[section].items()}
    assert {name: places(each) for name, each in judged.items()} == {n: p.marks for n, p in SECTIONS[section].items()}
    if "as notes" in section:
        assert {each.severity for found in judged.values() for each in found} == {Severity.NOTE}


@pytest.mark.parametrize("section", MISSED)
def test_a_known_miss_that_is_found_moves_to_where_the_others_are(
    section: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = {name: check(each, tmp_path / name, monkeypatch) for name, each in SECTIONS[section].items()}
    assert [name for name, found in judged.items() if places(found) == SECTIONS[section][name].marks] == []


def check(project: Several, root: Path, monkeypatch: pytest.MonkeyPatch) -> list[Judged]:
    """What detlint reports on the project when it is run in its root."""
    for path, text in project.files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    monkeypatch.chdir(root)
    release = catalogue.load().newest_release()
    return list(engine.check_paths([Path()], Config(select=RULES), release, jobs=1).findings)


def places(judged: list[Judged]) -> list[tuple[str, int, str]]:
    return [(each.finding.place.path, each.finding.place.line, each.finding.code) for each in judged]
