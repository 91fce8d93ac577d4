"""What calls change is so from there on, and not before: in what is given, in what is recorded, in what is kept."""

from __future__ import annotations

import pytest

from tests.solved import solved


def told(text: str, **documents: str) -> tuple[str, str]:
    """The state of Python's generator in a program that may read documents, and the option that it hangs on."""
    files = {f"{name}.yaml": held for name, held in documents.items()}
    (entry,) = solved({"train.py": text, **files}).entries("train.py")
    stream = next(each for each in entry.streams if each.generator == "python")
    return stream.state, stream.optional.option if stream.optional is not None else ""


PARSER = """
import argparse, json, random

def fill(parser):
    parser.set_defaults(seed=3)

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int)
parser.add_argument("--fixed", action="store_true")
early = parser.parse_args()
{}
args = parser.parse_args()
if {}.seed is not None:
    random.seed(1)
random.random()
"""


@pytest.mark.parametrize(
    ("gives", "namespace", "state"),
    [
        ("parser.set_defaults(seed=3)", "args", "seeded"),
        ("parser.set_defaults(**{'seed': 3})", "args", "seeded"),
        ("fill(parser)", "args", "seeded"),
        ("parser.set_defaults(fixed=True)", "args", "optional"),
        ("parser.set_defaults(seed=3)", "early", "optional"),
        ("if early.fixed:\n    parser.set_defaults(seed=3)", "args", "optional"),
        ("parser.set_defaults(seed=3)\nparser.set_defaults(seed=None)", "args", "optional"),
        ("parser.set_defaults(seed=3)\nparser.add_argument('--seed', default=4)", "args", "seeded"),
    ],
)
def test_defaults_that_a_parser_is_given_take_the_place_of_those_before(gives: str, namespace: str, state: str) -> None:
    assert told(PARSER.format(gives, namespace))[0] == state


NODES = """
import random
from yacs.config import CfgNode
c = CfgNode()
c.seed = 3
c.train = CfgNode()
c.train.seed = 3
{}
c.merge_from_file("x.yaml")
{}
if c.train.seed is not None:
    random.seed(1)
random.random()
"""


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", ("optional", "train.seed of x.yaml")),
        ("", "c.train.seed = 4", ("seeded", "")),
        ("c.train.seed = 4", "", ("optional", "train.seed of x.yaml")),
    ],
)
def test_what_a_file_says_takes_the_place_of_what_a_configuration_had(
    before: str, after: str, expected: tuple[str, str]
) -> None:
    assert told(NODES.format(before, after), x="{seed: null, train: {seed: null}}") == expected


STORED = """
import random
class Settings:
    {}
def fill(settings):
    {}
settings = {}
fill(settings)
if settings.seed is not None:
    random.seed(1)
random.random()
"""


@pytest.mark.parametrize(
    ("body", "stores", "made", "state"),
    [
        ("pass", "settings.seed = None", "Settings()", "unseeded"),
        ("pass", "settings.seed = 3", "Settings()", "seeded"),
        ("pass", "for name in HELD: setattr(settings, name, HELD[name])", "Settings()", "unseeded"),
        ("pass", "helper(Settings).seed = None", "Settings()", "optional"),
        ("pass", "helper(Settings).seed = None", "helper(Settings)", "optional"),
        ("def __getattr__(self, name): return 3", "helper(settings).seed = None", "Settings()", "seeded"),
    ],
)
def test_an_attribute_that_others_store_is_what_they_store_if_that_is_known(
    body: str, stores: str, made: str, state: str
) -> None:
    text = f"from elsewhere import helper\nHELD = {{'seed': None, 'size': 3}}{STORED.format(body, stores, made)}"
    assert told(text)[0] == state


@pytest.mark.parametrize(("asked", "option"), [("config", "seed"), ("other", "")])
def test_a_configuration_is_found_that_is_kept_under_a_name_that_a_function_is_given(asked: str, option: str) -> None:
    text = (
        "import random\nfrom dataclasses import dataclass\nfrom hydra import compose\n"
        "from hydra.core.config_store import ConfigStore\n@dataclass\nclass Config:\n    seed: int = None\n"
        "def keep(name='config'):\n    ConfigStore.instance().store(name=f'{name}', node=Config)\nkeep()\n"
        f"config = compose('{asked}')\nif config.seed is not None:\n    random.seed(1)\nrandom.random()\n"
    )
    assert told(text) == ("optional", option)


RECORDED = """
import random, torch
class Add(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x
    @staticmethod
    def backward(ctx, grad):
        random.random()
        return grad
def back(x):
    x.sum().backward()
def hook(grad):
    random.random()
x = torch.ones(3, requires_grad=True)
{}
"""


@pytest.mark.parametrize(
    ("uses", "state"),
    [
        ("back(Add.apply(x))", "unseeded"),
        ("back(x)\nAdd.apply(x)", "none"),
        ("Add.apply(x)\nback(x)", "unseeded"),
        ("random.seed(1)\nback(x)\ny = Add.apply(x)\nback(y)", "seeded"),
        ("x.register_hook(hook)\nback(x)", "unseeded"),
        ("back(x)\nx.register_hook(hook)", "none"),
        ("for _ in range(3):\n    back(x)\n    x = Add.apply(x)", "unseeded"),
        ("if open('x').read():\n    x = Add.apply(x)\nback(x)", "unseeded"),
    ],
)
def test_a_way_back_calls_what_was_recorded_before_it(uses: str, state: str) -> None:
    assert told(RECORDED.format(uses))[0] == state


LISTED = """
import os, random
{}
def run():
    if names:
        random.seed(1)
    random.random()
run()
"""


@pytest.mark.parametrize(
    ("fills", "state"),
    [
        ("names = []", "optional"),
        ("names = []\nnames.append(3)", "seeded"),
        ("names = others = []\nothers.append(3)", "seeded"),
        ("names = []\nfor _ in os.listdir():\n    names.append(3)", "optional"),
        ("names = []\nif os.getcwd():\n    names.append(3)\nelse:\n    names.insert(0, 4)", "seeded"),
        ("names = []\nif os.getcwd():\n    names.append(3)", "optional"),
        ("names = []\nnames.append(3)\nnames.pop()", "optional"),
        ("names = []\nnames.extend(os.listdir())", "optional"),
        ("names = []\ndef fill():\n    names.append(3)\nfill()", "optional"),
        ("def fill():\n    made = []\n    made.append(3)\n    return made\nnames = fill()", "seeded"),
    ],
)
def test_a_list_is_true_that_got_an_item_before_others_saw_it(fills: str, state: str) -> None:
    assert told(LISTED.format(fills))[0] == state


AROUND = """
import random
def keep(function):
    return lambda: function()
def main():
    seed = {}
    def run():
        if seed is not None:
            random.seed(seed)
        random.random()
    {}
main()
"""


@pytest.mark.parametrize(
    ("first", "then", "state"),
    [
        ("None", "seed = 3; run(); seed = None", "seeded"),
        ("3", "seed = None; run(); seed = 3", "unseeded"),
        ("None", "run(); seed = 3", "unseeded"),
        ("None", "seed = 3; again = run; again()", "seeded"),
        ("None", "run(); seed = 3; run()", "optional"),
        ("None", "seed = 3; run(); keep(run)(); seed = None", "optional"),
        ("None", "seed = 3\n    def inner():\n        run()\n    inner(); seed = None", "optional"),
        ("None", "def change():\n        nonlocal seed\n        seed = 3\n    change(); run()", "optional"),
    ],
)
def test_a_function_reads_variables_around_it_as_they_are_where_it_is_called(first: str, then: str, state: str) -> None:
    assert told(AROUND.format(first, then))[0] == state


def test_what_is_surely_entropy_is_so_in_a_function_within() -> None:
    text = "import random, time\ndef main():\n    seed = time.time()\n    def run():\n        random.seed(seed)\n    run()\n"
    (entry,) = solved(f"{text}main()\nrandom.random()\n").entries("train.py")
    assert [seed.event.entropy for each in entry.streams for seed in each.seeds] == [True]
