"""Which programs only try out what a file offers: their draws matter little."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from detlint.cli import cli

NOISE = """\
import torch
{above}

class Noise:
    def __call__(self, n):
        return torch.randn(n)


if __name__ == "__main__":
{block}
"""
TRIES = "    print(Noise()(3))"
ELSEWHERE = {
    "pack/models/net.py": "from pack.modules.layers import Layer\n",
    "pack/modules/layers.py": "class Layer:\n    pass\n",
}
TRAINING = "def learn(w):\n    w.sum().backward()\n"


def severity(folder: Path, path: str, block: str, others: dict[str, str], above: str = "") -> str:
    """How grave the draw of a program is."""
    for name, text in {
        "pyproject.toml": "",
        "setup.py": "",
        path: NOISE.format(block=block, above=above),
        **others,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    options = ["--no-cache", "--format", "json", "--select", "DET101", str(folder)]
    (found,) = json.loads(CliRunner().invoke(cli, options, catch_exceptions=False).stdout)["findings"]
    grade: str = found["severity"]
    return grade


@pytest.mark.parametrize(
    ("path", "block", "others", "expected"),
    [
        ("pack/modules/noise.py", TRIES, ELSEWHERE, "note"),
        ("pack/noise.py", TRIES, ELSEWHERE, "note"),
        ("scripts/noise.py", TRIES, ELSEWHERE, "error"),
        ("pack/modules/noise.py", "    print(torch.randn(3))", ELSEWHERE, "error"),
        ("pack/modules/noise.py", f"{TRIES}\n    Noise().save()", ELSEWHERE, "error"),
        ("pack/noise.py", TRIES, {"pack/other.py": "import pack.third\n", "pack/third.py": ""}, "error"),
        ("pack/noise.py", TRIES, {"pack/__init__.py": ""}, "note"),
    ],
    ids=[
        "a namespace package",
        "at its top",
        "beside it",
        "nothing of its own",
        "what lasts",
        "a folder of scripts that import one another",
        "a package",
    ],
)
def test_a_module_of_a_package_tries_out_what_it_offers(
    tmp_path: Path, path: str, block: str, others: dict[str, str], expected: str
) -> None:
    assert severity(tmp_path, path, block, others) == expected


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("    Noise()(3).sum().backward()", "note"),
        ("    Noise()(3).sum().backward()\n    optimizer.step()", "error"),
        ("    env.step(Noise()(3))", "note"),
        ("    self.train_envs.step(Noise()(3))", "note"),
        ("    scheduler.step(Noise()(3))", "error"),
    ],
)
def test_a_gradient_or_a_step_of_an_environment_is_no_training(tmp_path: Path, block: str, expected: str) -> None:
    assert severity(tmp_path, "pack/noise.py", block, {"pack/__init__.py": ""}) == expected


def test_a_program_that_trains_by_another_file_is_no_trial(tmp_path: Path) -> None:
    others = {"pack/__init__.py": "", "pack/engine.py": TRAINING}
    assert (
        severity(tmp_path, "pack/noise.py", "    learn(Noise()(3))", others, "from pack.engine import learn") == "error"
    )
