"""A record that a program makes of itself: a block of it, or all of it as Python starts; ranks beside each other."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from detlint.bisect import startup
from detlint.bisect.comparing import outcome
from detlint.bisect.comparing.outcome import DIVERGED, EQUAL
from detlint.bisect.records import Event, Op
from detlint.bisect.showing.report import text
from detlint.bisect.streams import Trace
from tests.forks import Fork

pytestmark = pytest.mark.slow

_SCRIPT = "import runpy, sys\ndel sys.argv[0]\nrunpy.run_path(sys.argv[0], run_name='__main__')\n"

BLOCK = """import sys
import torch
from detlint.bisect import recording

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def step(x):
    optimizer.zero_grad()
    net(x).sum().backward()
    optimizer.step()


step(torch.ones(1, 4))
with recording({}):
    for number in range(3):
        step(torch.ones(1, 4) * (float(sys.argv[1]) if number == 2 else 1.0))
step(torch.rand(1, 4))
print(torch.rand(1).item(), net.weight.sum().item())
"""
RANKS = """import os
import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
torch.manual_seed(0)
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for number in range(5):
    optimizer.zero_grad()
    for part in range(2):
        x = torch.rand(2, 4)
        if (number, part, dist.get_rank()) == (3, 1, 1):
            x = x + time.time_ns() % 10**9 / 10**9
        net(x).sum().backward()
    optimizer.step()
dist.destroy_process_group()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*command: str, **variables: str) -> str:
    """What a program prints, which must end well."""
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, env={**os.environ, **variables}, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def forked(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """What becomes of a script that imports torch itself, which a process that forks has done for it."""
    argv = [sys.executable, "-c", _SCRIPT, *command]
    with tempfile.TemporaryFile() as errors:
        process = Fork(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=None,
            env={**os.environ, **variables},
            start_new_session=True,
            text=True,
        )
        assert process.stdout
        with process.stdout as stream:
            told = stream.read()
        status = process.wait()
        errors.seek(0)
        return subprocess.CompletedProcess(argv, status, told, errors.read().decode())


def printed(*command: str, **variables: str) -> str:
    """What a script prints that is run so, which must end well."""
    done = forked(*command, **variables)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def starting(folder: str) -> Mapping[str, str]:
    """The environment in which a process begins a record as it starts."""
    own = str(Path(startup.__file__).parents[2])
    return {"PYTHONPATH": f"{startup.FOLDER}{os.pathsep}{own}", "DETLINT_RECORD": folder}


def test_a_block_is_recorded_and_nothing_around_it(folder: Path) -> None:
    (folder / "train.py").write_text(BLOCK.format("sys.argv[2]"))
    (folder / "plain.py").write_text(BLOCK.format(""))
    plain = printed("plain.py", "1.0")
    assert printed("train.py", "1.0", "a") == printed("train.py", "1.0", "b") == plain
    assert printed("train.py", "2.0", "c") != plain
    kinds = [one.kind for one in Trace(folder / "a").stream("main").records() if isinstance(one, Event)]
    assert kinds.count("step") == kinds.count("loss") == 3
    assert outcome.compare(Trace(folder / "a"), Trace(folder / "b")).status == EQUAL
    found = outcome.compare(Trace(folder / "a"), Trace(folder / "c"))
    assert found.status == DIVERGED
    assert (found.found[0].a.steps, str(found.found[0].comparison.divergence.line)) == (2, "train.py:12")  # type: ignore[union-attr]


def test_the_environment_tells_where_and_what_a_block_records(folder: Path) -> None:
    (folder / "train.py").write_text(BLOCK.format(""))
    printed("train.py", "1.0", DETLINT_RECORD="kept", DETLINT_RECORD_LEVEL="op")
    names = [one.name for one in Trace(folder / "kept").stream("main").records() if isinstance(one, Op)]
    assert names.count("aten.sum.default") == 3
    assert "aten.rand.default" not in names
    again = forked("train.py", "1.0", DETLINT_RECORD="kept")
    assert again.returncode == 1
    assert "main.jsonl.gz is a record already: name another folder" in again.stderr
    again = forked("train.py", "1.0", DETLINT_RECORD="other", DETLINT_RECORD_LEVEL="all")
    assert "ValueError: 'all' is no level of recording: step or op" in again.stderr


def test_a_process_is_recorded_as_it_starts_and_what_it_starts_is_not_once_more(folder: Path) -> None:
    (folder / "sitecustomize.py").write_text("print('own')\n")
    (folder / "train.py").write_text(
        "import subprocess, sys\nimport torch\ntorch.manual_seed(0)\nnet = torch.nn.Linear(2, 1)\n"
        "net(torch.ones(1, 2)).sum().backward()\n"
        "print(subprocess.run([sys.executable, '-c', 'print(1)'], capture_output=True, text=True).stdout.split())\n"
    )
    variables = starting("kept")
    paths = os.pathsep.join((variables["PYTHONPATH"], str(folder)))
    assert run("train.py", **{**variables, "PYTHONPATH": paths}) == "own\n['own', '1']\n"
    kinds = [one.kind for one in Trace(folder / "kept").stream("main").records() if isinstance(one, Event)]
    assert kinds.count("loss") == 1
    refused = subprocess.run(
        [sys.executable, "train.py"], capture_output=True, text=True, env={**os.environ, **variables}, check=False
    )
    assert refused.returncode == 2
    assert refused.stderr.startswith("detlint: kept/main.jsonl.gz is a record already")
    (folder / "print.py").write_text("print(1)\n")
    assert "1" in run("print.py", **variables, TORCHELASTIC_RESTART_COUNT="1")


def test_the_rank_and_the_microbatch_that_differ_first_are_named(folder: Path) -> None:
    (folder / "train.py").write_text(RANKS)
    for name in "ab":
        launch = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "train.py")
        run(*launch, **starting(name), OMP_NUM_THREADS="1")
    found = outcome.compare(Trace(folder / "a"), Trace(folder / "b"))
    assert found.status == DIVERGED
    told = text(found, "a and b", lambda line: [])
    assert "of stream rank1, the loss, after 3 steps of an optimizer, loss 2 of the next" in told.splitlines()[0]
    assert "also: stream rank0 differs at train.py:17" in told
