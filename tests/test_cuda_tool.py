"""`python -m tests.tools.cuda`: shards, what is kept of a sweep that ends early, and what is laid side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from detlint.verify import pool, session
from detlint.verify.session import Measurement, Session, Settings, Subject
from detlint.verify.verdicts import Outcome, Verdict
from tests.forks import forks
from tests.tools import cuda

WHERE = {"device": "a device", "type": "cpu", "torch": "2"}
ROWS = ["put_acc.fwd.any", "scatter_src.fwd", "index_copy.fwd", "index_put_noacc.fwd"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the tests of the device have been run, and it has been asked what it is."""
    monkeypatch.setattr(cuda, "_tested", lambda folder: 0)
    monkeypatch.setattr(cuda, "_described", lambda device: WHERE)
    return tmp_path


def call(folder: Path, *more: str) -> int:
    return cuda.main([str(folder), "--device", "cpu", "--shards", "2", *more, "--rows", *ROWS])


def measured(folder: Path) -> list[str]:
    (file,) = folder.glob("*.json")
    return [one["row"] for one in json.loads(file.read_text())["measurements"]]


def test_a_sweep_goes_on_where_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def hold(subjects: Sequence[Subject], settings: Settings, *_: object) -> Session:
        asked.append([subject.row for subject in subjects])
        if len(asked) == 2:
            raise KeyboardInterrupt
        off = {"scatter_src.fwd": Outcome(Verdict.NOT_OBSERVED, 30, 3, 1)}
        outcomes = {
            "off": Outcome(Verdict.CONFIRMED, 30, 3, 2),
            "orders": Outcome(Verdict.SIMULATED, 8, 1, 8, permuted="addends"),
        }
        found = [Measurement(one, {**outcomes, "off": off.get(one.row, outcomes["off"])}) for one in subjects]
        interrupted = len(asked) == 3  # its second row was run in one process of three
        if interrupted:
            found[1] = replace(found[1], outcomes={"off": Outcome(Verdict.NOT_OBSERVED, 10, 1, 1)})
        return Session(WHERE, settings, (), tuple(found), interrupted=interrupted)

    monkeypatch.setattr(session, "hold", hold)
    assert call(folder, "--minutes", "0") == 3 and not asked
    with pytest.raises(KeyboardInterrupt):
        call(folder)
    assert measured(folder) == asked[0] == [ROWS[0], ROWS[2]]
    assert call(folder) == 3
    assert measured(folder) == [ROWS[0], ROWS[2], ROWS[1]]
    assert call(folder) == 0
    assert (asked[-1], measured(folder)) == ([ROWS[3]], [ROWS[0], ROWS[2], ROWS[1], ROWS[3]])
    page = (folder / "simulated.md").read_text()
    assert "4 forms of rows were both simulated and measured on a device; 1 disagree." in page
    assert [line.split(" | ")[0] for line in page.splitlines() if ".fwd" in line] == ["| scatter_src.fwd"]


def test_evidence_of_another_device_is_not_added_to(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hold(subjects: Sequence[Subject], settings: Settings, *_: object) -> Session:
        found = [Measurement(one, {"off": Outcome(Verdict.CONFIRMED, 2, 1, 2)}) for one in subjects]
        return Session({**WHERE, "cudnn": next(releases)}, settings, (), tuple(found))

    releases = iter(["9", "8"])
    monkeypatch.setattr(session, "hold", hold)
    with pytest.raises(SystemExit, match="another device"):
        call(folder)


@pytest.mark.slow
def test_on_a_cpu_it_measures_works_out_and_compares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # of the tests that it runs
    with forks(pool):
        assert call(tmp_path) == 0
    assert "skipped" in (tmp_path / "tests.xml").read_text()
    assert sorted(measured(tmp_path)) == sorted(ROWS)
    page = (tmp_path / "simulated.md").read_text()
    assert "4 forms of rows were both simulated and measured on CPU" in page
    assert "| scatter_src.fwd | float32 |" in page and "index_copy.fwd" not in page
