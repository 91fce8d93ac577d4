"""What libraries do with what programs give them, as the interpreter of values tells it."""

from __future__ import annotations

import pytest

from tests.solved import solved

WORDS = ("seeded", "unseeded", "reseeded", "unsure")


def test_a_folder_of_scripts_has_what_the_library_of_its_name_has() -> None:
    script = "import numpy as np\nfrom numpy import random\n\nnp.random.rand()\nrandom.rand()\nnp.beside.draw()\n"
    beside = "import random\n\n\ndef draw():\n    return random.random()\n"
    found = solved({"runs/numpy/train.py": script, "runs/numpy/beside.py": beside}, started={"runs/numpy/train.py"})
    draws = [(stream, line) for stream, _, line, _, _ in found.draws("runs/numpy/train.py", *WORDS)]
    assert draws == [("numpy", 4), ("numpy", 5), ("python", 5)]


STEPS = """
import random
import torch
from torchvision import transforms

class Turn:
    def __call__(self, image):
        return random.random()

class Blur:
    def __call__(self, image):
        return random.gauss(0, 1)

class Crop:
    def __call__(self, image):
        return random.randint(0, 1)

def turn():
    return Turn()

{steps}
whole(0)
"""
"""Steps that are given in another order than that of their names."""


@pytest.mark.parametrize(
    "steps",
    [
        "whole = transforms.Compose([turn(), Blur(), Crop()])",
        "steps = [turn(), Blur()]\nsteps += [Crop()]\nwhole = transforms.Compose(steps)",
        "steps = [turn(), Blur()]\nsteps.append(Crop())\nwhole = transforms.Compose(steps)",
        "steps = []\nsteps.append(Turn())\nsteps.append(Blur())\nsteps.append(Crop())\nwhole = transforms.Compose(steps)",
        "whole = transforms.Compose((turn(), Blur(), Crop()))",
        "whole = transforms.Compose([transforms.Compose([turn()]), Blur(), Crop()])",
        "whole = torch.nn.Sequential(turn(), Blur(), Crop())",
    ],
)
def test_what_is_called_in_turn_is_called_in_the_order_in_which_it_was_given(steps: str) -> None:
    found = solved({"main.py": STEPS.format(steps=steps)}).draws("main.py", *WORDS)
    assert [line for _, _, line, _, _ in found] == [8, 12, 16]


MODULE = """
import random
import torch
import pytorch_lightning as pl
from elsewhere import Base

class Model({base}):
    def __init__(self):
        super().__init__()
        self.register_buffer("bank", torch.zeros(1))
        self.reset()

    def reset(self):
        self.bank = torch.zeros(1).type_as(self.bank)

    def forward(self, x):
        return random.random()

    def use(self):
        return taken(self.bank)

def taken(x):
    return random.gauss(0, 1)

model = Model()
"""
"""A class of modules, which keeps a buffer that it makes anew of what it was."""


@pytest.mark.parametrize("base", ["torch.nn.Module", "pl.LightningModule", "torch.nn.LSTM", "torch.nn.Sequential"])
def test_what_derives_from_modules_is_called_by_its_own_forward(base: str) -> None:
    found = solved({"main.py": MODULE.format(base=base) + "model(0)\n"}).draws("main.py", *WORDS)
    assert [line for stream, _, line, _, _ in found if stream == "python"] == [17]


def test_what_derives_from_what_is_not_known_is_called_by_its_own_forward() -> None:
    found = solved({"main.py": MODULE.format(base="Base") + "model(0)\n"}).draws("main.py", *WORDS)
    assert [line for _, _, line, _, _ in found] == [17]


@pytest.mark.parametrize("base", ["torch.nn.Module", "pl.LightningModule", "torch.nn.LSTM"])
def test_a_buffer_is_an_attribute_of_its_module(base: str) -> None:
    found = solved({"main.py": MODULE.format(base=base) + "model.use()\n"}).draws("main.py", *WORDS)
    assert [line for stream, _, line, _, _ in found if stream == "python"] == [23]


@pytest.mark.parametrize(("use", "lines"), [("len(loader)", []), ("list(loader)", [6]), ("for x in loader: pass", [6])])
def test_asking_for_a_length_goes_over_nothing(use: str, lines: list[int]) -> None:
    text = f"""
import torch
from torch.utils.data import DataLoader

loader = DataLoader([1, 2], shuffle=True)
{use}
"""
    found = solved({"main.py": text}).draws("main.py", *WORDS)
    assert sorted({line for _, _, line, _, _ in found}) == lines


def test_a_special_method_of_a_library_is_one_of_what_a_call_may_do() -> None:
    text = """
import random
from torchvision import datasets

class Turn:
    def __call__(self, image):
        return random.random()

class Own:
    def __getitem__(self, index):
        return random.gauss(0, 1)

class Whole:
    def __init__(self, inner):
        self.inner = inner

    def __getitem__(self, index):
        return self.inner.__getitem__(index)

Whole(Own() if unknown else datasets.ImageFolder("root", transform=Turn()))[0]
"""
    found = solved({"main.py": text}).draws("main.py", *WORDS)
    assert sorted(line for _, _, line, _, _ in found) == [7, 11]


def test_a_trainer_goes_through_its_loaders_before_it_hands_out_batches() -> None:
    text = """
import random
import pytorch_lightning as pl
from torch.utils.data import DataLoader, Dataset

class Items(Dataset):
    def __getitem__(self, index):
        return random.random()

class Model(pl.LightningModule):
    def on_train_start(self):
        random.randint(0, 1)

    def training_step(self, batch, index):
        random.gauss(0, 1)

pl.Trainer().fit(Model(), DataLoader(Items()))
"""
    found = solved({"main.py": text}).draws("main.py", *WORDS)
    assert [line for stream, _, line, _, _ in found if stream == "python"] == [12, 8, 15]


@pytest.mark.parametrize(
    ("number", "words"),
    [("args.workers or os.cpu_count()", ["unsure"]), ("args.workers or 4", ["seeded"]), ("args.workers", ["unseeded"])],
)
def test_a_loader_with_workers_of_no_known_number_is_not_told_to_have_none(number: str, words: list[str]) -> None:
    text = f"""
import argparse, os
import numpy as np
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=0)
args = parser.parse_args()

class Items(Dataset):
    def __getitem__(self, index):
        return np.random.rand()

list(DataLoader(Items(), num_workers={number}))
"""
    found = solved({"main.py": text}).draws("main.py", *WORDS)
    by_default = {word for stream, _, _, word, terms in found if stream == "numpy" and not any(s for _, s in terms)}
    assert sorted(by_default) == words


@pytest.mark.parametrize(
    ("asked", "words"), [("'seed' in config.keys()", ["seeded"]), ("'other' in config.keys()", ["unseeded"])]
)
def test_the_keys_of_a_document_tell_what_it_surely_has(asked: str, words: list[str]) -> None:
    text = f"""
import random, yaml

config = yaml.safe_load(open("config.yaml"))
if {asked}:
    random.seed(0)
random.random()
"""
    found = solved({"main.py": text, "config.yaml": "seed: 1\n"}).draws("main.py", *WORDS)
    assert [word for *_, word, _ in found] == words


@pytest.mark.parametrize("folder", ["", "/home/ada/"])
@pytest.mark.parametrize(
    "at", ['Path(__file__).parent / "x.yaml"', 'os.path.join(os.path.dirname(__file__), "x.yaml")']
)
def test_a_file_sees_what_lies_beside_it_wherever_it_lies(folder: str, at: str) -> None:
    program = f"import os, random, yaml\nfrom pathlib import Path\nseed = yaml.safe_load(open({at}))['seed']\n"
    program += "if seed is not None:\n    random.seed(seed)\nrandom.random()\n"
    files = {f"{folder}train.py": program, f"{folder}x.yaml": "seed: 3"}
    assert [word for _, _, _, word, _ in solved(files).draws(f"{folder}train.py", *WORDS)] == ["seeded"]


LISTED = """
import argparse, random
from dataclasses import dataclass, field, fields

@dataclass
class Base:
    noisy: bool = {default}

@dataclass
class Config(Base):
    sizes: list = field(default_factory=list)

{what}
if noisy:
    random.random()
random.seed(0)
"""
BY_OPTIONS = """
parser = argparse.ArgumentParser()
for each in fields({of}):
    parser.add_argument(f"--{{each.name}}", default=each.default)
noisy = parser.parse_args().noisy
"""


@pytest.mark.parametrize("default", [True, False])
@pytest.mark.parametrize(
    "what",
    [
        BY_OPTIONS.format(of="Config"),
        BY_OPTIONS.format(of="Config()"),
        "noisy = {each.name: each.default for each in fields(Config)}['noisy']",
    ],
)
def test_the_fields_of_a_class_are_listed_with_those_of_its_bases(what: str, default: bool) -> None:
    found = solved(LISTED.format(default=default, what=what)).draws("train.py", "unseeded")
    assert any(not any(set_ for _, set_ in terms) for *_, terms in found) is default


KEPT = """
import inspect, itertools, random

class Trainer:
    def __init__(self, seed=None, epochs=1):
        if seed is not None:
            random.seed(seed)

options = {{"rate": 0.1, "seed": {seed}, "epochs": 3}}
{kept}
Trainer(**kept)
random.random()
"""


@pytest.mark.parametrize(("seed", "word"), [("1", "seeded"), ("None", "unseeded")])
@pytest.mark.parametrize(
    "kept",
    [
        "kept = dict(itertools.chain({'epochs': 2}.items(), [('seed', options['seed'])]))",
        "kept = {n: options[n] for n in set(inspect.signature(Trainer).parameters) if n in options}",
        "kept = {n: options[n] for n in {'seed', 'epochs'}}",
        "kept = {}\nfor n in set(['seed', 'epochs']):\n    kept[n] = options[n]",
    ],
)
def test_what_is_gone_through_in_a_row_or_as_a_set_keeps_its_keys(kept: str, seed: str, word: str) -> None:
    found = solved(KEPT.format(kept=kept, seed=seed)).draws("train.py", "seeded", "unseeded", "unsure")
    assert [each for _, _, _, each, _ in found] == [word]


@pytest.mark.parametrize(("functions", "in_turn"), [("[seed, draw]", True), ("{seed, draw}", False)])
def test_functions_of_a_set_are_called_in_no_order(functions: str, in_turn: bool) -> None:
    text = "import random\ndef seed():\n    random.seed(0)\ndef draw():\n    random.random()\n"
    text += f"for each in {functions}:\n    each()\n"
    words = [word for _, _, _, word, _ in solved(text).draws("train.py", *WORDS)]
    assert (words == ["seeded"]) is in_turn


@pytest.mark.parametrize(
    ("line", "drawn"),
    [
        ("y.register_hook(noise)", False),
        ("y.register_hook(noise)\ny.sum().backward()", True),
        ("y.registered(noise)", True),
    ],
)
def test_a_hook_of_what_may_be_a_tensor_is_called_on_the_way_back_alone(line: str, drawn: bool) -> None:
    text = f"import random, torch\ndef noise(x):\n    random.random()\ny = torch.ones(1)\n{line}\n"
    assert bool(solved(text).draws("train.py", "unseeded", "unsure")) is drawn


@pytest.mark.parametrize(
    ("parameter", "word"),
    [("name: str", "reseeded"), ("name: bytes", "reseeded"), ("name: int", "seeded"), ("name", "seeded")],
)
def test_the_hash_of_a_parameter_that_is_annotated_as_a_text_is_salted(parameter: str, word: str) -> None:
    text = f"import random, sys\ndef seed({parameter}):\n    random.seed(hash(name))\nseed(sys.stdin.read())\nrandom.random()\n"
    assert [each for _, _, _, each, _ in solved(text).draws("train.py", *WORDS)] == [word]


@pytest.mark.parametrize(
    ("option", "word"),
    [
        ('"--name"', "unsure"),
        ('"--name", type=str', "unsure"),
        ('"--name", type=int', "seeded"),
        ('"--name", action="store_true"', "seeded"),
    ],
)
def test_the_hash_of_an_option_is_salted_where_the_user_gives_a_text(option: str, word: str) -> None:
    text = f"""
import argparse, random

parser = argparse.ArgumentParser()
parser.add_argument({option})
random.seed(hash(parser.parse_args().name))
random.random()
"""
    assert [each for _, _, _, each, _ in solved(text).draws("train.py", *WORDS)] == [word]


@pytest.mark.parametrize(
    ("made", "replaced", "draws"),
    [
        ("nn.Linear(2, 2, bias=False)", ["weight = nn.Parameter(torch.ones(2, 2))"], False),
        ("nn.Linear(2, 2)", ["bias = nn.Parameter(torch.zeros(2))", "weight = nn.Parameter(torch.ones(2, 2))"], False),
        ("nn.Linear(2, 2)", ["weight = nn.Parameter(torch.ones(2, 2))"], True),
        ("nn.Linear(2, 2, bias=False)", ["weight = layer.weight"], True),
        ("nn.Embedding(4, 8)", ["weight = nn.Parameter(torch.ones(4, 8))"], False),
        ("nn.Embedding(4, 8)", ["note = 3", "more()", "weight = nn.Parameter(torch.ones(4, 8))"], True),
    ],
)
@pytest.mark.parametrize("around", ["", "def main():\n"])
def test_layers_draw_nothing_whose_weights_are_replaced_at_once(
    made: str, replaced: list[str], draws: bool, around: str
) -> None:
    lines = [f"layer = {made}", *(each if "(" in each[:7] else f"layer.{each}" for each in replaced)]
    body = "".join(f"{'    ' if around else ''}{line}\n" for line in lines)
    text = (
        f"import torch\nfrom torch import nn\nfrom elsewhere import more\n{around}{body}{'main()' if around else ''}\n"
    )
    assert bool(solved({"main.py": text}).draws("main.py")) == draws
