"""Entry points, as the interpreter of values tells them: which processes there are, and what is a trial."""

from __future__ import annotations

import pytest

from tests.solved import solved

WORKER = """
import torch
import torch.multiprocessing as mp

def worker(rank, run):
    run()

def start(run):
    mp.spawn(worker, args=(run,), nprocs=2)

def draw():
    torch.rand(1)

def idle():
    pass
"""


def test_a_process_is_told_once_for_each_of_the_things_that_it_is_given() -> None:
    programs = {
        f"{name}.py": f"from helpers import {run}, start\nif __name__ == '__main__':\n    start({run})\n"
        for name, run in (("a", "draw"), ("b", "draw"), ("c", "idle"))
    }
    found = solved({"helpers.py": WORKER, **programs}, started=set(programs)).entries(*programs)
    processes = [(entry.starter, entry.streams[0].state) for entry in found if entry.kind == "process"]
    assert [(starter.path, state) for starter, state in processes if starter] == [
        ("a.py", "unseeded"),
        ("c.py", "none"),
    ]


def test_what_a_process_is_given_is_what_its_program_gives_it() -> None:
    program = "from helpers import start\nclass Run:\n    pass\nif __name__ == '__main__':\n    start(Run())\n"
    helpers = WORKER.replace("    run()\n", "    torch.rand(2)\n")
    found = solved({"helpers.py": helpers, "a.py": program, "b.py": program}, started={"a.py", "b.py"})
    processes = [entry.starter for entry in found.entries("a.py", "b.py") if entry.kind == "process"]
    assert [starter.path for starter in processes if starter] == ["a.py", "b.py"]


@pytest.mark.parametrize(("where", "is_trial"), [("model.py", True), ("steps.py", False)])
def test_a_program_that_trains_by_another_file_is_no_trial(where: str, is_trial: bool) -> None:
    step = "def step(loss):\n    loss.backward()\n"
    model = "import torch\n{}\nif __name__ == '__main__':\n    step(torch.ones(1, requires_grad=True))\n"
    files = {"model.py": model.format(step if where == "model.py" else "from steps import step"), "steps.py": step}
    (entry,) = solved(files, started={"model.py"}).entries("model.py")
    assert entry.self_check is is_trial


@pytest.mark.parametrize("last", ["return random.random()", "print(random.random())"])
def test_the_option_is_named_that_goes_on_where_others_return(last: str) -> None:
    program = f"""
import argparse, random

def run(seed):
    if seed is None:
        return random.random()
    random.seed(seed)
    {last}

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int)
run(parser.parse_args().seed)
"""
    (entry,) = solved(program).entries("train.py")
    stream = next(each for each in entry.streams if each.generator == "python")
    assert (stream.generator, stream.state, stream.optional and stream.optional.option) == (
        "python",
        "optional",
        "--seed",
    )


@pytest.mark.parametrize(
    ("body", "fails"),
    [
        ("    raise NotImplementedError", True),
        ("    if name:\n        raise ValueError\n    return 3", False),
        ("    if name:\n        raise ValueError\n    raise KeyError", True),
        ("    pass", False),
    ],
)
def test_a_function_that_does_nothing_but_fail_is_marked(body: str, fails: bool) -> None:
    text = f"import sys\ndef run(name):\n{body}\ntry:\n    run(len(sys.path) > 3)\nexcept OSError:\n    pass\n"
    (entry,) = solved(text).entries("train.py")
    assert entry.marked("fails") is fails


@pytest.mark.parametrize("names", [("--free", "--seed"), ("--zero", "--seed"), ("--free", "--a-seed")])
def test_the_option_is_named_whose_value_is_a_seed(names: tuple[str, str]) -> None:
    switch, seed = names
    program = f"""
import argparse, random

parser = argparse.ArgumentParser()
parser.add_argument("{switch}", action="store_true", dest="switch")
parser.add_argument("{seed}", type=int, dest="seed")
args = parser.parse_args()
if args.switch:
    args.seed = 3
if args.seed is not None:
    random.seed(args.seed)
random.random()
"""
    (entry,) = solved(program).entries("train.py")
    stream = next(each for each in entry.streams if each.generator == "python")
    assert (stream.state, stream.optional and stream.optional.option) == ("optional", seed)


@pytest.mark.parametrize(("loop", "column"), [("for _ in {}: pass", 10), ("print([_ for _ in {}])", 19)])
def test_what_a_loop_calls_is_called_where_it_says_what_it_goes_over(loop: str, column: int) -> None:
    over = "DataLoader([1], collate_fn=noise)"
    head = "import random\nfrom torch.utils.data import DataLoader\ndef noise(items):\n    return random.random()\n"
    (entry,) = solved(head + loop.format(over)).entries("train.py")
    (call,) = next(draw.path for draw in entry.streams[2].draws)
    assert (call.place.line, call.place.column, call.place.end_column) == (5, column, column + len(over))


@pytest.mark.parametrize(
    ("workers", "state"),
    [
        ("{}", "unseeded"),
        ("{'num_workers': 1}", "seeded"),
        ("{'num_workers': 1} if torch.cuda.is_available() else {}", "optional"),
    ],
)
def test_what_workers_draw_on_one_path_others_draw_unseeded(workers: str, state: str) -> None:
    program = f"""
import random, torch
from torch.utils.data import DataLoader
class Pairs:
    def __getitem__(self, index):
        return random.random()
torch.manual_seed(0)
for _ in DataLoader(Pairs(), **({workers})):
    pass
"""
    (entry,) = solved(program).entries("train.py")
    assert next(each.state for each in entry.streams if each.generator == "python") == state


@pytest.mark.parametrize(("between", "lines"), [("", [4]), ("\n    random.seed(1)", [4, 7])])
def test_a_loader_that_is_made_where_another_one_fails_is_that_one(between: str, lines: list[int]) -> None:
    program = (
        "import random\nfrom torch.utils.data import DataLoader\ntry:\n    loader = DataLoader([1], shuffle=True, pin_memory=False)"
        f"{between}\nexcept TypeError:\n    loader = DataLoader([1], shuffle=True)\n"
    )
    (entry,) = solved(program).entries("train.py")
    assert [loader.place.line for loader in entry.loaders] == lines


@pytest.mark.parametrize("otherwise", ["", "if open('names').read():\n    args.name = input()"])
@pytest.mark.parametrize(("name", "state"), [("quiet", "none"), ("noisy", "unseeded")])
def test_nobody_knows_what_is_looked_up_instead_of_what_an_option_names(name: str, otherwise: str, state: str) -> None:
    program = f"""
import argparse, random
def quiet(): return 3
def noisy(): return random.random()
parser = argparse.ArgumentParser()
parser.add_argument("--name", default="{name}")
args = parser.parse_args()
{otherwise}
made = dict(quiet=quiet, noisy=noisy)
made[args.name]()
"""
    (entry,) = solved(program).entries("train.py")
    assert next(each.state for each in entry.streams if each.generator == "python") == state
