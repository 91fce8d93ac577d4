"""DET105 where a function that the file calls makes the seed: what the programs of the project say of it."""

from __future__ import annotations

import pytest

from tests.support import report

SEEDS = """
    import numpy as np
    import torch
    from draws import number


    def seed_all(seed=None):
        if seed is None:
            seed = number()
        np.random.seed(seed)
        torch.manual_seed(seed)
    """
TRAIN = """
    import argparse
    import torch
    from seeds import seed_all

    if __name__ == "__main__":
        parser = argparse.ArgumentParser()
        parser.add_argument("--seed", type=int)
        args = parser.parse_args()
        {}
        print(torch.rand(2))
    """
CLOCK = "import time\ndef number():\n    return time.time_ns() % 2**32\n"
SEED = "import random\ndef number():\n    seed = random.randint(0, 9)\n    return seed\n"
PASSED = "import time\ndef itself(x):\n    return x\ndef number():\n    return itself(time.time_ns())\n"


def found(train: str, draws: str) -> list[tuple[str, int, str]]:
    """The findings on seeds in a program that runs `train`, with a function `number` in another file."""
    files = {"seeds.py": SEEDS.lstrip("\n"), "train.py": TRAIN.lstrip("\n").format(train), "draws.py": draws}
    findings = (judged.finding for judged in report(files, ("DET1",)).findings)
    return [(each.place.path, each.place.line, each.code) for each in findings]


@pytest.mark.parametrize(
    ("train", "draws"),
    [
        ("seed_all()", CLOCK),
        ("seed_all(None)", CLOCK),
        ("seed_all(args.seed)", CLOCK),
        ("seed_all(seed=args.seed)", CLOCK),
        ("seed_all()", SEED),
        ("seed_all()", PASSED),
    ],
)
def test_a_seed_that_another_file_draws_is_reported_where_it_seeds_first(train: str, draws: str) -> None:
    assert found(train, draws) == [("seeds.py", 9, "DET105")]


@pytest.mark.parametrize(
    ("train", "draws"),
    [
        ("seed_all(3)", CLOCK),
        ("seed_all(3 if args.seed is None else args.seed)", CLOCK),
        ("seed_all(len(args.seed))", CLOCK),
        ("seed_all()", "def number():\n    return 7\n"),
        ("seed_all()", "import random\ndef number():\n    random.seed(1)\n    return random.randint(0, 9)\n"),
        ("seed_all()", "import somewhere\ndef number():\n    return somewhere.seed()\n"),
        ("seed_all()", "import os\ndef number():\n    return int(os.environ['SEED'])\n"),
        ("seed_all()", "import time, sys\ndef number():\n    return sys.argv[1] or time.time_ns()\n"),
    ],
)
def test_a_seed_that_repeats_or_is_not_known_is_not_reported(train: str, draws: str) -> None:
    assert found(train, draws) == []


def test_a_function_that_sets_seeds_takes_one_from_another() -> None:
    setup = "from draws import number; seed = number(); from common import set_seed; set_seed(seed)"
    files = {
        "common.py": "import torch\ndef set_seed(seed):\n    torch.manual_seed(seed)\n",
        "draws.py": CLOCK,
        "train.py": f"import torch\n{setup.replace('; ', chr(10))}\nprint(torch.rand(2))\n",
    }
    findings = [judged.finding for judged in report(files, ("DET1",)).findings]
    assert [(each.place.path, each.place.line, each.code) for each in findings] == [("train.py", 5, "DET105")]
    assert [related.place.line for related in findings[0].related] == [3]
    assert "`number()`" in findings[0].message
