"""Projects of many files and programs: what packages export, decorators that many share, and who loads what."""

from __future__ import annotations

import pytest

from detlint.programs.events import Drawn
from tests.solved import solved

LAUNCH = "__all__ = ['launch']\ndef launch(run):\n    run()\ndef other(run):\n    run()\n"
STARTED = """
import random
from engine import launch, other

if __name__ == "__main__":
    launch(random.random)
    other(random.random)
"""


def test_a_star_brings_the_function_that_has_the_name_of_its_module() -> None:
    files = {"engine/__init__.py": "from .launch import *\n", "engine/launch.py": LAUNCH, "engine/other.py": ""}
    found = solved({**files, "train.py": STARTED}, started={"train.py"}).draws("train.py")
    assert [(stream, path, line) for stream, path, line, _, _ in found] == [("python", "engine/launch.py", 3)]


@pytest.mark.parametrize(
    ("exported", "word"),
    [
        ("", "seeded"),
        ("__all__ = ['seed']\n", "seeded"),
        ("__all__ = ['other']\n", "unseeded"),
        ("__all__ = ['other']\n__all__ += ['seed']\n", "seeded"),
    ],
)
def test_a_star_brings_what_a_module_lists(exported: str, word: str) -> None:
    files = {
        "first.py": "import random\ndef seed():\n    random.seed(1)\n",
        "second.py": f"{exported}from first import seed\nother = 3\n",
        "train.py": "import random\nfrom second import *\nseed()\nrandom.random()\n",
    }
    found = solved(files, started={"train.py"}).draws("train.py", "seeded", "unseeded", "unsure")
    assert [(stream, words) for stream, _, _, words, _ in found] == [("python", word)]


MANY = "\n".join(
    f"class Other{index}:\n    @classmethod\n    def make(cls):\n        return cls()\n" for index in range(70)
)


def test_class_methods_are_such_however_many_there_are() -> None:
    run = "class Run:\n    seed = None\n    @classmethod\n    def start(cls):\n        if cls.seed:\n            random.seed(3)\n"
    program = f"import random\n{MANY}\n{run}Run.start()\nrandom.random()\n"
    found = solved(program).draws("train.py", "seeded", "unseeded", "unsure")
    assert [(stream, word) for stream, _, _, word, _ in found] == [("python", "unseeded")]


NESTED = """
import sys
import torch
from torch import nn

class Noise(nn.Module):
    def forward(self, x):
        return x + torch.randn(3)

class Plain(nn.Module):
    pass

layer = Plain()
layer.add_module({name}, Noise())
layer{called}(torch.ones(3))
"""


@pytest.mark.parametrize(
    ("name", "called", "draws"),
    [("sys.argv[1]", "", 0), ("'noise'", "", 0), ("sys.argv[1]", ".noise", 1), ("'noise'", ".noise", 1)],
)
def test_a_layer_of_a_module_is_not_what_that_is_called_by(name: str, called: str, draws: int) -> None:
    program = NESTED.replace("{name}", name).replace("{called}", called)
    assert len(solved(program).draws("train.py")) == draws


REGISTRY = {
    "engine/__init__.py": "",
    "engine/registry.py": (
        "HEADS = {}\ndef register(f):\n    HEADS[f.__name__] = f\n    return f\n"
        "def build(name):\n    return HEADS[name]()\n"
    ),
    "extra/__init__.py": "from . import heads\n",
    "extra/heads.py": (
        "import random\nfrom engine.registry import register\n"
        "@register\ndef shuffled():\n    import extra\n    random.random()\n"
    ),
    "plain.py": (
        "import sys\nfrom engine.registry import build, register\n@register\ndef own():\n    pass\n"
        "if __name__ == '__main__':\n    build(sys.argv[1])\n"
    ),
    "other.py": "import sys, extra\nfrom engine.registry import build\nbuild(sys.argv[1])\n",
}


@pytest.mark.parametrize(("program", "draws"), [("plain.py", 0), ("other.py", 1)])
def test_a_program_calls_nothing_of_files_that_it_does_not_load(program: str, draws: int) -> None:
    found = solved(REGISTRY, started={"plain.py", "other.py"})
    assert len(found.draws(program)) == draws


CONFIGURATION = """
import random
from fvcore.common.config import CfgNode as Base

class Node(Base):
    pass

defaults = Node()
defaults.data = Node()
defaults.data.seeded = {default}

def get():
    return defaults.clone()

config = get()
config.freeze()
if config.data.seeded:
    random.seed(1)
random.random()
"""


@pytest.mark.parametrize(("default", "state"), [("True", "seeded"), ("False", "unseeded")])
def test_a_field_of_an_own_class_of_configurations_has_its_default(default: str, state: str) -> None:
    (entry,) = solved(CONFIGURATION.replace("{default}", default)).entries("train.py")
    assert {stream.state for stream in entry.streams if stream.generator == "python"} == {state}


ANNOTATED = """
import random
from dataclasses import dataclass
from typing import Optional
from elsewhere import wrap

@dataclass
class Config:
    seeded: bool = {default}
    seed: Optional[int] = None

    def __post_init__(self):
        self.size = 3

@wrap()
def train(config: {annotation}):
    if config.seeded:
        random.seed(1)
    if config.size == 4:
        random.random()
    random.random()

train()
"""


@pytest.mark.parametrize(
    ("annotation", "default", "words"),
    [
        ("Config", "True", ["seeded", "seeded"]),
        ("Optional[Config]", "True", ["seeded", "seeded"]),
        ("Config", "False", ["unseeded", "unseeded"]),
        ("int", "True", ["unsure", "unsure"]),
    ],
)
def test_a_parameter_of_which_nothing_is_known_is_of_the_class_that_it_is_annotated_with(
    annotation: str, default: str, words: list[str]
) -> None:
    program = ANNOTATED.replace("{default}", default).replace("{annotation}", annotation)
    (entry,) = solved(program).entries("train.py")
    assert [met.event.word for met in entry.of(Drawn) if not met.option] == words


@pytest.mark.parametrize("default", ["", ", default=None", ", default='a,b'"])
def test_a_method_of_an_option_that_has_to_be_set_gives_something(default: str) -> None:
    program = (
        "import argparse, random\nparser = argparse.ArgumentParser()\n"
        f"parser.add_argument('--names', type=str{default})\nargs = parser.parse_args()\n"
        "for name in args.names.split(','):\n    random.random()\n"
    )
    assert [(stream, line) for stream, _, line, _, _ in solved(program).draws("train.py")] == [("python", 6)]


@pytest.mark.parametrize(
    ("made", "draws"),
    [
        ("[3 for _ in range(2)]", 0),
        ("[3 for _ in range(size)]", 0),
        ("[[3 for _ in range(2)] for _ in names][len(names) - 1]", 0),
        ("[3 for _ in range(0)]", 1),
        ("[3 for _ in range(len(names))]", 1),
        ("[each for each in range(2) if each in names]", 1),
    ],
)
def test_a_list_of_as_many_items_as_a_range_has_is_true(made: str, draws: int) -> None:
    program = f"import random\nfrom elsewhere import names\nsize = 3\nfound = {made} or random.random()\n"
    assert len(solved(program).draws("train.py")) == draws


@pytest.mark.parametrize("node", ["class Node(Base):\n    pass", "Node = Base"])
@pytest.mark.parametrize(("given", "states"), [("True", "seeded"), ("False", "unseeded")])
def test_a_node_of_a_configuration_has_the_fields_that_it_is_made_with(node: str, given: str, states: str) -> None:
    program = (
        f"import random\nfrom fvcore.common.config import CfgNode as Base\n{node}\n"
        f"config = Node()\nconfig.seed = Node({{'given': {given}}})\nother = Node()\nother.given = False\n"
        "if config.seed.given:\n    random.seed(1)\nrandom.random()\n"
    )
    (entry,) = solved(program).entries("train.py")
    assert {stream.state for stream in entry.streams if stream.generator == "python"} == {states}
