"""A training run that is resumed after the fix of DET701 gives, bit for bit, what one gives that was never stopped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from detlint.cli import cli

from .repeating import FILLS, Server

pytestmark = pytest.mark.slow

SCRIPT = """\
import hashlib
import random
import sys

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
first, last = int(sys.argv[1]), int(sys.argv[2])
torch.manual_seed(0)
np.random.seed(0)
random.seed(0)
data = TensorDataset(torch.randn(24, 6), torch.randn(24, 1))
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loader = DataLoader(data, batch_size=4, shuffle=True)
if first:
    checkpoint = torch.load(f"checkpoint-{first - 1}.pt", weights_only=True)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
for epoch in range(first, last):
    for x, y in loader:
        optimizer.zero_grad()
        noise = random.random() + np.random.rand()
        nn.functional.mse_loss(model(x + noise), y).backward()
        optimizer.step()
    torch.save(
        {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "epoch": epoch,  # the one that is done
        },
        f"checkpoint-{epoch}.pt",
    )
digest = hashlib.sha256()
for tensor in model.state_dict().values():
    digest.update(tensor.numpy().tobytes())
print(digest.hexdigest())
"""


@pytest.fixture
def server() -> Iterator[Server]:
    """Where to run programs, which need not wait for torch to be imported."""
    made = Server(FILLS[0])
    yield made
    made.stop()


def train(server: Server, folder: Path, first: int, last: int) -> str:
    """The digest of the weights after the epochs from `first` to before `last`."""
    status = server.start(("train.py", str(first), str(last)), folder).wait()
    said = (folder / "log.txt").read_text(encoding="utf-8")
    assert status == 0, said
    return said


def fix(folder: Path) -> None:
    done = CliRunner().invoke(cli, ["--fix", "--unsafe-fixes", "--select", "DET701", "--jobs", "1", str(folder)])
    assert done.exit_code == 0, done.output


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "example"\nversion = "0"\n')
    return tmp_path


def test_a_resumed_run_goes_on_as_one_that_was_never_stopped_once_fixed(project: Path, server: Server) -> None:
    whole = train(server, project, 0, 3)
    resumed = train(server, project, 2, 3)
    assert resumed != whole

    fix(project)
    assert train(server, project, 2, 3) == resumed  # from a checkpoint that was written before
    assert train(server, project, 0, 3) == whole
    assert train(server, project, 2, 3) == whole


def test_the_fix_is_applied_once(project: Path) -> None:
    fix(project)
    once = (project / "train.py").read_text()
    assert once != SCRIPT
    fix(project)
    assert (project / "train.py").read_text() == once
