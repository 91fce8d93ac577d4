"""Memory that leaves the function in which it is allocated: each shape with its mark, and its twin that stays silent.

A program of `tests/memory/*.md` is one fence for each file under a heading; marks are trailing comments.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import report

_FOLDER = Path(__file__).parent / "memory"
_PROGRAM = re.compile(r"^## (.+)\n((?:(?!^## ).*\n)*)", re.MULTILINE)
_FILE = re.compile(r"^```py (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"# (DET\d+)$")
PROGRAMS = {
    f"{page.stem}: {title}": dict(_FILE.findall(body))
    for page in sorted(_FOLDER.glob("*.md"))
    for title, body in _PROGRAM.findall(page.read_text(encoding="utf-8"))
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_memory_is_followed_through_files(name: str) -> None:
    files = PROGRAMS[name]
    wanted = {
        (path, number, mark[1])
        for path, text in files.items()
        for number, line in enumerate(text.splitlines(), 1)
        if (mark := _MARK.search(line))
    }
    found = report(files, ("DET401", "DET402")).findings
    assert {(each.finding.place.path, each.finding.place.line, each.finding.code) for each in found} == wanted


def test_some_programs_have_findings_and_some_have_none() -> None:
    silent = [name for name, files in PROGRAMS.items() if not any("# DET" in text for text in files.values())]
    assert len(silent) >= 10
    assert len(PROGRAMS) - len(silent) >= 10


def test_the_way_to_the_read_is_told() -> None:
    files = PROGRAMS["flows: returned through another function, exported by a package"]
    (judged,) = report(files, ("DET401",)).findings
    told = [(each.place.path, each.place.line, each.message) for each in judged.finding.related]
    assert told == [
        ("lib/made.py", 10, "it is handed on here"),
        ("use.py", 5, "read here, and nothing in the project fills it"),
    ]
