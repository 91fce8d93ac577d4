"""Orders, hashes and seeds that leave the place in which they arise: each shape of flow with its mark, and its twin that stays silent.

A program of `tests/orders/*.md` is one fence for each file under a heading; marks are trailing comments.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from detlint.cli import cli
from tests.project import written
from tests.support import report

_FOLDER = Path(__file__).parent / "orders"
_PROGRAM = re.compile(r"^## (.+)\n((?:(?!^## ).*\n)*)", re.MULTILINE)
_FILE = re.compile(r"^```py (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"# (DET\d+.*)$")

CODES = ("DET105", "DET107", "DET601", "DET602", "DET603", "DET604")


def _programs() -> dict[str, dict[str, str]]:
    found = {}
    for page in sorted(_FOLDER.glob("*.md")):
        for title, body in _PROGRAM.findall(page.read_text(encoding="utf-8")):
            found[f"{page.stem}: {title}"] = dict(_FILE.findall(body))
    return found


PROGRAMS = _programs()


@pytest.mark.parametrize("name", PROGRAMS)
def test_orders_are_followed_through_files(name: str) -> None:
    files = PROGRAMS[name]
    wanted = {
        (path, number): mark[1].split(", ")
        for path, text in files.items()
        for number, line in enumerate(text.splitlines(), 1)
        if (mark := _MARK.search(line))
    }
    found: dict[tuple[str, int], list[str]] = {}
    for judged in report(files, CODES).findings:
        severity = " note" if judged.severity.value == "note" else ""
        place = judged.finding.place
        found.setdefault((place.path, place.line), []).append(judged.finding.code + severity)
    assert found == wanted


def test_half_of_the_programs_are_silent() -> None:
    silent = [name for name, files in PROGRAMS.items() if not any("# DET" in text for text in files.values())]
    assert len(PROGRAMS) / 3 < len(silent) < len(PROGRAMS) * 2 / 3


def test_the_way_is_told() -> None:
    files = {
        "data.py": "import os\n\n\ndef names(root):\n    return os.listdir(root)\n",
        "build.py": "from data import names\n\n\ndef build(root):\n    return names(root)\n",
        "train.py": "import random\nfrom build import build\n\nrandom.shuffle(build('x'))\n",
    }
    (judged,) = report(files, ("DET602",)).findings
    told = [(each.place.path, each.place.line, each.message) for each in judged.finding.related]
    assert told == [
        ("build.py", 5, "it is handed on here"),
        ("train.py", 4, "the order decides what is drawn at random here"),
    ]


def test_the_way_is_a_flow_of_code_in_sarif(tmp_path: Path) -> None:
    files = {
        "data.py": "import os\n\n\ndef names(root):\n    return os.listdir(root)\n",
        "train.py": "import random\nfrom data import names\n\nrandom.shuffle(names('x'))\n",
    }
    written(tmp_path, files)
    arguments = [str(tmp_path), "--no-cache", "--select", "DET602", "--format", "sarif"]
    document = json.loads(CliRunner().invoke(cli, arguments, catch_exceptions=False).stdout)
    (flow,) = document["runs"][0]["results"][0]["codeFlows"]
    places = [step["location"]["physicalLocation"] for step in flow["threadFlows"][0]["locations"]]
    assert [(Path(each["artifactLocation"]["uri"]).name, each["region"]["startLine"]) for each in places] == [
        ("data.py", 5),
        ("train.py", 4),
    ]
