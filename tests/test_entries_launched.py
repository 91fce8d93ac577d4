"""`detlint entries`: functions that launchers run in processes of their own."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.project import entries, told, written

PROGRAM = """
import ray, ray.train.torch, ray.tune, submitit, torch
import torch_xla.distributed.xla_multiprocessing as xmp
from dask.distributed import Client
from torch.distributed.launcher.api import LaunchConfig, elastic_launch


{function}


if __name__ == "__main__":
    torch.manual_seed(1)
    {launch}
"""
TAKES_SEED = """
def work(seed):
    torch.manual_seed(seed)
    print(torch.rand(2))
"""
MAY_TAKE_SEED = """
def work(config):
    if config["seed"] is not None:
        torch.manual_seed(config["seed"])
    print(torch.rand(2))
"""
ACTOR = """
class Actor:
    def __init__(self, seed=None):
        if seed is not None:
            torch.manual_seed(seed)

    def draw(self):
        print(torch.rand(2))
"""


def process(folder: Path, function: str, launch: str) -> str:
    """The state of torch's generator in the one process that a program starts."""
    program = PROGRAM.format(function=textwrap.dedent(function).strip(), launch=launch)
    written(folder, {"program.py": program})
    (started,) = (entry for entry in entries(folder) if entry["kind"] == "process")
    state: str = started["generators"]["torch"]["state"]
    return state


@pytest.mark.parametrize(
    ("function", "launch", "state"),
    [
        ("@ray.remote\ndef work():\n    print(torch.rand(2))", "ray.get(work.remote())", "unseeded"),
        ("@ray.remote(num_gpus=1)" + TAKES_SEED, "ray.get(work.options(num_cpus=1).remote(3))", "seeded"),
        (ACTOR, "ray.get(ray.remote(num_gpus=1)(Actor).options(num_cpus=2).remote(3).draw.remote())", "seeded"),
        (ACTOR, "ray.get(ray.remote(Actor).remote().draw.remote())", "unseeded"),
        (TAKES_SEED, "ray.tune.run(ray.tune.with_parameters(work, seed=3))", "seeded"),
        (TAKES_SEED, "elastic_launch(LaunchConfig(1, 1, 2), work)(3)", "seeded"),
        (TAKES_SEED, "submitit.AutoExecutor('logs').submit(work, 3)", "seeded"),
        (TAKES_SEED, "Client().submit(work, 3)", "seeded"),
        ("def work(index, size):\n    print(torch.rand(size))", "xmp.spawn(work, args=(2,), nprocs=8)", "unseeded"),
        (
            MAY_TAKE_SEED,
            "ray.train.torch.TorchTrainer(work, train_loop_config={'seed': 3, 'lr': 0.1}).fit()",
            "seeded",
        ),
        (
            MAY_TAKE_SEED,
            "ray.tune.Tuner(ray.tune.with_resources(work, {'cpu': 1}), param_space={'seed': None}).fit()",
            "unseeded",
        ),
        (
            "class Job:\n    def __call__(self):\n        print(torch.rand(2))",
            "submitit.AutoExecutor('logs').submit(Job())",
            "unseeded",
        ),
    ],
)
def test_a_launched_function_begins_in_a_new_process(tmp_path: Path, function: str, launch: str, state: str) -> None:
    assert process(tmp_path, function, launch) == state


@pytest.mark.parametrize(
    ("made", "state"),
    [
        ("seed_one = partialmethod(seed, 1)", "seeded"),
        ("seed_one = partialmethod(seed, value=1)", "seeded"),
        ("seed_one = partialmethod(draw, 1)", "unseeded"),
    ],
)
def test_a_method_with_some_of_its_arguments_is_bound(tmp_path: Path, made: str, state: str) -> None:
    program = """
        import random
        from functools import partialmethod


        class Maker:
            def seed(self, value):
                random.seed(value)

            def draw(self, value):
                print(random.random())

            {}


        Maker().seed_one()
        print(random.random())
        """
    assert told(tmp_path, program.format(made))["generators"]["python"]["state"] == state


def test_a_loader_that_keeps_its_iterator_draws_when_it_is_made(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        from torch.utils.data import DataLoader


        class Endless(DataLoader):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
                self.iterator = super().__iter__()

            def __iter__(self):
                for _ in range(3):
                    yield next(self.iterator)


        for batch in Endless([1, 2], shuffle=True):
            print(batch)
        """,
    )
    assert entry["generators"]["torch"]["state"] == "unseeded"
    assert entry["generators"]["torch"]["first_draw"]["line"] == 7


def test_a_typed_dict_is_a_dict(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import random
        from typing import TypedDict


        class Options(TypedDict, total=False):
            seed: int


        options = Options(seed=3)
        if options.get("seed") is not None:
            random.seed(options["seed"])
        print(random.random())
        """,
    )
    assert entry["generators"]["python"]["state"] == "seeded"


def test_the_default_of_a_port_is_no_draw(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import argparse, random, torch
        parser = argparse.ArgumentParser()
        parser.add_argument("--master-port", type=int, default=random.randint(10000, 20000))
        args = parser.parse_args()
        print(torch.rand(2))
        """,
    )
    assert entry["generators"]["python"]["state"] == "unused"


def test_a_main_module_is_not_run_again_in_a_process_that_it_spawns(tmp_path: Path) -> None:
    program = """
        import torch
        import torch.multiprocessing as mp

        def work(rank):
            torch.manual_seed(1)
            print(torch.rand(2))

        if __name__ == "__main__":
            print(torch.rand(2))
            mp.spawn(work, nprocs=2)
    """
    written(tmp_path, {"tool/__main__.py": program})
    states = {entry["kind"]: entry["generators"]["torch"]["state"] for entry in entries(tmp_path)}
    assert states == {"main": "unseeded", "process": "seeded"}
