"""Findings in branches that no program takes with its options at their defaults are notes."""

from __future__ import annotations

import pytest

from .support import report

TRAIN = """
import argparse

import torch
from data import Pictures

parser = argparse.ArgumentParser()
parser.add_argument("--prior", action="store_true")
parser.add_argument("--root", default="prior")
parser.add_argument("--kind", default="flat")
args = parser.parse_args()
torch.manual_seed(0)
print(Pictures({})[3])
"""
DATA = """
from pathlib import Path

from torch.utils.data import Dataset


class Pictures(Dataset):
    def __init__(self, prior, kind="flat"):
        self.files = []
        if {}:
            self.files = list(Path(prior).iterdir())

    def __getitem__(self, index):
        return self.files[index]
"""
POOL = """
import argparse

import torch
from torch import nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--resize", action="store_true")
args = parser.parse_args()


class Net(nn.Module):
    def __init__(self, resize):
        super().__init__()
        self.layer = nn.Conv2d(3, 3, 1)
        self.resize = resize

    def forward(self, x):
        x = self.layer(x)
        if self.resize:
            x = F.interpolate(x, size=(7, 9), mode="bilinear")
        return x


torch.manual_seed(0)
net = Net({}).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(1, 3, 4, 4, device="cuda")).sum().backward()
optimizer.step()
"""


def severities(code: str, **files: str) -> list[str]:
    """The severities of a rule's findings in files that are given by name."""
    found = report({f"{name}.py": text for name, text in files.items()}, (code,)).findings
    return [judged.severity.value for judged in found]


@pytest.mark.parametrize(
    ("given", "test", "severity"),
    [
        ("args.root if args.prior else None", "prior is not None", "note"),
        ("None", "prior is not None", "note"),
        ("args.root", "prior is not None", "warning"),
        ("args.root", "len(prior) > 3", "warning"),
        ("args.root, args.kind", "kind == 'nested'", "warning"),  # chosen by a name
        ("args.root", "kind == 'nested'", "note"),  # by a name that no program gives
        ("args.root, 'nested'", "kind == 'nested'", "warning"),
    ],
)
def test_a_listing_in_a_branch(given: str, test: str, severity: str) -> None:
    files = {"train": TRAIN.format(given), "data": DATA.format(test)}
    assert severities("DET602", **files) == [severity]


def test_a_function_that_no_program_comes_to_keeps_its_severity() -> None:
    data = DATA.format("prior is not None") + "\n\ndef cut(root, more=None):\n    if more:\n        "
    listing = "return [each for each in list(Path(root).iterdir())[:5]]\n"
    train = TRAIN.format("None")
    assert severities("DET602", train=train, data=data + listing) == ["note", "warning"]


@pytest.mark.parametrize(("given", "severity"), [("args.resize", "note"), ("True", "warning"), ("False", "note")])
def test_a_gradient_in_a_branch(given: str, severity: str) -> None:
    assert severities("DET302", run=POOL.format(given)) == [severity]


CALLED = """
import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, {0}):
        super().__init__()
        self.layer = nn.Conv2d(3, 3, 1)
        self.mode, self.size = mode, size

    def forward(self, x):
        x = self.layer(x)
        if {1}:
            x = F.interpolate(x, size=(7, 9), mode="bilinear")
        return x


torch.manual_seed(0)
net = Net().cuda()
net(torch.ones(1, 3, 4, 4, device="cuda")).sum().backward()
torch.optim.SGD(net.parameters(), lr=0.1).step()
"""


@pytest.mark.parametrize(
    ("test", "severity"),
    [
        ("self.size", "note"),
        ("self.mode == 'nested'", "note"),
        ("self.mode == 'flat'", "warning"),
        ("getattr(self, 'size')", "note"),
    ],
)
def test_a_branch_by_the_default_of_a_parameter(test: str, severity: str) -> None:
    assert severities("DET302", run=CALLED.format("mode='flat', size=None", test)) == [severity]


LOADERS = """
import torch
from torch.utils.data import DataLoader


def build(data):
    return DataLoader(data, batch_size=2, shuffle=True)


if __name__ == "__main__":
    for batch in build(torch.arange(8)):
        print(batch)
"""
TRAINING = """
import torch
from loaders import build

{}
net = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for batch in build(torch.arange(8)):
    net(batch.float()[:, None]).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("seed", "severity"), [("torch.manual_seed(0)", "note"), ("", "warning")])
def test_what_only_tries_out_a_file_says_nothing_of_a_program(seed: str, severity: str) -> None:
    assert severities("DET201", loaders=LOADERS, train=TRAINING.format(seed)) == [severity]


def test_without_a_program_what_tries_out_a_file_counts() -> None:
    assert severities("DET201", loaders=LOADERS) == ["warning"]
