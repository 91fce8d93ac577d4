"""What came of programs is kept for the next run, which follows those alone that a change touches."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from detlint import catalogue, config, engine
from detlint.cache import courses
from detlint.cache.store import Store
from detlint.facts.codec import Codec, CodecError
from detlint.finding import Place
from detlint.link.runs import following
from detlint.link.runs.starts import Start
from detlint.programs.events import Called, Drawn, Trace
from detlint.support.records import record

TORCH = catalogue.load().newest_release()
SCRIPT = """import torch
import drawing

if __name__ == "__main__":
    drawing.{}(3)
"""
DRAWING = """import torch


def one(n):
    return torch.rand(n)


def two(n):
    return torch.zeros(n)
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.delenv("DETLINT_NO_CACHE")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(courses, "_FEWEST", 0)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "drawing.py").write_text(DRAWING)
    for name in ("one", "two"):
        (tmp_path / f"run_{name}.py").write_text(SCRIPT.format(name))
    yield tmp_path


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the programs that are followed."""
    done: list[str] = []
    follow = following._Follower.outcome

    def noted(self: following._Follower, start: Start) -> following.Outcome:
        done.append(start.path)
        return follow(self, start)

    monkeypatch.setattr(following._Follower, "outcome", noted)
    return done


def found(root: Path) -> list[tuple[str, int, str, bool]]:
    settings = config.for_paths([root])
    report = engine.check_paths([Path()], settings, TORCH, jobs=1)
    fresh = engine.check_paths([Path()], replace(settings, cache_dir=None), TORCH, jobs=1)
    assert report.findings == fresh.findings
    findings = (judged.finding for judged in report.findings)
    return [(each.place.path, each.place.line, each.code, each.fix is not None) for each in findings]


def test_only_the_programs_that_a_change_touches_are_followed(root: Path, followed: list[str]) -> None:
    assert found(root) == [("drawing.py", 5, "DET101", True)]
    followed.clear()
    path = root / "drawing.py"
    path.write_text(DRAWING.replace("torch.zeros", "torch.randn"))
    assert found(root) == [("drawing.py", 5, "DET101", True), ("drawing.py", 9, "DET101", True)]
    assert followed == ["run_two.py", "run_one.py", "run_two.py"]  # the last two by the run without a cache
    followed.clear()
    path.write_text(f"# a line\n{DRAWING}")
    assert found(root) == [("drawing.py", 6, "DET101", True)]
    assert followed == ["run_two.py", "run_one.py", "run_two.py"]
    followed.clear()
    path.write_text(f"# a line\n\n\n{DRAWING}")
    assert found(root) == [("drawing.py", 8, "DET101", True)]
    assert followed == ["run_one.py", "run_two.py"]


def test_a_fix_is_made_anew_where_a_text_that_it_is_made_of_is_another(root: Path) -> None:
    found(root)
    script = SCRIPT.format("one").replace("import drawing", "import drawing\n\nSEED = 3")
    (root / "run_one.py").write_text(script)
    found(root)
    (root / "run_one.py").write_text(script.replace("SEED = 3", "torch.manual_seed(0)"))
    assert found(root) == []


def test_a_configuration_file_that_is_another_counts(root: Path) -> None:
    text = """import json
import torch

if __name__ == "__main__":
    with open("config.json") as file:
        options = json.load(file)
    if options["seeded"]:
        torch.manual_seed(0)
    torch.rand(3)
"""
    (root / "reading.py").write_text(text)
    (root / "config.json").write_text('{"seeded": false}')
    assert ("reading.py", 9, "DET101", True) in found(root)
    (root / "config.json").write_text('{"seeded": true}')
    assert "reading.py" not in {path for path, *_ in found(root)}


def test_nonsense_in_what_is_kept_is_no_matter(root: Path) -> None:
    expected = found(root)
    database = root / ".detlint_cache" / "cache.db"
    kept = database.read_bytes()
    changes: tuple[Callable[[list[object]], object], ...] = (
        lambda document: [],
        lambda document: [document[0], [], document[2]],
        lambda document: [document[0], document[1], None],
        lambda document: [document[0], document[1][::-1], document[2]],  # type: ignore[index]
        lambda document: [["x"] * len(document[0]), *document[1:]],  # type: ignore[arg-type]
    )
    for change in changes:
        database.write_bytes(kept)
        assert _planted(database, change) == 1
        (root / "drawing.py").write_text(f"# {changes.index(change)}\nX = 1\n{DRAWING}")
        assert [(path, line - 2, *rest) for path, line, *rest in found(root)] == expected
    (root / "drawing.py").write_text(DRAWING)


def _planted(database: Path, change: Callable[[list[object]], object]) -> int:
    """Change the documents on programs; how many there were."""
    done = 0
    with sqlite3.connect(database) as connection:
        for key, value in connection.execute("SELECT key, value FROM results").fetchall():
            content = zlib.decompress(value)[len(key) :].partition(b"\n")[0]
            document = json.loads(content) if content.startswith(b"[") else []
            if len(document) == 3:
                done += 1
                changed = zlib.compress(key + json.dumps(change(document)).encode())
                connection.execute("UPDATE results SET value = ? WHERE key = ?", (changed, key))
    connection.close()
    return done


def test_small_projects_keep_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courses, "_FEWEST", 1000)
    put: list[int] = []
    monkeypatch.setattr(Store, "put", lambda self, values: put.append(len(values)))
    found(root)
    monkeypatch.setattr(courses, "_FEWEST", 0)
    before = len(put)
    found(root)
    assert len(put) == 2 * before + 1


# Records that are shared


@record(frozen=True)
class _Program:
    trace: Trace


PLACE = Place("a.py", 1, 1, 1, 9)
DRAW = Drawn("torch", "torch.rand", PLACE, "unseeded", False)
SHARED = Codec(_Program, shared=frozenset((Drawn, Called)))


def test_what_is_shared_is_written_once_after_what_it_holds() -> None:
    inner = Called("f", PLACE, (DRAW, DRAW))
    program = _Program((inner, Called("g", PLACE, (inner, DRAW))))
    document = json.loads(SHARED.encode(program))
    assert len(document[1]) == 3
    back = SHARED.decode(SHARED.encode(program), paths={"a.py"})
    assert back == program
    assert back.trace[0] is inner


@pytest.mark.parametrize("number", [1, 2, -1, "x", None, True, [0]])
def test_a_record_cannot_hold_what_comes_after_it(number: object) -> None:
    table, rows, value = json.loads(SHARED.encode(_Program((Called("f", PLACE, (DRAW,)),))))
    assert rows[1][3] == [0]
    rows[1][3] = [number]
    with pytest.raises(CodecError):
        SHARED.decode(json.dumps([table, rows, value]).encode(), paths={"a.py"})


def test_a_shared_record_of_another_class_does_not_fit() -> None:
    table, rows, value = json.loads(SHARED.encode(_Program((DRAW,))))
    rows[0][3] = 0
    with pytest.raises(CodecError):
        SHARED.decode(json.dumps([table, rows, value]).encode(), paths={"a.py"})
