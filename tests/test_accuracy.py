"""What was measured on real code, and how the documentation shows it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tools import accuracy

COUNTS = {"sites": 40, "run": 12, "invalid": 2, "caught": 8, "noted": 1, "missed": 1, "broken": 0, "failed": 3}
ROW = {"class": "M4", "repository": "owner+name", "path": "a.py", "line": 3, "what": "`sorted(x)` -> `x`", "tags": []}
RESULT = {
    "kind": "mutants",
    "part": "open",
    "date": "2026-01-02",
    "revision": "abc1234",
    "left": 0,
    "totals": {"M4": COUNTS, "M6": dict.fromkeys(COUNTS, 0)},
    "mutants": {"M4-1": ROW | {"result": "caught", "new": [{"code": "DET602", "severity": "warning"}]}},
}
PROGRAMS = {
    "part": "counted",
    "date": "2026-01-02",
    "revision": "abc1234",
    "totals": {
        "programs": 20, "repositories": 9, "did not run": 1, "differ": 12, "equal": 7,
        "differ, named": 11, "differ, silent": 1, "equal, named": 2, "equal, silent": 5,
        "differ in": {"parameters": 12}, "bisect": {"diverged, names a rule": 10},
        "equal, an error": 3, "differ, fixed": {"equal": 9, "differs": 3}, "equal, fixed": {"as before": 6, "changed": 1},
    },
}  # fmt: skip


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which results are kept, in a folder of its own."""
    monkeypatch.setattr(accuracy, "KEPT", tmp_path / "accuracy.json")
    return tmp_path


def keep(folder: Path, *results: object) -> int:
    files = []
    for number, result in enumerate(results):
        files.append(folder / f"{number}.json")
        files[-1].write_text(json.dumps(result), encoding="utf-8")
    return accuracy.main([str(file) for file in files])


def test_a_rate_is_that_of_the_valid_mutants_and_has_its_interval(kept: Path) -> None:
    assert keep(kept, RESULT) == 0
    page = accuracy.mutants(accuracy.read())
    title = "sorted() around a listing or a set removed"
    assert f"| M4 | {title} | 40 | 12 | 3 | 2 | 10 | 8 | 1 | 1 | 80 | 49-94 |" in page
    assert "| all |  | 40 | 12 | 3 | 2 | 10 | 8 | 1 | 1 | 80 | 49-94 |" in page
    assert "| M6 | sampler.set_epoch removed | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |  |  |" in page
    assert "with detlint at abc1234" in page
    assert "owner/name 1" in page


@pytest.mark.parametrize(("count", "of", "low", "high"), [(0, 10, 0.0, 0.278), (10, 10, 0.722, 1.0), (0, 0, 0.0, 1.0)])
def test_an_interval_stays_within_what_a_share_can_be(count: int, of: int, low: float, high: float) -> None:
    assert accuracy.interval(count, of) == pytest.approx((low, high), abs=0.001)


def test_no_code_is_kept_and_a_part_takes_the_place_of_what_it_said_before(kept: Path) -> None:
    keep(kept, RESULT, PROGRAMS)
    keep(kept, RESULT | {"revision": "def5678"})
    text = accuracy.KEPT.read_text(encoding="utf-8")
    assert "sorted" not in text
    assert "DET602 warning" in text
    assert [text.count(each) for each in ("def5678", "abc1234")] == [1, 1]


def test_programs_are_counted_by_what_two_runs_and_what_detlint_say(kept: Path) -> None:
    keep(kept, PROGRAMS)
    page = accuracy.twice(accuracy.read())
    assert "20 programs of 9 repositories, of which 1 did not run." in page
    assert "| differ | 12 | 11 | 1 |\n| equal | 7 | 2 | 5 |" in page
    differ, _, equal = page.partition("| of those that are equal |")
    assert "| `detlint bisect`: diverged, names a rule | 10 |\n| after the fixes: equal | 9 |" in differ
    assert "| detlint names an error | 3 |\n| after the fixes: as before | 6 |" in equal


def test_what_repeat_makes_of_a_program_is_told(kept: Path) -> None:
    row = {"repository": "owner/name", "ran": True, "equal": False, "differs": ["output"]}
    made = {"verdict": "repeats", "changes": ["a.py:1: Sort it [DET602]"], "remains": ""}
    left = {"verdict": "differs", "changes": [], "remains": "the time decides: `time.time` (a.py:3) [host-value: time]"}
    rows = [row | {"name": "one", "repeat": made}, row | {"name": "two", "repeat": left}]
    totals = PROGRAMS["totals"] | {"repeat": {"repeats": 1}}  # type: ignore[operator]
    keep(kept, PROGRAMS | {"part": "open", "totals": totals, "programs": rows})
    page = accuracy.twice(accuracy.read())
    assert "| `detlint repeat`: repeats | 1 |" in page
    assert "| one | owner/name | differ in output |  | repeats, 1 change |" in page
    assert "| differs, 0 changes; left: the time decides: `time.time` |" in page


def test_what_the_fixes_make_of_a_program_is_told(kept: Path) -> None:
    row = {"repository": "owner/name", "ran": True, "equal": False, "differs": ["output"]}
    ran = {"ran": True, "equal": True, "differs": [], "as before": False}
    rows = [
        row | {"name": "one", "fixed": ran},
        row | {"name": "two", "fixed": ran | {"equal": False, "differs": ["saved", "output"]}},
        row | {"name": "three", "equal": True, "fixed": ran | {"as before": True}},
    ]
    keep(kept, PROGRAMS | {"part": "open", "programs": rows})
    page = accuracy.twice(accuracy.read())
    assert "| program | repository | two runs | detlint names | after the fixes |" in page
    assert "| one | owner/name | differ in output |  | equal |" in page
    assert "| two | owner/name | differ in output |  | differ in saved, output |" in page
    assert "| three | owner/name | equal |  | as before |" in page


def test_what_was_not_measured_is_said_not_to_have_been(kept: Path) -> None:
    keep(kept, PROGRAMS)
    data = accuracy.read()
    assert accuracy.mutants(data) == "Not measured yet.\n"
    assert accuracy.twice(data).startswith("### Open: repositories that were read\n\nNot measured yet.\n\n### Counted:")


def test_what_is_not_complete_is_not_kept(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert keep(kept, RESULT | {"left": 4}) == 2
    assert "4 mutants have not been run" in capsys.readouterr().err
    assert not accuracy.KEPT.exists()
