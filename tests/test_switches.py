"""What decides how grave it is that a switch for determinism is off, or does not exist: what the programs train."""

from __future__ import annotations

import pytest

from detlint import catalogue, engine
from detlint.analyse import Source
from detlint.config import Config

PROGRAM = """
import torch
from torch import nn

def seed_everything(seed):
    {seed}
    {switch}

def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for batch in batches:
        model(batch).mean().backward()
        optimizer.step()

if __name__ == "__main__":
    seed_everything(0)
    {more}
    train({model}, [torch.zeros(4, 3, 32, 32)])
"""
USUAL = {"seed": "torch.manual_seed(seed)", "more": "pass", "model": "nn.Conv2d(3, 8, 3)"}


def found(*sources: Source) -> list[tuple[str, str]]:
    chosen = Config(select=("DET501", "DET502", "DET508"))
    report = engine.check_sources(sources, chosen, catalogue.load().newest_release())
    return [(each.finding.code, each.severity.value) for each in report.findings]


def of(text: str) -> list[tuple[str, str]]:
    return found(Source("train.py", "train", text))


@pytest.mark.parametrize(
    "code, switch",
    [
        ("DET502", "torch.backends.cudnn.deterministic = False"),
        ("DET502", "torch.backends.cudnn.set_flags(_deterministic=False)"),
        ("DET508", "torch.backends.deterministic = True"),
        ("DET508", "torch.use_deterministic_algorithms = True"),
    ],
)
def test_it_is_graver_where_a_seeded_program_trains_convolutions(code: str, switch: str) -> None:
    def told(**changes: str) -> list[tuple[str, str]]:
        return of(PROGRAM.format(**{**USUAL, "switch": switch, **changes}))

    assert told() == [(code, "warning")]
    assert told(model="nn.Linear(32, 8)") == [(code, "note")]
    assert told(seed="pass") == [(code, "note")]
    assert told(seed="torch.seed()") == [(code, "note")]
    assert all(severity == "note" for _, severity in told(more="torch.use_deterministic_algorithms(True)"))


def test_a_model_of_a_library_may_be_made_of_convolutions() -> None:
    text = PROGRAM.format(**{**USUAL, "switch": "torch.backends.cudnn.deterministic = False"})
    text = text.replace("from torch import nn", "from torchvision import models")
    assert of(text.replace("nn.Conv2d(3, 8, 3)", "models.resnet18(pretrained=True)")) == [("DET502", "warning")]


def test_a_library_is_told_by_what_its_function_does() -> None:
    helper = """
import torch

def seed_everything(seed):
    torch.manual_seed(seed)
    torch.backends.cudnn.deterministic = False
"""

    def told(text: str) -> list[tuple[str, str]]:
        return found(Source("lib/__init__.py", "lib", ""), Source("lib/seeds.py", "lib.seeds", text))

    assert told(helper) == [("DET502", "warning")]
    assert told(helper.replace("torch.manual_seed(seed)", "pass")) == [("DET502", "note")]


CHOICE = """
import argparse

import torch.backends.cudnn as cudnn

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--exact", default={exact})
    args = parser.parse_args()
    if args.exact is None:
        cudnn.benchmark = True
    else:
        cudnn.benchmark = False
"""


def test_a_choice_counts_as_it_is_made_by_default() -> None:
    assert of(CHOICE.format(exact=None)) == [("DET501", "warning")]
    assert of(CHOICE.format(exact="input()")) == [("DET501", "note")]
    assert of(CHOICE.format(exact=1)) == []


def test_a_switch_that_is_put_back_is_not_known() -> None:
    read = "import torch\n\nbefore = torch.backends.cudnn.benchmark\ntorch.backends.cudnn.benchmark = False\n"
    assert of(read + "torch.rand(3)\ntorch.backends.cudnn.benchmark = before\n") == []


_TRAINS = """
optimizer = torch.optim.SGD(model.parameters(), 0.1)
model(torch.load("batch.pt")).sum().backward()
optimizer.step()
"""


@pytest.mark.parametrize(
    ("made", "severity"),
    [
        ("model = torch.nn.Linear(2, 2)", "note"),
        ("model = torch.nn.Conv2d(2, 2, 1)", "warning"),
        ("model = torch.hub.load('some/where', 'net')", "warning"),
        ("import clip\nmodel = clip.load('ViT-B/32')", "warning"),
        ("from nets import Net\nmodel = Net()", "warning"),
    ],
)
def test_timing_matters_where_a_program_may_convolve(made: str, severity: str) -> None:
    net = "import torch\n\nclass Net(torch.nn.Module):\n    layer = torch.nn.Conv1d(2, 2, 1)\n"
    text = f"import torch\n\ntorch.backends.cudnn.benchmark = True\ntorch.manual_seed(0)\n{made}\n{_TRAINS}"
    assert found(Source("train.py", "train", text), Source("nets.py", "nets", net)) == [("DET501", severity)]
