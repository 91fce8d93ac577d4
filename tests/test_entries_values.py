"""`detlint entries`: what programs set by values that pass through mappings, configurations and classes of libraries."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.project import told
from tests.support import report

SEED = """
    import argparse, random
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=9)
    args = parser.parse_args()
    {}
    if opts["seed"] is None:
        opts["seed"] = random.randint(1, 1000)
        print(random.random())
    random.seed(opts["seed"])
    print(random.random())
    """


@pytest.mark.parametrize(
    "copied",
    [
        "opts = vars(args)",
        "opts = args.__dict__",
        "opts = args.__dict__.copy()",
        "opts = dict(vars(args))",
        "opts = dict(**vars(args))",
        "opts = {**vars(args)}",
        "opts = {}; opts['seed'] = vars(args).get('seed')",
    ],
)
def test_options_are_the_same_as_a_dict(tmp_path: Path, copied: str) -> None:
    assert told(tmp_path, SEED.format(copied))["generators"]["python"]["state"] == "seeded"


def test_options_that_are_unpacked_guard_what_they_guard(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import argparse, random


        def main(seed=None, steps=1):
            if seed is not None:
                random.seed(seed)
            print(random.random())


        parser = argparse.ArgumentParser()
        parser.add_argument("--seed", type=int)
        main(**vars(parser.parse_args()))
        """,
    )
    assert entry["generators"]["python"]["state"] == "optional"
    assert entry["generators"]["python"]["option"] == "--seed"


def test_an_option_that_is_set_by_its_name_in_the_dict_is_set(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import argparse, random
        parser = argparse.ArgumentParser()
        args = parser.parse_args()
        vars(args)["seed"] = 1
        if args.seed is not None:
            random.seed(args.seed)
        print(random.random())
        """,
    )
    assert entry["generators"]["python"]["state"] == "seeded"


def test_a_dataclass_is_a_dict_of_its_fields(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import random
        from dataclasses import asdict, dataclass


        @dataclass
        class Config:
            seed: int = 1


        config = asdict(Config())
        if config["seed"] is not None:
            random.seed(config["seed"])
        print(random.random())
        """,
    )
    assert entry["generators"]["python"]["state"] == "seeded"


def test_the_fields_of_a_dataclass_are_surely_among_the_keywords(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import torch
        from dataclasses import asdict, dataclass


        @dataclass
        class Modes:
            mode: bool = True


        torch.use_deterministic_algorithms(**asdict(Modes()))
        """,
    )
    assert entry["deterministic_algorithms"]["state"] == "on"


@pytest.mark.parametrize(
    ("made", "word"),
    [
        ("SimpleNamespace(fast=False)", "off"),
        ("HParams(fast=False)", "off"),
        ("OmegaConf.create({'fast': False})", "off"),
        ("HParams(json.load(open('config.json')))", "optional"),
        ("HParams()", "optional"),
    ],
)
def test_an_object_of_a_library_has_what_it_was_given(tmp_path: Path, made: str, word: str) -> None:
    entry = told(
        tmp_path,
        f"""
        import json
        import torch
        from types import SimpleNamespace
        from omegaconf import OmegaConf
        from tools import HParams


        def configured():
            return {made}


        torch.backends.cudnn.benchmark = configured().fast
        print(torch.rand(1))
        """,
    )
    assert entry["cudnn_benchmark"]["state"] == word


NAMESPACES = (
    "types.SimpleNamespace(fast=False)",
    "argparse.Namespace(fast=False)",
    "easydict.EasyDict({'fast': False})",
    "easydict.EasyDict(fast=False)",
    "settled.ByLoop(fast=False)",
    "settled.Shown(fast=False)",
    "settled.Dict({'fast': False})",
    "settled.Dict(fast=False)",
    "settled.Looked({'fast': False})",
)
SETTLED = """
    class ByLoop:
        def __init__(self, **given):
            for name, value in given.items():
                setattr(self, name, value)


    class Shown:
        def __init__(self, **given):
            self.__dict__.update(given)


    class Dict(dict):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.__dict__ = self


    class Looked(dict):
        def __getattr__(self, name):
            return self[name]
    """


@pytest.mark.parametrize("settings", NAMESPACES)
@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("print(settings)", "off"),
        ("settings.fast = True", "on"),
        ("if len(sys.argv) > 3: settings.fast = True", "optional"),
    ],
)
def test_objects_have_the_attributes_that_they_are_made_with(
    tmp_path: Path, settings: str, statement: str, word: str
) -> None:
    (tmp_path / "settled.py").write_text(textwrap.dedent(SETTLED), encoding="utf-8")
    entry = told(
        tmp_path,
        f"""
        import argparse, sys, types
        import easydict, settled, torch
        settings = {settings}
        {statement}
        torch.backends.cudnn.benchmark = settings.fast
        """,
    )
    own = settings.startswith("settled") and "Looked" not in settings  # what it was at first is kept too
    assert entry["cudnn_benchmark"]["state"] == ("optional" if own and word == "on" else word)


@pytest.mark.parametrize(
    "unknown", ["argparse.Namespace(**json.load(open('x')))", "types.SimpleNamespace(**json.load(open('x')))"]
)
def test_an_object_made_of_what_is_not_known_may_have_any_attribute(tmp_path: Path, unknown: str) -> None:
    entry = told(
        tmp_path,
        f"""
        import argparse, json, types
        import torch
        settings = {unknown}
        torch.backends.cudnn.benchmark = getattr(settings, "fast", False)
        """,
    )
    assert entry["cudnn_benchmark"]["state"] == "optional"


def test_functions_that_a_loop_goes_through_are_all_called(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import random
        import numpy as np
        for seed in (random.seed, np.random.seed):
            seed(3)
        print(random.random(), np.random.rand())
        """,
    )
    states = {name: each["state"] for name, each in entry["generators"].items()}
    assert states == {"torch": "unused", "numpy": "seeded", "python": "seeded"}


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ("dict(start='fork')", "default"),
        ("{'start': 'fork'}", "default"),
        ("{'start': 'fork', 'fast': True}", "on"),
        ("{'start': 'fork', **json.load(open('settings.json'))}", "optional"),
        ("{}", "optional"),  # it may be filled elsewhere
    ],
)
def test_a_dict_that_is_written_down_lacks_other_keys(tmp_path: Path, settings: str, word: str) -> None:
    entry = told(
        tmp_path,
        f"""
        import json
        import torch


        def start(settings={settings}):
            if settings.get("fast"):
                torch.backends.cudnn.benchmark = True
            print(torch.rand(1))


        start()
        """,
    )
    assert entry["cudnn_benchmark"]["state"] == word


@pytest.mark.parametrize(
    "body",
    ["pass", "def __init__(self, *args, **kwargs):\n    super().__init__(*args, **kwargs)"],
)
def test_a_loader_of_a_class_of_the_project_is_a_loader(tmp_path: Path, body: str) -> None:
    program = (
        "import torch\nfrom torch.utils.data import DataLoader\nclass Endless(DataLoader):\n"
        f"{textwrap.indent(body, '    ')}\n"
        "generator = torch.Generator().manual_seed(0)\n"
        "train = Endless([1], generator=generator)\ntest = Endless([1])\n"
    )
    assert told(tmp_path, program)["loaders"] == {"total": 2, "with_generator": 1, "with_worker_init": 0}


def test_texts_are_compared_as_the_program_does(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import random


        def choose(name):
            if name.capitalize() == "Plain" and name.replace("a", "o").startswith("pl"):
                random.seed(1)


        choose("plain")
        print(random.random())
        """,
    )
    assert entry["generators"]["python"]["state"] == "seeded"


def test_a_trainer_tests_with_the_loader_for_tests(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import random
        import lightning.pytorch as pl
        from torch.utils.data import DataLoader


        class Module(pl.LightningModule):
            def train_dataloader(self):
                return DataLoader([1])

            def test_dataloader(self):
                return DataLoader([2])

            def test_step(self, batch, index):
                return random.random()


        pl.Trainer().test(Module())
        """,
    )
    assert entry["loaders"]["total"] == 1
    assert entry["generators"]["python"]["state"] == "unseeded"


@pytest.mark.parametrize(
    ("launch", "default", "state"),
    [
        ("fire.Fire(main)", "None", "optional"),
        ("fire.Fire({'main': main})", "None", "optional"),
        ("typer.run(main)", "None", "optional"),
        ("app()", "None", "optional"),
        ("tyro.cli(main)", "None", "optional"),
        ("jsonargparse.CLI(main)", "None", "optional"),
        ("jsonargparse.auto_cli()", "None", "optional"),
        ("typer.run(main)", "typer.Option(None)", "optional"),
        ("typer.run(main)", "1", "seeded"),
    ],
)
def test_the_defaults_of_a_function_that_is_a_command_are_those_of_options(
    tmp_path: Path, launch: str, default: str, state: str
) -> None:
    entry = told(
        tmp_path,
        f"""
        import random
        import fire, jsonargparse, typer, tyro

        app = typer.Typer()


        @app.command()
        def main(seed={default}, steps=1):
            if seed is not None:
                random.seed(seed)
            print(random.random())


        {launch}
        """,
    )
    assert entry["generators"]["python"]["state"] == state
    assert entry["generators"]["python"]["option"] == ("--seed" if state == "optional" else None)


def test_an_object_that_is_a_command_has_its_options_and_those_of_its_methods(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import random
        import fire
        import numpy as np


        class Commands:
            def __init__(self, seed=None):
                if seed is not None:
                    random.seed(seed)

            def train(self, numpy_seed=None):
                if numpy_seed is not None:
                    np.random.seed(numpy_seed)
                print(random.random(), np.random.rand())


        fire.Fire(Commands)
        """,
    )
    told_of = {name: (stream["state"], stream["option"]) for name, stream in entry["generators"].items()}
    assert told_of == {
        "torch": ("unused", None),
        "python": ("optional", "--seed"),
        "numpy": ("optional", "--numpy-seed"),
    }


@pytest.mark.parametrize(("default", "state"), [("still", "unused"), ("noisy", "unseeded")])
@pytest.mark.parametrize(
    "looked_up",
    ["getattr(kinds, kind)", "kinds.__dict__[kind]", "vars(kinds)[kind]", "globals()[kind]", "kinds.ALL[kind]"],
)
def test_what_is_looked_up_by_an_option_is_what_its_default_names(
    tmp_path: Path, looked_up: str, default: str, state: str
) -> None:
    (tmp_path / "kinds.py").write_text(
        "import random\n\n\ndef still():\n    return 0\n\n\ndef noisy():\n    return random.random()\n\n\n"
        "ALL = {'still': still, 'noisy': noisy}\n",
        encoding="utf-8",
    )
    entry = told(
        tmp_path,
        f"""
        import argparse
        import kinds
        import numpy as np
        from kinds import noisy, still
        parser = argparse.ArgumentParser()
        parser.add_argument("--kind", default="{default}")
        kind = parser.parse_args().kind
        print({looked_up}(), np.random.rand())
        """,
    )
    assert entry["generators"]["python"]["state"] == state


def test_models_of_a_library_are_looked_up_in_its_module(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import argparse
        import torchvision.models as models
        parser = argparse.ArgumentParser()
        parser.add_argument("--arch", default="resnet18")
        model = models.__dict__[parser.parse_args().arch]()
        print(model)
        """,
    )
    assert entry["generators"]["torch"]["first_draw"]["what"] == "torchvision.models.resnet18"


def test_the_fields_of_a_class_are_options_of_a_parser_that_it_is_added_to(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import random
        from dataclasses import dataclass
        from simple_parsing import ArgumentParser


        @dataclass
        class Settings:
            seed: int = 1


        parser = ArgumentParser()
        parser.add_arguments(Settings, dest="settings")
        settings = parser.parse_args().settings
        if settings.seed is not None:
            random.seed(settings.seed)
        print(random.random())
        """,
    )
    assert entry["generators"]["python"]["state"] == "seeded"


@pytest.mark.parametrize("statement", ["text = text.replace('a', 'aa')", "text = f'{text}{text}'"])
def test_a_text_that_doubles_again_and_again_is_not_known_for_long(statement: str) -> None:
    lines = "".join(f"    {statement}\n" for _ in range(60))
    text = f"import torch\nif __name__ == '__main__':\n    text = 'a'\n{lines}    torch.rand(1)\n"
    assert [judged.finding.code for judged in report({"train.py": text}, ("DET101",)).findings] == ["DET101"]


@pytest.mark.parametrize(
    ("fast", "word"),
    [
        ("1 + rank == 0", "on"),
        ("2 + rank == 0", "optional"),  # another rank switches it on
        ("rank - 1 == -2", "on"),
        ("bool(os.environ.get('FAST', ''))", "optional"),
        ("bool(int(os.environ.get('FAST', '1')))", "on"),
        ("str(rank) == '-1'", "on"),
        ("f'fast_{rank}' == 'fast_-1'", "on"),
        ("int(os.environ.get('FAST', 'x')) > 1", "optional"),  # it raises by default
        ("rank + os.getpid() == 3", "optional"),
    ],
)
def test_what_is_computed_of_defaults_is_known(tmp_path: Path, fast: str, word: str) -> None:
    entry = told(
        tmp_path,
        f"""
        import os
        import torch
        rank = int(os.environ.get("RANK", -1))
        fast = {fast}
        torch.backends.cudnn.benchmark = True if fast else False
        print(torch.rand(1))
        """,
    )
    assert entry["cudnn_benchmark"]["state"] == word


@pytest.mark.parametrize("number", ["4", "args.depth"])
@pytest.mark.parametrize("step", ["depth - 1", "0 if depth < 1 else depth - 1"])
def test_a_recursion_that_counts_down_gets_to_its_end(tmp_path: Path, number: str, step: str) -> None:
    entry = told(
        tmp_path,
        f"""
        import argparse, random
        parser = argparse.ArgumentParser()
        parser.add_argument("--depth", type=int, default=3000)
        args = parser.parse_args()


        def grow(depth):
            return random.random() if depth == 0 else [grow({step}), grow({step})]


        print(grow({number}))
        """,
    )
    assert entry["generators"]["python"]["state"] == "unseeded"


def test_a_text_that_grows_by_a_recursion_is_not_known_for_long(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import random


        def visit(tree, prefix):
            for child in tree:
                visit(child, prefix + ".child")
            print(random.random(), f"{prefix}.{prefix}")


        visit([[[]]], "root")
        """,
    )
    assert entry["generators"]["python"]["state"] == "unseeded"
