"""`detlint entries`: calls with arguments that are not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import told

PROGRAM = """
    import json

    import torch

    if __name__ == "__main__":
        cfg = json.load(open("x.json"))
        {}
    """


def torch_state(folder: Path, line: str) -> str:
    """What is told of torch's generator in a program with a line that has a configuration, `cfg`."""
    state: str = told(folder, PROGRAM.format(line))["generators"]["torch"]["state"]
    return state


@pytest.mark.parametrize(
    "line",
    [
        "torch.nn.Linear(2, 2, **cfg)",
        "torch.nn.Linear(2, 2, device=cfg['device'])",
        "torch.nn.Linear(2, 2, **{'device': cfg['device'], 'dtype': None})",
        "torch.nn.Linear(2, 2, device=torch.device(cfg['device']))",
        "torch.nn.Embedding(2, 2, **cfg)",
        "torch.nn.Dropout(**cfg)(torch.ones(2))",
        "torch.nn.functional.dropout(torch.ones(2), **cfg)",
        "torch.randn(2, device=cfg['device'])",
        "torch.nn.Linear(2, 2, device='meta' if cfg['meta'] else 'cpu')",
    ],
)
def test_what_is_not_known_leaves_a_draw_one(tmp_path: Path, line: str) -> None:
    assert torch_state(tmp_path, line) == "unseeded"


@pytest.mark.parametrize(
    "line",
    [
        "torch.randn(2, **cfg)",  # perhaps with a generator
        "torch.utils.data.random_split([1, 2], [1, 1], **cfg)",
        "torch.nn.Linear(2, 2, device='meta', **cfg)",
        "torch.nn.Linear(2, 2, device=torch.device('meta'))",
        "torch.nn.Embedding(2, 2, _weight=cfg['weight'])",
        "torch.nn.Dropout(cfg['p'])(torch.ones(2))",  # perhaps none
        "torch.nn.functional.gelu(torch.ones(2), **cfg)",
    ],
)
def test_what_is_not_known_may_keep_a_call_from_drawing(tmp_path: Path, line: str) -> None:
    assert torch_state(tmp_path, line) == "unused"


@pytest.mark.parametrize(
    ("call", "state"),
    [
        ("settings(**cfg)", "off"),
        ("settings(epochs=3, **cfg)", "off"),
        ("settings(deterministic=True, **cfg)", "on"),
        ("settings(deterministic=cfg['deterministic'])", "optional"),
    ],
)
def test_a_switch_has_the_default_of_a_parameter_that_only_unknown_keywords_could_give(
    tmp_path: Path, call: str, state: str
) -> None:
    program = """
    import json, torch

    def settings(deterministic=False, epochs=1):
        torch.backends.cudnn.deterministic = deterministic

    cfg = json.load(open("x.json"))
    {}
    print(torch.rand(2))
    """
    assert told(tmp_path, program.format(call))["cudnn_deterministic"]["state"] == state
