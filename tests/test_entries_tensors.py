"""`detlint entries`: draws into what tensors and layers hold, contexts in which nothing is drawn, classes told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import told

SEED = "torch.manual_seed(0)\ntorch.rand(3)"


def drawn(folder: Path, program: str) -> str:
    """The state of torch's generator in a program that seeds in the end and draws again."""
    found = told(folder, f"import torch\nfrom torch import nn\n{program}\n{SEED}\n")
    state: str = found["generators"]["torch"]["state"]
    return state


@pytest.mark.parametrize(
    "program",
    [
        "weight = torch.Tensor(3, 3)\nweight.data.uniform_(-1, 1)",
        "weight = nn.Parameter(torch.empty(3))\nweight.data.normal_()",
        "weight = nn.Parameter(torch.empty(3))\nnn.init.zeros_(weight)\nweight.data[0].normal_()",
        "weight = torch.zeros(3, requires_grad=True)\nweight.grad.data.uniform_()",
        "norm = nn.BatchNorm2d(3)\nnorm.weight.data.normal_()",
        "norm = nn.BatchNorm2d(3)\nnorm.bias.data.uniform_()",
    ],
)
def test_what_a_tensor_holds_is_drawn_into(tmp_path: Path, program: str) -> None:
    assert drawn(tmp_path, program) == "late"


@pytest.mark.parametrize(
    "program",
    ["weight = torch.zeros(3)\nweight.data.fill_(1)", "norm = nn.BatchNorm2d(3)\nnorm.weight.data.zero_()"],
)
def test_what_a_tensor_holds_is_filled(tmp_path: Path, program: str) -> None:
    assert drawn(tmp_path, program) == "seeded"


LATER = """
class Inner:
    def go(self):
        return torch.rand(3)


class Outer:
    def __init__(self):
        self.inner = None

    def go(self):
        return self.inner.go()


outer = Outer()
outer.inner = Inner()
outer.go()
"""


def test_what_is_none_at_first_is_called_once_it_is_given(tmp_path: Path) -> None:
    assert drawn(tmp_path, LATER) == "late"


CONTEXT = """
import argparse
from contextlib import nullcontext

parser = argparse.ArgumentParser()
parser.add_argument("--low", action="store_true")
args = parser.parse_args()
with {}:
    nn.Linear(3, 3)
"""


@pytest.mark.parametrize(
    ("context", "state"),
    [
        ("torch.device('meta')", "seeded"),
        ("torch.device('meta') if args.low else nullcontext()", "late"),
        ("torch.device('meta') if args.low else torch.device('cpu')", "late"),
        ("nullcontext()", "late"),
    ],
)
def test_nothing_is_drawn_where_all_contexts_say_so(tmp_path: Path, context: str, state: str) -> None:
    assert drawn(tmp_path, CONTEXT.format(context)) == state


KINDS = """
class Plain(nn.Module):
    def forward(self, x):
        return x


class Other(nn.Module):
    def forward(self, x):
        return torch.rand(3)


class Derived(Plain):
    pass


class Held(Other):
    pass


module = {}()
if isinstance(module, {}):
    torch.rand(3)
"""


@pytest.mark.parametrize(
    ("made", "asked", "state"),
    [
        ("Plain", "Other", "seeded"),
        ("Plain", "(Other, Held)", "seeded"),
        ("Derived", "Plain", "late"),
        ("Plain", "Derived", "seeded"),
        ("Derived", "nn.Module", "late"),
        ("nn.Dropout", "torch.utils.data.DataLoader", "seeded"),
        ("nn.Dropout", "(torch.optim.Optimizer, torch.utils.data.DataLoader)", "seeded"),
        ("nn.Dropout", "nn.Module", "late"),
    ],
)
def test_modules_are_told_apart_by_their_classes(tmp_path: Path, made: str, asked: str, state: str) -> None:
    assert drawn(tmp_path, KINDS.format(made, asked)) == state


@pytest.mark.parametrize(
    ("held", "state"), [("{'noisy': False}", "seeded"), ("{'noisy': True}", "late"), ("noisy=False", "seeded")]
)
def test_a_dict_with_a_default_holds_what_it_is_given(tmp_path: Path, held: str, state: str) -> None:
    made = f"from collections import defaultdict\noptions = defaultdict(lambda: True, {held})"
    assert drawn(tmp_path, f"{made}\nif options['noisy']:\n    torch.rand(3)") == state
