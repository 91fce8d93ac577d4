"""`detlint entries`: switches that options turn on, tests that several options decide, and workers that options count."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import told

HEAD = """
    import argparse
    import json

    import numpy as np
    import torch
    from torch.utils.data import DataLoader, Dataset

    parser = argparse.ArgumentParser()
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--slow", dest="quick", action="store_false")
    parser.add_argument("--seed", type=int)
    args = parser.parse_args()
    """


@pytest.mark.parametrize(
    ("line", "switch", "word"),
    [
        ("torch.use_deterministic_algorithms(args.fast)", "deterministic_algorithms", "optional"),
        ("torch.use_deterministic_algorithms(args.quick)", "deterministic_algorithms", "on"),
        ("torch.use_deterministic_algorithms(args.fast, warn_only=True)", "deterministic_algorithms", "optional"),
        ("torch.use_deterministic_algorithms(True, warn_only=args.fast)", "deterministic_algorithms", "optional"),
        ("torch.use_deterministic_algorithms(False)", "deterministic_algorithms", "off"),
        ("torch.backends.cudnn.benchmark = args.fast", "cudnn_benchmark", "optional"),
        ("torch.backends.cudnn.deterministic = args.quick", "cudnn_deterministic", "on"),
    ],
)
def test_a_switch_that_an_option_turns_on_is_optional(tmp_path: Path, line: str, switch: str, word: str) -> None:
    entry = told(tmp_path, f"{HEAD}{line}\n")
    assert entry[switch]["state"] == word


@pytest.mark.parametrize(
    "test",
    [
        "not args.cpu and args.seed is not None",
        "args.seed is not None and not args.cpu",
        "args.quick and args.seed",
        "not (args.cpu or args.seed is None)",
        "not (args.seed is None or args.cpu)",
    ],
)
def test_a_seed_hangs_on_the_option_that_keeps_it_away_by_default(tmp_path: Path, test: str) -> None:
    entry = told(tmp_path, f"{HEAD}if {test}:\n        torch.manual_seed(1)\n    torch.rand(1)\n")
    assert (entry["generators"]["torch"]["state"], entry["generators"]["torch"]["option"]) == ("optional", "--seed")


@pytest.mark.parametrize(
    ("workers", "seed", "state"),
    [
        ("json.load(open(args.seed))['workers']", "", "unseeded"),
        ("json.load(open(args.seed))['workers']", "torch.manual_seed(1)", "seeded"),
        ("4", "", "unseeded"),
        ("0", "", "unused"),
    ],
)
def test_workers_draw_their_seed_where_there_may_be_some(tmp_path: Path, workers: str, seed: str, state: str) -> None:
    program = f"""{HEAD}
    class Noise(Dataset):
        def __getitem__(self, index):
            return np.random.rand()

    {seed}
    for batch in DataLoader(Noise(), num_workers={workers}):
        pass
    """
    assert told(tmp_path, program)["generators"]["torch"]["state"] == state


@pytest.mark.parametrize(
    ("loop", "state"),
    [
        ("for x in loader: pass", "unseeded"),
        ("for step, (x, y) in enumerate(tqdm(loader), 1): pass", "unseeded"),
        ("print([x for x in loader])", "unseeded"),
        ("np.random.seed(0)\n        for x in loader: pass", "seeded"),
        ("loader = [2]\n        for x in loader: pass", "unused"),
        ("if not args.fast:\n            for x in loader: pass", "unused"),
        ("def train():\n            for x in loader: pass\n        train()", "unseeded"),
        ("def train():\n            loader = [2]\n            for x in loader: pass\n        train()", "unused"),
    ],
)
def test_what_an_option_puts_into_a_variable_is_iterated(tmp_path: Path, loop: str, state: str) -> None:
    program = f"""{HEAD}
    from tqdm import tqdm

    class Mixed:
        def __init__(self, loader):
            self.loader = loader

        def __iter__(self):
            for x in self.loader:
                yield x * np.random.beta(1.0, 1.0)

    def main():
        loader = [1]
        if args.fast:
            loader = Mixed(loader)
        {loop}

    torch.rand(1)
    main()
    """
    assert told(tmp_path, program)["generators"]["numpy"]["state"] == state


@pytest.mark.parametrize(
    ("usual", "other", "use", "state"),
    [
        ("Still()", "Noise()", "step.sample()", "unseeded"),
        ("Still()", "Noise()", "step(1)", "unseeded"),
        ("plain", "Noise()", "print(step(1))", "unseeded"),
        ("Still()", "Noise()", "def run(): step.sample()\n        run()", "unseeded"),
        ("Still()", "Noise()", "np.random.seed(0); step.sample()", "seeded"),
        ("Still()", "Noise()", "step = Still(); step.sample()", "unused"),
        ("Still()", "Still()", "step.sample()", "unused"),
    ],
)
def test_an_object_that_an_option_puts_into_a_variable_is_called(
    tmp_path: Path, usual: str, other: str, use: str, state: str
) -> None:
    program = f"""{HEAD}
    class Still:
        def sample(self):
            return 0.0

        def __call__(self, x):
            return x

    class Noise(Still):
        def sample(self):
            return np.random.rand()

        def __call__(self, x):
            return x + self.sample()

    def plain(x):
        return x

    def main():
        step = {usual}
        if args.fast:
            step = {other}
        {use}

    torch.rand(1)
    main()
    """
    assert told(tmp_path, program)["generators"]["numpy"]["state"] == state
