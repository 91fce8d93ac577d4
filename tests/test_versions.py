"""The version of PyTorch that a user names decides what is found: what differs between an old release and a new one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from detlint.catalogue import includes
from detlint.cli import cli

ON = "import torch\n\ntorch.use_deterministic_algorithms(True)\n"
MODEL = """
from torch import nn
from torch.nn import functional as F

class Net(nn.Module):
    def forward(self, x, index, y):
        return {}
"""
LOADED = """
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Jitter(Dataset):
    def __getitem__(self, index):
        return np.random.rand()

loader = DataLoader(Jitter(), num_workers=2)
"""

CASES = {
    "cuBLAS asks for a workspace": ("DET504", ON, ["DET504 warning"], []),
    "cuBLAS asks for a workspace of two sizes": (
        "DET504",
        'import os\n\nos.environ["CUBLAS_WORKSPACE_CONFIG"] = ":1:1"\n' + ON,
        ["DET504 warning"],
        [],
    ),
    "cuBLAS reads its variable when CUDA starts": (
        "DET505",
        'import os\nimport torch\n\nx = torch.ones(2).cuda()\nos.environ["CUBLAS_WORKSPACE_CONFIG"] = ":16:8"\n',
        ["DET505 warning"],
        [],
    ),
    "Inductor has a deterministic mode": (
        "DET503",
        "import torch._inductor.config\n\ntorch._inductor.config.deterministic = False\n",
        [],
        ["DET503 note"],
    ),
    "the deterministic mode reaches Inductor": (
        "DET506",
        ON + 'model = torch.compile(build(), mode="max-autotune")\n',
        ["DET506 warning"],
        [],
    ),
    "the deterministic mode reaches Inductor's variables": (
        "DET506",
        'import os\n\nos.environ["TORCHINDUCTOR_MAX_AUTOTUNE"] = "1"\n' + ON,
        ["DET506 warning"],
        [],
    ),
    "attention has fused kernels": (
        "DET303",
        MODEL.format("F.scaled_dot_product_attention(x, x, x)"),
        [],
        ["DET303 note"],
    ),
    "workers seed NumPy": ("DET202", LOADED, ["DET202 warning"], ["DET202 note"]),
    "loaders may leave the order": (
        "DET207",
        "from torch.utils.data import DataLoader\n\nDataLoader(data, num_workers=4, in_order=False)\n",
        [],
        ["DET207 warning"],
    ),
    "bilinear interpolation has a deterministic gradient": (
        "DET306",
        ON + MODEL.format('F.interpolate(x, scale_factor=2, mode="bilinear")'),
        ["DET306 warning"],
        [],
    ),
    "a sum at indices has a deterministic kernel": (
        "DET306",
        ON + MODEL.format("torch.zeros_like(x).index_add(0, index, y)"),
        ["DET306 warning"],
        [],
    ),
    "a gather has a deterministic gradient": (
        "DET306",
        ON + MODEL.format("x.gather(1, index.expand(-1, 4))"),
        ["DET306 warning"],
        [],
    ),
    "padding by reflection has a deterministic gradient": (
        "DET306",
        ON + MODEL.format('F.pad(x, (1, 1, 1, 1), mode="reflect")'),
        ["DET306 warning"],
        [],
    ),
    "Inductor can be batch invariant": (
        "DET505",
        "import os\nimport torch\n\nmodel = torch.compile(build())\nmodel(torch.ones(2))\n"
        'os.environ["TORCHINDUCTOR_BATCH_INVARIANT"] = "1"\n',
        [],
        ["DET505 note"],
    ),
    "a switch of cuDNN is the same in both": (
        "DET501",
        "import torch\n\ntorch.backends.cudnn.benchmark = True\n",
        ["DET501 warning"],
        ["DET501 warning"],
    ),
}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").touch()


def found(select: str, text: str, *arguments: str) -> list[str]:
    Path("train.py").write_text(text)
    command = ["--select", select, "--format", "json", *arguments, "train.py"]
    result = CliRunner().invoke(cli, command)
    assert result.exit_code in (0, 1), result.output
    return [f"{finding['code']} {finding['severity']}" for finding in json.loads(result.stdout)["findings"]]


@pytest.mark.parametrize(("select", "text", "old", "new"), CASES.values(), ids=CASES)
def test_an_old_release_and_a_new_one_are_judged_by_their_own_facts(
    select: str, text: str, old: list[str], new: list[str]
) -> None:
    assert found(select, text, "--torch-version", "1.8") == old
    assert found(select, text, "--torch-version", "2.13") == new


@pytest.mark.parametrize(("torch", "reported"), [("1.12", True), ("2.0", True), ("2.4", False), ("2.13", False)])
def test_newer_releases_fill_memory_in_the_deterministic_mode(torch: str, reported: bool) -> None:
    text = ON + "\ndef total(n):\n    return torch.empty(n).sum()\n"
    assert found("DET401", text, "--torch-version", torch) == (["DET401 error"] if reported else [])


def test_the_requirement_of_a_project_stands_in_for_the_option() -> None:
    Path("requirements.txt").write_text("torch<1.9\n")
    assert found("DET504", ON) == ["DET504 warning"]
    assert found("DET504", ON, "--torch-version", "2.13") == []
    Path("requirements.txt").write_text("torch>=2.10\n")
    assert found("DET504", ON) == []


@pytest.mark.parametrize(
    "specifiers", ["", ">=2.1", "<2.1", ">=1.13,<2.1.0", ">=2.1, <3", "==2.1", "!=2.1,>=2", "~=2.0", "<2.1rc1"]
)
def test_a_version_is_among_those_that_packaging_says(specifiers: str) -> None:
    told = SpecifierSet(specifiers)
    for text in (
        "1.13.1",
        "2",
        "2.0.9",
        "2.1",
        "2.1.0",
        "2.1.1",
        "2.1rc1",
        "2.1.dev3",
        "2.1.post1",
        "2.1.0+cu118",
        "3.0",
    ):
        assert includes(specifiers, Version(text)) is told.contains(text, prereleases=True), text
