"""Dropout as people write it: what goes on in evaluation, and what does not or is meant."""

from __future__ import annotations

from types import ModuleType

import pytest

from .support import report

MODEL = """
import torch
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self, p=0.5, rare=0.0):
        super().__init__()
        self.p, self.rare = p, rare

    def forward(self, x):
        return {call}

if __name__ == "__main__":
    {seed}
    model = Net().eval()
    print(model(torch.ones(4)))
"""


@pytest.mark.parametrize(
    ("call", "seed", "severity"),
    [
        ("F.dropout(x, self.p)", "pass", "warning"),
        ("F.dropout(x, self.p)", "torch.manual_seed(0)", "note"),
        ("F.dropout(x, self.p, training=True)", "pass", "note"),
        ("nn.Dropout(0.5)(x)", "pass", "warning"),
    ],
)
def test_it_is_a_warning_where_nobody_asked_for_it_and_torch_is_not_seeded(call: str, seed: str, severity: str) -> None:
    (found,) = report({"example.py": MODEL.format(call=call, seed=seed)}, ("DET110",)).findings
    assert found.severity.value == severity


def test_a_layer_out_of_reach_draws_in_evaluation_and_one_that_is_registered_does_not(torch: ModuleType) -> None:
    nn = torch.nn

    class Net(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.hidden = [nn.Dropout(0.5)]
            self.listed = nn.ModuleList([nn.Dropout(0.5)])

    net, ones = Net().eval(), torch.ones(1000)
    functions = nn.functional
    attended = functions.scaled_dot_product_attention(*[torch.ones(1, 64, 64)] * 3, dropout_p=0.5)
    drawing = [net.hidden[0](ones), nn.Dropout(0.5)(ones), functions.dropout(ones), attended]
    assert all((result == 0).any() for result in drawing[:3])
    assert attended.unique().numel() > 1
    assert torch.equal(net.listed[0](ones), ones)
    assert torch.equal(functions.alpha_dropout(ones), ones)


STATIC = """
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    @staticmethod
    def drop(x):
        return F.dropout(x, 0.5)

    def forward(self, x):
        return Net.drop(x)
"""


def test_a_function_without_its_module_is_reported_and_left_as_it_is() -> None:
    (found,) = report({"example.py": STATIC}, ("DET110",)).findings
    assert found.finding.fix is None
    assert found.finding.details["remedy"] == "pass `training=self.training`"
