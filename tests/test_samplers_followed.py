"""Samplers that are told no epoch, followed by programs: across files, through options, and by classes of the project."""

from __future__ import annotations

import pytest

from .support import report

MAIN = """
import argparse

import torch
from torch.utils.data import DataLoader, Dataset

import engine
from data import make_loader

parser = argparse.ArgumentParser()
parser.add_argument("--distributed", action="store_true")
parser.add_argument("--epochs", type=int, default=10)


def main():
    args = parser.parse_args()
    loader = make_loader(args)
    model = torch.nn.Linear(4, 4)
    for epoch in range(args.epochs):
        engine.train_one_epoch(model, loader, epoch)


if __name__ == "__main__":
    main()
"""
ENGINE = """
from utils import Logger


def train_one_epoch(model, loader, epoch):
    for i, batch in enumerate(Logger().log_every(loader, 10)):
        model(batch).sum().backward()
"""
UTILS = """
class Logger:
    def log_every(self, iterable, often):
        for i, each in enumerate(iterable):
            yield each
            if i % often == 0:
                print(i, len(iterable))
"""
DATA = """
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def make_loader(args):
    dataset = torch.ones(10, 4)
    sampler = DistributedSampler(dataset)
    return DataLoader(dataset, sampler=sampler)
"""
OWN = """
import torch


class Repeated(torch.utils.data.Sampler):
    def __init__(self, dataset, shuffle=True):
        self.dataset = dataset
        self.epoch = 0
        self.shuffle = shuffle

    def __iter__(self):
        generator = torch.Generator()
        generator.manual_seed(self.epoch)
        if self.shuffle:
            indices = torch.randperm(len(self.dataset), generator=generator).tolist()
        else:
            indices = list(range(len(self.dataset)))
        return iter(indices)

    def set_epoch(self, epoch):
        self.epoch = epoch
"""
FILES = {"main.py": MAIN, "engine.py": ENGINE, "utils.py": UTILS, "data.py": DATA, "own.py": OWN}
MADE = "    sampler = DistributedSampler(dataset)\n"
TOLD = "        loader.sampler.set_epoch(epoch)\n        engine"


def found(more: dict[str, str] | None = None, /, **changes: tuple[str, str]) -> list[tuple[str, int, list[str]]]:
    """What is found where there are more files, and a text of each of these is another."""
    files = FILES | (more or {})
    for name, (old, new) in changes.items():
        assert old in files[f"{name}.py"]
        files[f"{name}.py"] = files[f"{name}.py"].replace(old, new)
    told = [each.finding for each in report(files, ("DET206",)).findings]
    return [(f.place.path, f.place.line, [each.place.path for each in f.related]) for f in told]


def test_a_sampler_is_followed_to_the_loop_that_trains_by_it_in_other_files() -> None:
    assert found() == [("data.py", 9, ["engine.py"])]


@pytest.mark.parametrize(
    "changes",
    [
        {"main": ("        engine", TOLD)},
        {
            "engine": (
                "    for i",
                "    if hasattr(loader.sampler, 'set_epoch'):\n        loader.sampler.set_epoch(epoch)\n    for i",
            )
        },
        {"engine": ("    for i", "    getattr(loader.sampler, 'set_epoch')(epoch)\n    for i")},
        {"main": ("        engine", "        loader.sampler.epoch = epoch\n        engine")},
        {"main": ("    model =", "    unknown(loader)\n    model =")},
        {"main": ("    model =", "    from elsewhere import Prefetcher\n    Prefetcher([loader])\n    model =")},
        {"data": ("(dataset)\n", "(dataset, shuffle=False)\n")},
        {"data": ("(dataset)\n", "(dataset, shuffle=args.shuffled)\n")},
        {"main": ("default=10", "default=1")},
        {"main": ("in range(args.epochs)", "in ('once',)")},
        {"main": ("    for epoch in range(args.epochs)", "    epoch = 0\n    if True")},
        {"engine": (".backward()", "")},
    ],
)
def test_nothing_is_said_of_what_may_be_told_or_is_not_repeated(changes: dict[str, tuple[str, str]]) -> None:
    assert found(**changes) == []


@pytest.mark.parametrize(
    ("made", "line"),
    [
        ("    sampler = None\n    if args.distributed:\n        sampler = DistributedSampler(dataset)\n", 11),
        ("    if not args.distributed:\n        return DataLoader(dataset, shuffle=True)\n" + MADE, 11),
        ("    sampler = DistributedSampler(dataset, seed=3) if args.distributed else None\n", 9),
        ("    kept = {'train': DistributedSampler(dataset)}\n    sampler = kept['train']\n", 9),
        ("    sampler = [DistributedSampler(dataset, shuffle=s) for s in (True, False)][0]\n", 9),
    ],
)
def test_an_option_that_asks_for_several_processes_may_be_set(made: str, line: int) -> None:
    assert found(data=(MADE, made)) == [("data.py", line, ["engine.py"])]


@pytest.mark.parametrize(
    "told", ["        if args.distributed:\n            loader.sampler.set_epoch(epoch)\n        engine", TOLD]
)
def test_an_epoch_that_is_told_where_the_option_is_set_is_told(told: str) -> None:
    made = "    sampler = DistributedSampler(dataset) if args.distributed else None\n"
    assert found(data=(MADE, made), main=("        engine", told)) == []


def test_loaders_that_are_kept_in_objects_and_gone_through_in_their_methods_are_followed() -> None:
    trainer = """
import engine


class Trainer:
    def __init__(self, model, loaders):
        self.model, self.loaders = model, loaders
        self.step = 0

    def fit(self, most):
        while self.step < most:
            self.epoch()

    def epoch(self):
        engine.train_one_epoch(self.model, self.loaders["train"], 0)
        self.step += 1
"""
    loop = "    for epoch in range(args.epochs):\n        engine.train_one_epoch(model, loader, epoch)\n"
    used = '    from trainer import Trainer\n    Trainer(model, {"train": loader}).fit(args.epochs)\n'
    assert found({"trainer.py": trainer}, main=(loop, used)) == [("data.py", 9, ["engine.py"])]


def test_a_generator_that_goes_through_a_loader_for_ever_begins_it_again_and_again() -> None:
    loop = "    for epoch in range(args.epochs):\n        engine.train_one_epoch(model, loader, epoch)\n"
    cycle = (
        "    def cycle(loader):\n        while True:\n            for batch in loader:\n                yield batch\n"
    )
    steps = "    batches = cycle(loader)\n    for step in range(100):\n        model(next(batches)).sum().backward()\n"
    assert found(main=(loop, cycle + steps)) == [("data.py", 9, ["main.py"])]


OWN_MADE = "    from own import Repeated\n    sampler = Repeated(dataset)\n"


def test_a_class_with_an_order_of_its_own_is_told_no_epoch() -> None:
    assert found(data=(MADE, OWN_MADE)) == [("own.py", 13, ["engine.py"])]
    assert found(data=(MADE, OWN_MADE), main=("        engine", TOLD)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("shuffle=True", "shuffle=False"),
        ("shuffle=True", "shuffle=None"),
        ("manual_seed(self.epoch)", "manual_seed(0)"),
        ("        return iter(indices)", "        self.epoch += 1\n        return iter(indices)"),
        ("    def set_epoch", "    def advance(self):\n        self.epoch += 1\n\n    def set_epoch"),
    ],
)
def test_an_order_that_hangs_on_no_epoch_or_counts_by_itself_is_left_alone(old: str, new: str) -> None:
    assert found(data=(MADE, OWN_MADE), own=(old, new)) == []


def test_a_class_of_the_library_that_reads_the_epoch_itself_is_one_with_an_order_of_its_own() -> None:
    base = ("(torch.utils.data.Sampler)", "(torch.utils.data.distributed.DistributedSampler)")
    assert found(data=(MADE, OWN_MADE), own=base) == [("own.py", 13, ["engine.py"])]
    inherited = "    from torch.utils.data.distributed import DistributedSampler\n\n    class Named(DistributedSampler):\n        name = 1\n"
    named = inherited + "    sampler = Named(dataset)\n"
    assert found(data=(MADE, named)) == [("data.py", 13, ["engine.py"])]


def test_one_of_two_programs_that_share_the_sampler_tells_it() -> None:
    other = {"other.py": MAIN.replace("        engine", TOLD)}
    assert found(other) == [("data.py", 9, ["engine.py"])]
    assert found(other, main=("        engine", TOLD)) == []


STEPS = "    for i, batch in enumerate(Logger().log_every(loader, 10)):\n        model(batch).sum().backward()\n"


@pytest.mark.parametrize(
    ("steps", "line"),
    [
        ("    batches = iter(loader)\n    for i in range(5):\n        model(next(batches)).sum().backward()\n", 6),
        (
            "    for i in range(5):\n        try:\n            batch = next(batches)\n        except StopIteration:\n"
            "            batches = iter(loader)\n            batch = next(batches)\n        model(batch).sum().backward()\n",
            10,
        ),
    ],
)
def test_an_iterator_that_is_taken_from_is_begun_again_in_each_epoch(steps: str, line: int) -> None:
    told = [each.finding for each in report(FILES | {"engine.py": ENGINE.replace(STEPS, steps)}, ("DET206",)).findings]
    assert [[each.place.line for each in finding.related] for finding in told] == [[line]]


@pytest.mark.parametrize(
    "steps",
    [
        "    model(next(iter(loader))).sum().backward()\n",
        "    show(model, loader)\n    model(torch.ones(4)).sum().backward()\n\n\ndef show(model, loader):\n"
        "    batches = iter(loader)\n    print(model(next(batches)))\n",
    ],
)
def test_the_first_batch_alone_and_what_is_taken_to_be_shown_are_left_alone(steps: str) -> None:
    assert found(engine=(STEPS, steps)) == []


def test_a_loop_over_numbers_that_are_kept_in_a_variable_counts() -> None:
    loop = "    for epoch in range(args.epochs):\n"
    assert found(main=(loop, "    epochs = range(args.epochs)\n    for epoch in epochs:\n")) == [
        ("data.py", 9, ["engine.py"])
    ]


def test_a_data_set_with_an_order_of_its_own_counts() -> None:
    own = ("(torch.utils.data.Sampler)", "(torch.utils.data.IterableDataset)")
    made = "    from own import Repeated\n    dataset, sampler = Repeated(dataset), None\n"
    assert found(data=(MADE, made), own=own) == [("own.py", 13, ["engine.py"])]
    told = "        loader.dataset.set_epoch(epoch)\n        engine"
    assert found(data=(MADE, made), own=own, main=("        engine", told)) == []


OTHER = "\n\ndef train_otherwise(model, loader, epoch):\n    loader.sampler.set_epoch(epoch)\n"


def test_a_function_of_which_nothing_speaks_tells_no_epoch() -> None:
    assert found(engine=(".backward()\n", ".backward()\n" + OTHER)) == [("data.py", 9, ["engine.py"])]


@pytest.mark.parametrize(
    "changes",
    [
        {"main": ("    model =", "    ways = {'otherwise': engine.train_otherwise}\n    unknown(ways)\n    model =")},
        {"main": ("    main()\n", "    main()\n    register(engine.train_otherwise)\n")},
    ],
)
def test_a_function_that_something_speaks_of_may_tell_the_epoch(changes: dict[str, tuple[str, str]]) -> None:
    assert found(engine=(".backward()\n", ".backward()\n" + OTHER), **changes) == []


def test_methods_of_objects_that_are_made_may_tell_the_epoch_and_others_do_not() -> None:
    hook = "\n\nclass Hook:\n    def __init__(self):\n        pass\n\n    def before(self, loader, epoch):\n        loader.sampler.set_epoch(epoch)\n"
    engine = (".backward()\n", ".backward()\n" + hook)
    assert found(engine=engine) == [("data.py", 9, ["engine.py"])]
    assert found(engine=engine, main=("    model =", "    register(engine.Hook())\n    model =")) == []


LAUNCHED = """
import os


def is_one_of_several():
    if "WORLD_SIZE" in os.environ:
        return int(os.environ["WORLD_SIZE"]) > 1
    return False


def set_up(args):
    args.several = False
    if is_one_of_several():
        args.several = True
"""


@pytest.mark.parametrize(
    "made",
    [
        "    import launched\n    launched.set_up(args)\n    sampler = DistributedSampler(dataset) if args.several else None\n",
        "    import os\n    several = int(os.environ.get('LOCAL_RANK', -1)) != -1\n"
        "    sampler = DistributedSampler(dataset) if several else None\n",
        "    import torch.distributed as dist\n    sampler = DistributedSampler(dataset) if dist.is_initialized() else None\n",
    ],
)
def test_a_program_may_be_launched_as_one_of_several_processes(made: str) -> None:
    more = {"launched.py": LAUNCHED}
    (path, _, related), *others = found(more, data=(MADE, made))
    assert (path, related, others) == ("data.py", ["engine.py"], [])
    assert found(more, data=(MADE, made), main=("        engine", TOLD)) == []
