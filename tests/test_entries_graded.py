"""What a program draws for nothing, or only where an option is changed, is a note."""

from __future__ import annotations

import pytest

from .support import report

POOLING = """
import argparse
import random

parser = argparse.ArgumentParser()
parser.add_argument("--pooling", choices=["mean", "sample"], {})
args = parser.parse_args()
values = [float(line) for line in open("values.txt")]
print(sum(values) if args.pooling == "mean" else random.choice(values))
"""
PROFILE = """
import torch
from torch import nn
{}

net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
{}
print({})
"""
COUNTED = ("from thop import profile", "pass", "profile(net, inputs=(torch.randn(1, 4),))")
MODE = ("from torch.utils.flop_counter import FlopCounterMode", "counter = FlopCounterMode()", "counter")
TRAINED = (
    COUNTED[0],
    "net(torch.ones(1, 4)).sum().backward()\ntorch.optim.SGD(net.parameters(), 0.1).step()",
    COUNTED[2],
)


def severities(text: str) -> list[str]:
    """The severities of findings on generators without a seed."""
    return [judged.severity.value for judged in report({"run.py": text}, ("DET101", "DET103")).findings]


@pytest.mark.parametrize(
    ("default", "severity"),
    [('default="mean"', "note"), ('default="sample"', "error"), ("required=True", "error")],
)
def test_a_draw_that_only_an_option_brings_is_a_note(default: str, severity: str) -> None:
    assert severities(POOLING.format(default)) == [severity]


@pytest.mark.parametrize(
    ("parts", "severity"),
    [(COUNTED, "note"), (MODE, "note"), (TRAINED, "error"), (("", "pass", "net(torch.ones(1, 4))"), "error")],
)
def test_weights_of_which_only_the_operations_are_counted_are_a_note(parts: tuple[str, ...], severity: str) -> None:
    assert severities(PROFILE.format(*parts)) == [severity]


MODES = """
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--mode", {})
parser.add_argument("--seed", type=int, default={})
args = parser.parse_args()
net = None
if args.mode == "train":
    if args.seed is not None:
        torch.manual_seed(args.seed)
    net = nn.Linear(3, 3)
    net(torch.ones(3)).sum().backward()
    torch.optim.SGD(net.parameters(), 0.1).step()
{}
"""


@pytest.mark.parametrize("default", ["default=None", 'default="test"', 'choices=["train", "test"], default="train"'])
@pytest.mark.parametrize(("seed", "found"), [("None", ["error"]), ("3", [])])
def test_a_program_that_trains_only_with_an_option_is_told_by_what_it_trains(
    default: str, seed: str, found: list[str]
) -> None:
    assert severities(MODES.format(default, seed, "")) == found


def test_what_an_option_adds_to_a_program_that_trains_anyway_is_a_note() -> None:
    trains = "other = torch.ones(3, requires_grad=True)\nother.sum().backward()\ntorch.optim.SGD([other], 0.1).step()"
    assert severities(MODES.format("default=None", "None", trains)) == ["note"]
