"""Training recorded in processes of its own: planted differences show where they are, and nothing else does."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("torch")

from detlint.bisect.options import Options
from detlint.bisect.records import Event, Op, Record
from detlint.bisect.running import launch
from detlint.bisect.running.launch import Recording
from detlint.bisect.streams import Trace, equal_prefix
from tests import ending
from tests.bisecting import records

pytestmark = pytest.mark.slow

PLANTED = """
import glob
import os
import random
import threading

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Data(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.rand(2)  # worker


def work():
    torch.rand(2)  # thread


def main():
    net = torch.nn.Linear(2, 2)  # main
    torch.manual_seed(0)
    torch.nn.Linear(2, 2)
    torch.rand(2, generator=torch.Generator())
    torch.tensor(random.random())  # main
    torch.from_numpy(np.random.rand(2))  # main
    torch.from_numpy(np.random.default_rng().random(2))  # main
    random.seed(0)
    np.random.seed(0)
    torch.tensor(random.random())
    torch.from_numpy(np.random.rand(2))
    letters = {name: torch.full((1,), float(ord(name))) for name in "abcdefghij"}
    for name in set(letters):
        letters[name].mul(2)  # main
    torch.tensor(hash("text") % 1000)  # main
    torch.tensor(os.getpid())  # main
    torch.tensor([len(name) for name in os.listdir("in")])  # main
    torch.ones(3) + torch.empty(3)  # main
    torch.empty(3).fill_(1).sum()
    torch.seed()  # main
    for batch in DataLoader(Data(), batch_size=2, num_workers=1):  # main
        torch.ones(2)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


main()
"""
SEEDED = """
import hashlib, json, random, sys
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Data(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        return torch.rand(4) + random.random() + float(np.random.rand()), index


def train():
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Dropout(0.5), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for method, workers in ((None, 0), ("fork", 2), ("spawn", 1)):
        loader = DataLoader(Data(), 4, shuffle=True, num_workers=workers, multiprocessing_context=method)
        for x, index in loader:
            optimizer.zero_grad()
            loss = net(x).pow(2).mean() * random.random()
            loss.backward()
            optimizer.step()
    state = [p.detach().numpy().tobytes() for p in net.parameters()] + [torch.get_rng_state().numpy().tobytes()]
    state += [repr(random.getstate()).encode(), np.random.get_state()[1].tobytes(), repr(loss.item()).encode()]
    with open(sys.argv[1], "w") as file:
        json.dump([hashlib.sha256(one).hexdigest() for one in state], file)


if __name__ == "__main__":
    train()
"""

STEPS = """
import torch
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Programs and the traces of their runs: planted `a` and `b`, seeded `c` and `d`, steps `e` and `f`."""
    found = tmp_path_factory.mktemp("training")
    (found / "planted.py").write_text(PLANTED)
    (found / "seeded.py").write_text(SEEDED)
    (found / "steps.py").write_text(STEPS)
    for name in ("x", "yy", "zzz"):
        (found / "in" / name).mkdir(parents=True)
    runs = {
        "a": (["planted.py"], Options(poison=0x55, listing="sorted", hash_seed="1")),
        "b": (["planted.py"], Options(poison=0xAA, listing="reversed", hash_seed="2")),
        "c": (["seeded.py", "c.json"], Options(hash_seed="1")),
        "d": (["seeded.py", "d.json"], Options(hash_seed="2")),
        "e": (["steps.py"], Options(level="step", seed_torch=1, hash_seed="1")),
        "f": (["steps.py"], Options(from_step=3, seed_torch=1, threads=1, hash_seed="1")),
    }

    def run(name: str) -> Recording:
        command, options = runs[name]
        origin = f"with hash seed {options.hash_seed}"
        return launch.start(command, found / name, options, cwd=found, origins=origins, origin=origin).wait()

    with ending.origins(found) as origins, ThreadPoolExecutor(2) as pool:
        plain = pool.submit(subprocess.run, [sys.executable, "seeded.py", "plain.json"], cwd=found, check=True)
        for recording in pool.map(run, runs):
            assert recording.status == 0, recording.errors
        plain.result()
        assert not origins.cold
    yield found


def marked(text: str, mark: str) -> set[int]:
    return {number for number, line in enumerate(text.splitlines(), 1) if re.search(rf"# {mark}$", line)}


def differing(a: list[Record], b: list[Record]) -> set[int]:
    """Lines of records that differ in more than what their inputs were numbered."""
    assert len(a) == len(b)
    lines = {one.line for one, other in zip(a, b, strict=True) if one != other and isinstance(one, (Op, Event))}
    return {line.line for line in lines if line is not None}


def test_every_planted_difference_shows_at_its_line_and_at_no_other(folder: Path) -> None:
    first, second = records(folder / "a"), records(folder / "b")
    assert differing(first, second) == marked(PLANTED, "main")
    assert differing(records(folder / "a", "thread0"), records(folder / "b", "thread0")) == marked(PLANTED, "thread")
    worker = "loader0.worker0"
    assert marked(PLANTED, "worker") <= differing(records(folder / "a", worker), records(folder / "b", worker))


def test_what_differs_tells_its_kind(folder: Path) -> None:
    first, second = records(folder / "a"), records(folder / "b")
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a != b]
    ops = {(a.name, a.line.line): (a, b) for a, b in pairs if isinstance(a, Op) and isinstance(b, Op) and a.line}
    lines = PLANTED.splitlines()

    def op(name: str, text: str) -> tuple[Op, Op]:
        return ops[name, 1 + next(i for i, line in enumerate(lines) if text in line)]

    a, b = op("aten.uniform_.default", "net = ")
    assert a.state != b.state, "another state of the generator"
    a, b = op("aten.mul.Tensor", "letters[name].mul")
    assert [one.producer for one in a.inputs] != [one.producer for one in b.inputs], "another tensor"
    a, b = op("aten.add.Tensor", "torch.empty(3)  # main")
    assert a.inputs[1].allocation != -1, "memory that nobody wrote"
    a, b = op("aten.lift_fresh.default", "hash(")
    assert a.inputs[0].digest != b.inputs[0].digest, "a value of the host"
    events = {one.kind: (one, other) for one, other in pairs if isinstance(one, Event) and isinstance(other, Event)}
    assert set(events) == {"draw", "array", "generator", "listing", "seed", "iterator", "batch"}
    one, other = events["listing"]
    assert one.digests[0] != other.digests[0]
    assert one.digests[1] == other.digests[1]


def test_two_recordings_of_a_seeded_training_are_equal_in_every_stream(folder: Path) -> None:
    first, second = Trace(folder / "c"), Trace(folder / "d")
    workers = ("loader1.worker0", "loader1.worker1", "loader2.worker0")
    assert first.names == second.names == ("main", *workers)
    for name in first.names:
        assert equal_prefix(first.stream(name), second.stream(name))[1], name
        end = first.stream(name).end()
        assert end is not None
        assert end.unseen == ()


def test_a_training_comes_to_the_same_with_and_without_the_recorder(folder: Path) -> None:
    plain = json.loads((folder / "plain.json").read_text())
    assert len(plain) == 8
    assert json.loads((folder / "c.json").read_text()) == plain


def test_steps_losses_and_batches_are_told(folder: Path) -> None:
    found = [one for one in records(folder / "c") if isinstance(one, Event)]
    steps = [one for one in found if one.kind == "step"]
    assert [one.data["step"] for one in steps] == list(range(9))
    assert {len(one.digests) for one in steps} == {4}
    names = next(one.data["names"] for one in found if one.kind == "parameters")
    assert names == "0.weight 0.bias 3.weight 3.bias"
    assert sum(one.kind == "loss" for one in found) == 9
    batches = [one for one in found if one.kind == "batch"]
    assert [one.data["loader"] for one in batches] == [0] * 3 + [1] * 3 + [2] * 3
    assert [one.data["workers"] for one in batches] == [0] * 3 + [2] * 3 + [1] * 3


def test_all_phases_have_the_users_lines(folder: Path) -> None:
    ops = [one for one in records(folder / "c") if isinstance(one, Op)]
    assert {op.phase for op in ops} == {"forward", "backward", "optimizer"}
    assert all(op.line is not None and op.line.path == "seeded.py" for op in ops)
    step = 1 + next(i for i, line in enumerate(SEEDED.splitlines()) if "optimizer.step()" in line)
    assert {op.line.line for op in ops if op.phase == "optimizer" and op.line} == {step}


def test_batches_that_workers_made_are_what_later_operations_were_given(folder: Path) -> None:
    found = records(folder / "c")
    batch = next(one for one in found if isinstance(one, Event) and one.kind == "batch" and one.data["workers"] == 2)
    used = next(
        one
        for one in found
        if isinstance(one, Op) and one.number > batch.number and any(i.producer == batch.number for i in one.inputs)
    )
    assert used.name == "aten.addmm.default"


def test_an_operation_takes_less_than_two_hundred_bytes(folder: Path) -> None:
    stream = Trace(folder / "c").stream("main")
    count = len(list(stream.records()))
    assert sum(map(len, stream.lines())) / count < 200
    assert stream.path.stat().st_size / count < 60


def test_the_description_has_what_may_differ_from_outside(folder: Path) -> None:
    meta, other = Trace(folder / "a").meta, Trace(folder / "b").meta
    assert meta.argv == ("planted.py",)
    assert {"torch", "python", "threads", "deterministic", "cpu_capability"} <= set(meta.environment)
    different = {key for key in meta.environment if meta.environment[key] != other.environment[key]}
    assert different == {"hash_seed", "env.PYTHONHASHSEED", "env.MALLOC_PERTURB_"}
    assert set(meta.start) == {"torch", "numpy", "python", "hash"}
    assert meta.start["torch"] != other.start["torch"]


def test_a_long_job_is_recorded_by_steps_or_from_a_step_on(folder: Path) -> None:
    steps = [one for one in records(folder / "e") if isinstance(one, Event)]
    assert [one.kind for one in steps] == ["loss", "parameters", "step", *["loss", "step"] * 3]
    assert not any(isinstance(one, Op) for one in records(folder / "e"))
    late = records(folder / "f")
    assert sum(isinstance(one, Event) and one.kind == "step" for one in late) == 1
    assert any(isinstance(one, Op) and one.phase == "backward" for one in late)
    assert Trace(folder / "f").meta.environment["threads"] == "1"
