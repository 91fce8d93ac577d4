"""`detlint bisect` as people call it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from detlint import bisecting
from detlint.bisect.comparing.case import Cause
from detlint.bisect.records import Op
from detlint.bisect.showing.report import Static
from detlint.commands import bisect as commanded
from detlint.verify import pool
from tests import ending
from tests.entered import bisect
from tests.forks import forks
from tests.test_bisect_page import both

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
UNSEEDED = "import torch\n\nweight = torch.rand(3)\nprint(weight.sum())\n"
SLEEPS = "import os, time\nopen(f'{os.getpid()}.started', 'w').close()\ntime.sleep(60)\n"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "train.py"


@pytest.fixture(scope="module", autouse=True)
def kept() -> Iterator[None]:
    """What is imported by the processes that runs are forked from is imported once for all commands."""
    with ending.kept(commanded):
        yield


@pytest.fixture
def forked() -> Iterator[None]:
    with forks(pool):
        yield


RESUMED = """import sys
import time
import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
first = 0
if sys.argv[1:] == ["--resume", "3.pt"]:
    net.load_state_dict(torch.load("3.pt"))
    first = 3
for step in range(first, 6):
    x = torch.ones(1, 2)
    if step == 4:
        x = x * (time.time_ns() % 10**9 / 10**9)
    optimizer.zero_grad()
    net(x).sum().backward()
    optimizer.step()
    if step == 2:
        torch.save(net.state_dict(), "3.pt")
"""


def test_operations_are_recorded_from_a_checkpoint(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    script.write_text(RESUMED)
    given = ["--no-explain", "--no-static", "--level", "step", "--resume-with", "--resume 3.pt"]
    assert bisect([*given, "--format", "json", "--", "train.py"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["first"]["step"] == 1  # of the runs that go on from step 3
    assert (document["first"]["line"]["line"], document["first"]["a"]["op"]) == (15, "aten.mul.Tensor")
    assert document["notes"] == [
        "steps alone were recorded first, and the first 4 agree: operations were recorded of runs with `--resume 3.pt`"
    ]
    assert bisect(["--resume-with", "--resume 3.pt", "--", "train.py"]) == 2
    assert "--resume-with goes with --level step" in capsys.readouterr().err


def test_a_difference_is_reported_kept_and_compared_again(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    script.write_text(UNSEEDED)
    assert bisect(["--format", "json", "--at-once", "--out", "kept", "--", "train.py"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["version"], document["verdict"], document["exit"]) == (1, "diverged", 1)
    assert document["first"]["line"] == {"path": "train.py", "line": 3, "function": "<module>", "cell": None}
    assert document["first"]["rule"]["code"] == "DET101"
    assert bisect(["kept/a.trace", "kept/b.trace"]) == 1
    shown = capsys.readouterr().out
    assert "kept/a.trace and kept/b.trace diverged at record 0 of stream main, aten.rand.default" in shown
    assert "  > 3 | weight = torch.rand(3)\n" in shown
    assert "DET101 unseeded-torch, found at train.py:3" in shown
    assert bisect(["kept/a.trace", "kept/a.trace"]) == 0
    assert "it says nothing of other hardware" in capsys.readouterr().out
    assert bisect(["--out", "kept", "--", "train.py"]) == 2
    assert "kept has records already" in capsys.readouterr().err


def test_only_a_finding_in_a_file_that_the_program_loaded_is_cited(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    script.with_name("beside.py").write_text("import torch\n\n\ndef noise():\n    return torch.rand(3)\n\n\nnoise()\n")
    drawn = "import sys\nimport torch\n\nprint(getattr(torch, sys.argv[1])(3).sum())\n"
    nothing = "rule: DET101 unseeded-torch speaks of this; the static analysis has no finding here"
    elsewhere = "rule: DET101 unseeded-torch, found elsewhere, at beside.py:5"
    script.write_text(drawn)
    assert bisect(["--at-once", "--out", "kept", "--", "train.py", "rand"]) == 1
    assert nothing in capsys.readouterr().out
    script.write_text(f"{drawn}\nimport linked\n")
    script.with_name("linked.py").symlink_to("beside.py")
    assert bisect(["--at-once", "--out", "loading", "--", "train.py", "rand"]) == 1
    assert elsewhere in capsys.readouterr().out
    assert bisect(["kept/a.trace", "kept/b.trace"]) == 1
    assert nothing in capsys.readouterr().out


def test_a_cause_is_shown_by_holding_it_equal_and_the_next_difference_is_looked_for(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    script.write_text("import random\nimport torch\n\nprint((torch.ones(3) * random.random()).sum())\n")
    assert bisect(["--explain", "--all", "2", "--no-static", "--at-once", "--", "train.py"]) == 1
    shown = capsys.readouterr().out
    assert "shown: with `random` seeded with 0 at the start in both runs it is gone" in shown
    assert "note: with it repaired the runs are equal" in shown


@pytest.mark.usefixtures("forked")
def test_a_kernel_that_is_the_cause_is_run_alone() -> None:
    pytest.importorskip("torch")
    operation = Op(15, "aten.index_put.default", signature="float32 (257,) cpu")
    cause = Cause("kernel", "", (), None, (), "", operation=operation)
    known = Static(row="...", operation="index_put_acc.cpu")
    told = bisecting.verified(known, cause, processes=8, repeats=12)
    assert told.verified.startswith("confirmed: ")
    assert bisecting.verified(known, replace(cause, kind="order")) == known


def test_a_report_does_without_the_static_analysis_where_that_cannot_be_imported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = both(tmp_path)
    monkeypatch.setitem(sys.modules, "detlint.bisecting", None)
    monkeypatch.delattr("detlint.bisecting", raising=False)
    assert bisect([str(a.path), str(b.path)]) == 1
    assert "note: the static analysis needs" in capsys.readouterr().out


def test_a_program_that_fails_alike_is_told_with_its_own_words(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script.write_text("raise ValueError('no such data')\n")
    assert bisect(["--fresh", "--no-poison", "--", "train.py"]) == 3
    found = capsys.readouterr()
    assert "failed in both runs alike: ValueError: no such data" in found.out
    assert found.err.count("ValueError: no such data") == 2


def test_what_cannot_be_run_or_read_is_wrong_usage(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bisect(["--", "train.py"]) == 2
    script.parent.joinpath("a").mkdir()
    assert bisect(["a", "a"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("detlint: train.py is neither a file nor a command")
    assert bisect(["--perturb", "weather", "--", "train.py"]) == 2


def test_a_run_that_takes_too_long_is_inconclusive(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script.write_text(SLEEPS)
    assert bisect(["--fresh", "--timeout", "5", "--no-poison", "--at-once", "--", "train.py"]) == 4
    assert "A and B did not end within 5 s" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
def test_an_interrupt_ends_both_programs(script: Path) -> None:
    script.write_text(SLEEPS)
    command = [sys.executable, "-m", "detlint", "bisect", "--at-once", "--", "train.py"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, cwd=script.parent)
    try:
        end = time.monotonic() + 120
        while len(started := list(script.parent.glob("*.started"))) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 4
    assert told == "detlint: interrupted before both runs had ended\n"
    assert len(started) == 2
    for mark in started:
        with pytest.raises(ProcessLookupError):
            os.kill(int(mark.stem), 0)


def test_the_help_says_that_it_runs_the_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert bisect(["--help"]) == 0
    assert "RUNS THE CODE IT IS GIVEN" in capsys.readouterr().out


def test_the_line_that_makes_a_difference_is_named_and_shown_by_default(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    names = ", ".join(f"'w{i}'" for i in range(12))
    lines = ["import torch", f"names = {{{names}}}", "ids = {name: i for i, name in enumerate(names)}"]
    script.write_text("\n".join([*lines, "print(torch.tensor([ids[f'w{i}'] for i in range(12)]).float())", ""]))
    assert bisect(["--format", "json", "--no-static", "--", "train.py"]) == 1
    document = json.loads(capsys.readouterr().out)
    cause = document["first"]["cause"]
    assert (cause["line"]["line"], cause["why"]) == (3, "set-order")
    assert document["first"]["line"]["line"] == 4
    assert cause["evidence"][0].startswith("at train.py:3, ids['w")
    assert "shown: with equal hashes in both runs it is gone" in cause["evidence"]
    assert document["notes"] == []


def test_runs_import_torch_themselves_where_the_program_sets_what_an_import_reads(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    script.write_text("import os\nos.environ['OMP_NUM_THREADS'] = '1'\n" + UNSEEDED)
    assert bisect(["--no-static", "--", "train.py"]) == 1
    shown = capsys.readouterr().out
    assert "train.py:5" in shown
    assert "note: each run has imported torch itself, which takes longer: the program sets OMP_NUM_THREADS" in shown


def test_torch_is_not_there_before_the_program_imports_it(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    script.write_text(
        "import importlib.util, sys\n"
        "assert not {'torch', 'numpy', 'detlint.bisect.recorded.recorder'} & set(sys.modules)\n"
        "assert importlib.util.find_spec('torch').origin and 'torch' not in sys.modules\n"
        "import torch\nassert torch.__spec__.loader is torch.__loader__ and 'numpy' in sys.modules\n"
        "print(torch.ones(3).sum())\n"
    )
    assert bisect(["--no-static", "--", "train.py"]) == 0
    assert "note:" not in capsys.readouterr().out
