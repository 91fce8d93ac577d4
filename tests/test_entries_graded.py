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
