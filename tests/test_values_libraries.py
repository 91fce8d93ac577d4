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
