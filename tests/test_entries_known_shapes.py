"""`detlint entries`: what programs in the shape of well-known repositories seed, draw and start."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import entries, told
from tests.support import codes

SEEDS_BY_RETURNED_STATE = """
    import os, random, torch
    from datetime import datetime

    def seed_all_rng(seed=None):
        if seed is None:
            seed = os.getpid() + int(datetime.now().strftime("%S%f"))
        torch.set_rng_state(torch.manual_seed(seed).get_state())
        random.seed(seed)

    seed_all_rng({})
    print(torch.rand(3), random.random())
    """


@pytest.mark.parametrize(("given", "state"), [("", "unseeded"), ("7", "seeded")])
def test_a_state_that_is_put_back_is_that_of_the_seed(tmp_path: Path, given: str, state: str) -> None:
    generators = told(tmp_path, SEEDS_BY_RETURNED_STATE.format(given))["generators"]
    assert generators["torch"]["state"] == generators["python"]["state"] == state


@pytest.mark.parametrize(
    ("hashed", "state"),
    [
        ('"setting random seeds"', "unseeded"),
        ('("a", number)', "unseeded"),
        ("str(sys.argv)", "unseeded"),
        ('f"run-{sys.argv[1]}"', "unseeded"),
        ("sys.argv[1]", "unseeded"),
        ('os.environ["JOB"]', "unseeded"),
        ("args.name", "unseeded"),
        ("(args.name, number)", "unseeded"),
        ("time.time()", "unseeded"),
        ("args.given", "optional"),
        ("7", "seeded"),
        ("(1, 2)", "seeded"),
        ("number", "seeded"),
        ("args.number", "seeded"),
        ('""', "seeded"),
    ],
)
def test_the_hash_of_a_text_is_another_one_in_each_run(tmp_path: Path, hashed: str, state: str) -> None:
    entry = told(
        tmp_path,
        f"""
        import argparse, os, random, sys, time
        number = 3
        parser = argparse.ArgumentParser()
        parser.add_argument("--name", default="run")
        parser.add_argument("--given", type=str)
        parser.add_argument("--number", type=int)
        args = parser.parse_args()
        random.seed(hash({hashed}) % 2**32 - 1)
        print(random.random())
        """,
    )
    assert entry["generators"]["python"]["state"] == state
    assert ("DET105" in {code for _, code in codes((tmp_path / "program.py").read_text())}) == (state == "unseeded")


def test_the_hash_of_a_parameter_that_is_a_text_is_another_one_in_each_run(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import random

        def seed(name: str):
            random.seed(hash(name) % 2**32)

        seed(input())
        print(random.random())
        """,
    )
    assert entry["generators"]["python"]["state"] == "unseeded"


def test_next_calls_the_method_of_the_class(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import numpy as np
        from batchgenerators.dataloading.data_loader import DataLoader

        class Batches(DataLoader):
            def __init__(self, data):
                super().__init__(data)
                self.data = data

            def __next__(self):
                return np.random.choice(self.data, 2)

        batches = Batches([1, 2])
        for _ in range(3):
            print(next(batches))
        """,
    )
    assert entry["generators"]["numpy"]["state"] == "unseeded"


def test_next_of_a_generator_still_runs_it(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import random

        def cycle():
            while True:
                yield random.random()

        print(next(cycle()))
        """,
    )
    assert entry["generators"]["python"]["state"] == "unseeded"


ARMS = """
    import os, random, sys

    def main():
        if sys.argv[1] == "train":
            if os.getenv("FORCE", "0").lower() in ["true", "1"]:
                items = [3, 4, 5]
                random.shuffle(items)
                open("a", "w").write(str(items))
            {}
                random.seed(1)
                print("trains")

    main()
    """


@pytest.mark.parametrize("other", ["else:", "if True:"])
def test_a_draw_that_an_option_brings_about_is_not_ahead_of_what_is_seeded_anyway(tmp_path: Path, other: str) -> None:
    entry = told(tmp_path, ARMS.format(other))
    assert entry["generators"]["python"]["state"] == "seeded"
    assert codes(ARMS.format(other), "DET106") == []


def test_a_script_that_imports_itself_gets_its_own_classes(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "utils.py").write_text("import torch\n\ndef seed_everywhere(seed):\n    torch.manual_seed(seed)\n")
    (tmp_path / "train.py").write_text(
        "import torch\nimport utils\n\n"
        "class Workspace:\n    def __init__(self, seed):\n        utils.seed_everywhere(seed)\n"
        "        self.noise = torch.rand(3)\n\n"
        "def main():\n    from train import Workspace as W\n    W(3)\n\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    (entry,) = entries(tmp_path)
    assert entry["generators"]["torch"]["state"] == "seeded"


def test_a_script_that_has_the_name_of_a_library_imports_that(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "accelerate.py").write_text(
        "import torch\nfrom accelerate.utils import set_seed\n\n"
        "if __name__ == '__main__':\n    set_seed(3)\n    print(torch.rand(3))\n"
    )
    (entry,) = entries(tmp_path)
    assert entry["generators"]["torch"]["state"] == "seeded"


READ = """
    import argparse, random, yaml
    from easydict import EasyDict

    {}
    if len(cfg["gpus"]) == 1:
        cfg["spawn"] = False
    if cfg["spawn"]:
        random.seed(3)
    print(random.random())
    """


@pytest.mark.parametrize(
    "made",
    [
        "cfg = {}; loaded = yaml.safe_load(open('x'))\n    for k in loaded: cfg[k] = loaded[k]",
        "cfg = EasyDict(yaml.safe_load(open('x')))",
    ],
)
def test_an_entry_that_is_perhaps_set_may_be_what_a_file_says(tmp_path: Path, made: str) -> None:
    entry = told(tmp_path, READ.format(made))
    assert entry["generators"]["python"]["state"] == "optional"


def test_an_attribute_that_is_perhaps_set_may_be_what_a_file_says(tmp_path: Path) -> None:
    program = READ.format("cfg = EasyDict(yaml.safe_load(open('x')))")
    entry = told(tmp_path, program.replace('cfg["gpus"]', "cfg.gpus").replace('cfg["spawn"]', "cfg.spawn"))
    assert entry["generators"]["python"]["state"] == "optional"


def test_what_is_set_under_a_name_that_is_not_known_is_not_taken_for_each_attribute(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import argparse, random, sys, numpy

        args = argparse.Namespace()
        for name in sys.stdin:
            setattr(args, name.strip(), random.random)
        args.start()
        print(numpy.random.rand())
        """,
    )
    assert entry["generators"]["python"]["state"] == "unused"


OPTION = """
    import argparse, random
    import numpy as np
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", {})
    args = parser.parse_args()
    if args.seed is None:
        args.seed = random.randint(1, 10000)
    np.random.seed(args.seed)
    print(np.random.rand())
    """


@pytest.mark.parametrize(
    ("option", "told_of"),
    [
        ("type=int, default=0", set()),
        ("default=0, type=float", set()),
        ("type=int", {"DET105"}),
        ("type=int, default=None", {"DET105"}),
        ("type=int, default=0, nargs='?'", {"DET105"}),
    ],
)
def test_an_option_that_is_read_as_a_number_is_never_none(option: str, told_of: set[str]) -> None:
    assert {code for _, code in codes(OPTION.format(option), "DET105")} == told_of


def test_a_seed_that_is_drawn_is_as_sure_as_the_seed_of_what_it_is_drawn_from(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import sys
        import numpy as np, torch
        if len(sys.argv) > 1:
            np.random.seed(3)
        torch.manual_seed(np.random.randint(1 << 31))
        print(torch.rand(3))
        """,
    )
    assert entry["generators"]["torch"]["state"] == "optional"


def test_set_seed_of_trl_seeds_all(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        from trl import set_seed
        set_seed(3)
        """,
    )
    assert {entry["generators"][name]["state"] for name in ("torch", "numpy", "python")} == {"seeded"}


@pytest.mark.parametrize("handed", ["tune.with_resources(train, {'cpu': 2})", "partial(train, size=3)"])
def test_a_trial_of_ray_begins_as_a_process_of_its_own(tmp_path: Path, handed: str) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "program.py").write_text(
        "from functools import partial\nimport torch\nfrom ray import tune\n\n"
        "def train(config, size=2):\n    print(torch.nn.Linear(size, 2))\n\n"
        "def main():\n    torch.manual_seed(3)\n"
        f"    tuner = tune.Tuner({handed}, param_space={{}})\n    tuner.fit()\n\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    found = {each["kind"]: each["generators"]["torch"]["state"] for each in entries(tmp_path)}
    assert found == {"main": "seeded", "process": "unseeded"}
