"""Which finding is cited where two runs differ: of records made by hand, beside files that are analysed. Without torch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from detlint.bisect.records import VERSION, Draw
from detlint.bisect.streams import META
from detlint.bisect.writer import SUFFIX, Writer
from tests.entered import bisect

SCRIPT = "import sys\nimport torch\n\nprint(getattr(torch, sys.argv[1])(3).sum())\n"
DRAWING = "import torch\n\n\ndef noise():\n    return torch.rand(3)\n\n\nnoise()\n"
NOTHING = "rule: DET101 unseeded-torch speaks of this; the static analysis has no finding here"
ELSEWHERE = "rule: DET101 unseeded-torch, found elsewhere, at beside.py:5"


def record(folder: Path, state: str, run: Path, loaded: list[str] | None) -> str:
    """A record of one draw of `train.py` in a folder; `loaded` are the files that it tells of, None in an older version."""
    folder.mkdir()
    described = {"version": VERSION, "argv": ["train.py"], "folder": str(run), "options": {}, "digest": "test"}
    (folder / META).write_text(json.dumps({**described, "environment": {}, "final": {}, "start": {}}))
    writer = Writer(folder / f"main{SUFFIX}")
    stack = writer.stack("key", [("train.py", 4, "<module>", None)])
    draw = (int(Draw.SEEN | Draw.TAGGED), state * 16, "")
    writer.op(writer.symbol("aten.rand.default"), stack, 0, 0, [], [state * 16], "[3]", 0, draw)
    end: dict[str, object] = {"reason": "exit", "status": 0, "exception": "", "seen": {}, "unseen": []}
    writer.end(end if loaded is None else {**end, "loaded": loaded})
    return str(folder)


@pytest.mark.parametrize(
    ("loaded", "told"),
    [
        (["train.py"], NOTHING),
        (["beside.py", "train.py"], ELSEWHERE),
        (["linked.py", "train.py"], ELSEWHERE),
        (["part/../beside.py"], ELSEWHERE),
        (["part/beside.py"], NOTHING),
        (["/elsewhere/beside.py"], NOTHING),
        (None, NOTHING),
    ],
)
def test_only_a_finding_in_a_file_that_was_loaded_is_cited(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    loaded: list[str] | None,
    told: str,
) -> None:
    run = tmp_path / "run"
    (run / "part").mkdir(parents=True)
    (run / "train.py").write_text(SCRIPT)
    (run / "beside.py").write_text(DRAWING)
    (run / "linked.py").symlink_to("beside.py")
    monkeypatch.chdir(run)
    records = [record(tmp_path / name, state, run, loaded) for name, state in zip("ab", "12", strict=True)]
    assert bisect(records) == 1
    assert told in capsys.readouterr().out


def test_a_finding_in_the_script_itself_is_cited_of_an_older_record_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text(SCRIPT + "\n\n\n\n" + DRAWING)
    monkeypatch.chdir(tmp_path)
    records = [record(tmp_path / name, state, tmp_path, None) for name, state in zip("ab", "12", strict=True)]
    assert bisect(records) == 1
    assert "rule: DET101 unseeded-torch, found elsewhere, at train.py:13" in capsys.readouterr().out
