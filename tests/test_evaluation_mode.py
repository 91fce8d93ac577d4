"""Models that evaluate in training mode: across files, by other ways than a page shows, and how grave it is."""

from __future__ import annotations

from types import ModuleType

import pytest

from .promises import fixed
from .support import report

NET = """
import torch
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self, chance=0.5):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.drop = nn.Dropout(chance)

    def forward(self, x):
        return self.drop(self.linear(x))

    def encode(self, x):
        return self.drop(x)
"""
TRAIN = """
import argparse
import torch
from net import Net
from scores import validate

def train(model, loader, optimizer):
    {mode}
    for x in loader:
        model(x).sum().backward()
        optimizer.step()

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dropout", type=float, default={chance})
    args = parser.parse_args()
    {seed}
    model = Net(args.dropout)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        train(model, [torch.ones(4)], optimizer)
        {validate}
    torch.save(model.state_dict(), "net.pt")

if __name__ == "__main__":
    main()
"""
SCORES = """
import torch

def validate(model, loader):
    {mode}
    with torch.no_grad():
        return [model(x) for x in loader]
"""
VALIDATE = "print(validate(model, [torch.ones(4)]))"


def severities(
    validate: str = VALIDATE,
    *,
    seed: str = "torch.manual_seed(0)",
    chance: str = "0.5",
    mode: str = "model.train()",
    evaluating: str = "pass",
) -> list[str]:
    files = {
        "net.py": NET,
        "scores.py": SCORES.format(mode=evaluating),
        "train.py": TRAIN.format(validate=validate, seed=seed, chance=chance, mode=mode),
    }
    found = report(files, ("DET111",)).findings
    assert {judged.finding.place.path for judged in found} <= {"scores.py", "train.py"}
    return [judged.severity.value for judged in found]


@pytest.mark.parametrize(("seed", "severity"), [("torch.manual_seed(0)", "note"), ("pass", "warning")])
def test_it_is_a_warning_where_torch_is_not_seeded(seed: str, severity: str) -> None:
    assert severities(seed=seed) == [severity]


@pytest.mark.parametrize(
    "validate",
    [
        "model.eval(); print(validate(model, [torch.ones(4)]))",
        "model.train(False); print(validate(model, [torch.ones(4)]))",
        "model.train(mode=False); print(validate(model, [torch.ones(4)]))",
        "print(validate(model.eval(), [torch.ones(4)]))",
        "if args.dropout: model.eval()\n        print(validate(model, [torch.ones(4)]))",
        'torch.load("teacher.pt").eval(); print(validate(model, [torch.ones(4)]))',
    ],
)
def test_what_may_be_in_evaluation_is_silent(validate: str) -> None:
    assert severities(validate) == []


def test_what_evaluates_elsewhere_is_silent_and_training_again_ends_that() -> None:
    assert severities(evaluating="model.eval()") == []
    again = "model.eval(); validate(model, []); model.train(); print(validate(model, [torch.ones(4)]))"
    assert severities(again) == ["note"]
    other = "teacher = Net(); teacher.eval(); model.train(); print(validate(teacher, [torch.ones(4)]))"
    assert severities(other) == []


def test_a_chance_of_none_draws_nothing() -> None:
    assert severities(chance="0.0") == []


def test_a_method_of_a_model_is_one_too() -> None:
    assert (
        severities("for x in [torch.ones(4)]:\n            with torch.no_grad():\n                model.encode(x)")
        == []
    )
    over = "with torch.no_grad():\n            for x in [torch.ones(4)]:\n                valid = model.encode(x)"
    assert severities(over) == []
    assert severities("with torch.no_grad():\n            test = [model.encode(x) for x in args.test_set]") == ["note"]


IDLE = """
import torch
from net import Net

model = Net()
model.load_state_dict(torch.load("net.pt"))
{ahead}
with torch.no_grad():
    print(model(torch.ones(4)))
"""


def test_a_program_that_trains_nothing_evaluates_by_what_it_loads() -> None:
    for ahead, count in (("pass", 1), ("model.eval()", 0), ("model(torch.ones(4)).sum().backward()", 0)):
        files = {"net.py": NET, "use.py": IDLE.format(ahead=ahead)}
        assert len(report(files, ("DET111",)).findings) == count, ahead
    drawn = {"net.py": NET, "use.py": IDLE.format(ahead="").replace("torch.load", "dict").replace("load_state_", "")}
    assert report(drawn, ("DET111",)).findings == ()


FRAMEWORK = """
import torch
from transformers import Trainer
from net import Net

class Own(Trainer):
    def evaluate(self, loader):
        with torch.no_grad():
            return [net(x) for x in loader]

net = Net()
net(torch.ones(4)).sum().backward()
Own().evaluate([torch.ones(4)])
"""


def test_methods_that_a_framework_calls_are_left_alone() -> None:
    assert report({"net.py": NET, "own.py": FRAMEWORK}, ("DET111",)).findings == ()
    plain = FRAMEWORK.replace("class Own(Trainer)", "class Own")
    assert len(report({"net.py": NET, "own.py": plain}, ("DET111",)).findings) == 1


def test_the_fix_goes_around_what_evaluates_and_not_around_what_trains() -> None:
    epochs = """
torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    net(torch.ones(4)).sum().backward()
    optimizer.step()
    with torch.no_grad():
        for x in test_set:
            print(net(x))
"""
    (change,) = fixed("run.py", "run", NET + epochs).changes
    assert change.new == NET + epochs.replace("    with", "    net.eval()\n    with") + "    net.train()\n"


def test_the_fix_ends_before_what_is_returned() -> None:
    text = NET + SUMMED.replace(
        "    return [net(x).argmax() for x in batches]",
        "    with torch.no_grad():\n        for x in batches:\n            net(x).argmax()\n        return 1",
    )
    (change,) = fixed("run.py", "run", text).changes
    loop = "        for x in batches:\n            net(x).argmax()\n"
    assert change.new == text.replace(loop, f"        net.eval()\n{loop}        net.train()\n")


def test_recurrent_layers_drop_between_layers_alone(torch: ModuleType) -> None:
    ones = torch.ones(5, 1, 8)
    for kind in (torch.nn.RNN, torch.nn.LSTM, torch.nn.GRU):
        one, two = kind(8, 8, 1), kind(8, 8, 2, dropout=0.5)
        one.dropout = 0.5  # which a constructor warns of
        assert torch.equal(one(ones)[0], one(ones)[0])
        assert not torch.equal(two(ones)[0], two(ones)[0])


SUMMED = """
torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

def step(batches):
    loss = 0
    for x in batches:
        loss += net(x).sum()
    loss.backward()
    optimizer.step()

def evaluate(batches):
    return [net(x).argmax() for x in batches]

step([torch.ones(4)])
evaluate([torch.ones(4)])
"""


def test_a_loss_that_begins_as_a_number_trains() -> None:
    (found,) = report({"sum.py": NET + SUMMED}, ("DET111",)).findings
    assert found.severity.value == "note"
    assert report({"sum.py": (NET + SUMMED).replace("loss.backward()", "loss")}, ("DET111",)).findings == ()


GRAPHS = """
import torch
from torch_geometric.nn import GATConv

torch.manual_seed(0)
model = GATConv(8, 8, dropout=0.6)

def evaluate(loader):
    return [model(data).argmax() for data in loader]

model(torch.ones(4)).sum().backward()
evaluate([1])
"""


def test_layers_of_a_library_drop_as_its_row_says() -> None:
    assert len(report({"graphs.py": GRAPHS}, ("DET111",)).findings) == 1
    assert report({"graphs.py": GRAPHS.replace(", dropout=0.6", "")}, ("DET111",)).findings == ()
