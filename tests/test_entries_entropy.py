"""`detlint entries`: programs whose seeds come from entropy."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner

from detlint.cli import cli
from tests.project import told
from tests.support import report

DRAWS = "print(torch.rand(2))"


@pytest.mark.parametrize(
    "seed",
    [
        "int(time.time())",
        "time.time_ns() % 2**32",
        "datetime.datetime.now().microsecond",
        "os.getpid() + rank()",
        "int.from_bytes(os.urandom(4), 'little')",
        "random.SystemRandom().randint(0, 9)",
        "abs(secrets.randbits(31))",
        "random.randint(0, 9)",
        "int(np.random.rand() * 1000)",
        "torch.randint(0, 9, (1,)).item()",
        "fresh(now)",
        "Config().seed",
        "torch.seed()",
    ],
)
def test_a_seed_from_entropy_leaves_a_generator_unseeded(tmp_path: Path, seed: str) -> None:
    entry = told(
        tmp_path,
        f"""
        import datetime, os, random, secrets, time

        import numpy as np
        import torch
        from somewhere import rank


        class Config:
            def __init__(self):
                self.seed = int(time.time())


        def now():
            return time.time()


        def fresh(source):
            seconds = source()
            return int(seconds * 1000)


        torch.manual_seed({seed})
        {DRAWS}
        """,
    )
    stream = entry["generators"]["torch"]
    assert stream["state"] == "unseeded"
    assert stream["seeds"][-1]["line"] == 22
    first = 22 if seed.startswith("torch.randint") else 23  # what makes the seed draws from the generator itself
    assert (stream["first_draw"]["line"], stream["first_draw"]["unseeded"]) == (first, True)
    assert stream["option"] is None and stream["seed_after_draw"] is None


@pytest.mark.parametrize(
    "seed",
    [
        "random.randint(0, 9)",
        "random.Random(3).randint(0, 9)",
        "torch.initial_seed()",
        "7 if time.time() > 0 else 8",
    ],
)
def test_a_seed_that_repeats_is_one(tmp_path: Path, seed: str) -> None:
    program = f"""
        import random, time
        import torch
        random.seed(0)
        torch.manual_seed({seed})
        {DRAWS}
        """
    assert told(tmp_path, program)["generators"]["torch"]["state"] == "seeded"


@pytest.mark.parametrize("seed", ["given", "given + 1", "int(given)", "torch.tensor(given).item()"])
def test_a_seed_that_only_may_be_entropy_is_not_certain(tmp_path: Path, seed: str) -> None:
    entry = told(
        tmp_path,
        f"""
        import sys, time
        import torch
        given = int(sys.argv[1]) if len(sys.argv) > 1 else time.time_ns()
        torch.manual_seed({seed})
        {DRAWS}
        """,
    )
    assert entry["generators"]["torch"]["state"] == "optional"


@pytest.mark.parametrize(
    "chosen",
    [
        "seed = args.seed if args.seed is not None else time.time_ns()",
        "seed = args.seed or time.time_ns()",
        "seed = args.seed\nif seed is None:\n    seed = time.time_ns()",
        "if args.seed is None:\n    args.seed = time.time_ns()\nseed = args.seed",
        "if args.seed is not None:\n    seed = args.seed\nelse:\n    seed = time.time_ns()",
        "seed = given(args.seed)",
        "seed = asked(args.seed)",
    ],
)
def test_the_option_is_named_that_puts_a_seed_in_the_place_of_entropy(tmp_path: Path, chosen: str) -> None:
    program = """
        import argparse, time
        import torch


        def given(seed):
            if seed is not None:
                return seed
            return time.time_ns()


        def asked(seed):
            if seed is None:
                seed = time.time_ns()
            return seed


        parser = argparse.ArgumentParser()
        parser.add_argument("--seed", type=int)
        args = parser.parse_args()
        """
    last = f"{chosen}\ntorch.manual_seed(seed)\n{DRAWS}\n"
    stream = told(tmp_path, textwrap.dedent(program) + last)["generators"]["torch"]
    assert (stream["state"], stream["option"]) == ("optional", "--seed")


def test_an_option_that_seeds_nothing_is_not_named(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        f"""
        import argparse, time
        import torch
        parser = argparse.ArgumentParser()
        parser.add_argument("--steps", type=int)
        args = parser.parse_args()
        if args.steps is None:
            seed = time.time_ns()
            torch.manual_seed(seed)
        {DRAWS}
        """,
    )
    assert (entry["generators"]["torch"]["state"], entry["generators"]["torch"]["option"]) == ("unseeded", None)


def test_what_one_process_draws_and_sends_to_all_is_entropy(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        f"""
        import numpy as np
        import torch
        import torch.distributed as dist


        def shared():
            seed = np.random.randint(2**31)
            if dist.get_world_size() == 1:
                return seed
            if dist.get_rank() == 0:
                number = torch.tensor(seed)
            else:
                number = torch.tensor(0)
            dist.broadcast(number, src=0)
            return number.item()


        torch.manual_seed(shared())
        {DRAWS}
        """,
    )
    assert entry["generators"]["torch"]["state"] == "unseeded"


def test_a_draw_for_a_seed_is_a_draw(tmp_path: Path) -> None:
    program = f"""
        import numpy as np
        import torch
        torch.manual_seed(np.random.randint(100))
        {DRAWS}
        """
    stream = told(tmp_path, program)["generators"]["numpy"]
    assert (stream["state"], stream["first_draw"]["line"]) == ("unseeded", 3)
    text = CliRunner().invoke(cli, ["entries", "--no-cache", str(tmp_path)], catch_exceptions=False).stdout
    assert "program.py:3 by numpy.random.randint for a seed, not seeded" in text
    assert "seeded from entropy at" in text


SEVERAL = """
    import random, time
    import numpy as np
    import torch
    {}
    seed = int(time.time())
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    model = torch.nn.Linear(2, 2)
    print(random.random(), np.random.rand(), torch.rand(2))
    """


def codes(program: str) -> list[tuple[str, int]]:
    """The rules that a program breaks, with their lines."""
    found = report({"program.py": program.lstrip("\n")}, ("DET1",)).findings
    return [(judged.finding.code, judged.finding.place.line) for judged in found]


def test_one_cause_is_one_finding() -> None:
    assert codes(SEVERAL.format("")) == [("DET105", 6)]


def test_what_is_drawn_before_is_another_cause_and_no_random_seed_is_moved() -> None:
    assert codes(SEVERAL.format("first = torch.nn.Linear(2, 2)")) == [("DET101", 4), ("DET105", 6)]


def test_a_number_for_each_worker_from_the_seed_of_the_program_is_none(tmp_path: Path) -> None:
    program = """
        import numpy as np
        import torch
        from torch.utils.data import DataLoader


        def init(worker):
            np.random.seed((torch.initial_seed() + worker) % 2**32)


        torch.manual_seed(0)
        for batch in DataLoader([1, 2], num_workers=2, worker_init_fn=init):
            print(batch)
        """
    stream = told(tmp_path, program)["generators"]["torch"]
    assert stream["state"] == "seeded" and codes(program) == []


def test_a_seed_that_comes_after_what_entropy_gave_is_late(tmp_path: Path) -> None:
    program = """
        import random, time
        random.seed(time.time())
        print(random.random())
        random.seed(0)
        print(random.random())
        """
    stream = told(tmp_path, program)["generators"]["python"]
    assert (stream["state"], stream["seed_after_draw"]["line"]) == ("late", 4)
    assert codes(program) == [("DET105", 2)]


def test_workers_that_seed_from_entropy_are_unseeded(tmp_path: Path) -> None:
    program = """
        import numpy as np
        import torch
        from torch.utils.data import DataLoader


        class Numbers:
            def __len__(self):
                return 3

            def __getitem__(self, index):
                return np.random.rand()


        def init(worker):
            np.random.seed()


        torch.manual_seed(0)
        for batch in DataLoader(Numbers(), num_workers=2, worker_init_fn=init):
            print(batch)
        """
    assert told(tmp_path, program)["generators"]["numpy"]["state"] == "unseeded"
    text = CliRunner().invoke(cli, ["entries", "--no-cache", str(tmp_path)], catch_exceptions=False).stdout
    assert "by numpy.random.rand, seeded from entropy in its process" in text
    assert codes(program) == [("DET105", 15)]


def test_the_draw_of_a_seed_is_the_first_draw_where_there_is_no_other(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import numpy as np
        seed = np.random.randint(2**31)
        np.random.seed(seed)
        """,
    )
    assert entry["generators"]["numpy"]["state"] == "unseeded"
    assert entry["generators"]["numpy"]["first_draw"]["line"] == 2
