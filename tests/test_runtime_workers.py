"""The runtime in the workers of a DataLoader, forked and spawned."""

from __future__ import annotations

import ast
import multiprocessing
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from detlint import runtime

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
METHODS = [method for method in ("fork", "spawn") if method in multiprocessing.get_all_start_methods()]

DATA = """
import random

import numpy as np
from torch.utils.data import Dataset, get_worker_info
from detlint.runtime import register, worker_rng

own = random.Random()
register("own", own.seed)


class Numbers(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        info = get_worker_info()
        same = worker_rng() is worker_rng()
        drawn = [random.random(), float(np.random.random()), own.random(), float(worker_rng().random())]
        return [-1 if info is None else info.id, same, drawn]
"""

# without a guard at the top, as in many scripts: a spawned worker runs these lines again
TRAIN = """
import sys

from torch.utils.data import DataLoader

from data import Numbers
from detlint.runtime import make_generator, seed_everything, seed_worker, worker_rng

seed_everything(11)
held = worker_rng()


def main(methods):
    outside = worker_rng().random()
    for method in methods:
        seed_everything(11)
        loader = DataLoader(
            Numbers(),
            batch_size=None,
            num_workers=2,
            generator=make_generator(11),
            worker_init_fn=seed_worker,
            multiprocessing_context=method,
        )
        print([list(loader) for epoch in range(2 if method == methods[0] else 1)])
    print(outside, held is worker_rng())


if __name__ == "__main__":
    main(sys.argv[1:])
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("program")
    (folder / "data.py").write_text(DATA)
    (folder / "train.py").write_text(TRAIN)
    done = subprocess.run(
        [sys.executable, "train.py", *METHODS],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_forked_and_spawned_workers_draw_the_same(printed: list[str]) -> None:
    epochs = [ast.literal_eval(line) for line in printed[:-1]]
    assert len(epochs) == len(METHODS)
    assert all(first == epochs[0][0] for first, *_ in epochs)


def test_every_stream_differs_between_workers_epochs_and_items(printed: list[str]) -> None:
    epochs = ast.literal_eval(printed[0])
    items = [item for epoch in epochs for item in epoch]
    assert {worker for worker, _, _ in items} == {0, 1}
    for column in zip(*(drawn for _, _, drawn in items), strict=True):
        assert len(set(column)) == 16


def test_a_process_has_one_generator_until_it_is_seeded_again(printed: list[str]) -> None:
    epochs = ast.literal_eval(printed[0])
    assert all(same for epoch in epochs for _, same, _ in epoch)
    assert printed[-1].split()[1] == "False"


def test_the_generator_outside_of_workers_follows_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np
    import torch

    monkeypatch.setattr(runtime, "_rng", None)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        first = runtime.worker_rng()
        assert runtime.worker_rng() is first
        torch.manual_seed(4)
        other = runtime.worker_rng()
        assert other is not first
        torch.manual_seed(3)
        numbers = runtime.worker_rng().random(4).tolist()
        assert numbers == first.random(4).tolist()
        assert numbers != np.random.default_rng(3).random(4).tolist()
        runtime.seed_everything(3)  # the same seed, and so the same stream again
        assert runtime.worker_rng().random(4).tolist() == numbers


def test_the_worker_s_function_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(runtime.seed_worker)) is runtime.seed_worker
