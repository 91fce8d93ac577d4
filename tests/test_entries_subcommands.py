"""Programs that do one thing or another: what one arm loads is not what the other trains."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from detlint.cli import cli

PROGRAM = """import argparse

import torch
from torch import nn


def train(args):
    torch.manual_seed(args.seed)
    net = nn.Linear(2, 2)
    step = torch.optim.SGD(net.parameters(), 0.1)
    net(torch.ones(2)).sum().backward()
    step.step()
    torch.save(net.state_dict(), args.model)


def show(args):
    net = nn.Linear(2, 2)
    {}
    print(net.eval()(torch.ones(2)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command")
    one = commands.add_parser("train")
    one.add_argument("--seed", type=int, default=42)
    one.add_argument("--model", required=True)
    other = commands.add_parser("eval")
    other.add_argument("--model", required=True)
    args = parser.parse_args()
    {}
    if args.command == "train":
        train(args)
    else:
        show(args)
    {}
"""
LOAD = "net.load_state_dict(torch.load(args.model))"


@pytest.mark.parametrize(
    ("loaded", "before", "after", "severity"),
    [
        (LOAD, "pass", "pass", "note"),
        ("pass", "pass", "pass", "error"),
        (LOAD, "nn.Linear(2, 2)", "pass", "error"),
        (LOAD, "pass", "torch.nn.Linear(2, 2).weight.sum().backward()", "error"),
        ("pass", "pass", "nn.Linear(2, 2)." + LOAD.removeprefix("net."), "error"),
    ],
)
def test_weights_that_one_arm_loads(tmp_path: Path, loaded: str, before: str, after: str, severity: str) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "train.py").write_text(PROGRAM.format(loaded, before, after), encoding="utf-8")
    result = CliRunner().invoke(cli, ["--no-cache", "--format", "json", str(tmp_path)], catch_exceptions=False)
    findings = json.loads(result.stdout)["findings"]
    assert [each["severity"] for each in findings if each["code"] in ("DET101", "DET106")] == [severity]
