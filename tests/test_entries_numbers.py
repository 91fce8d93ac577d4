"""Numbers that a program writes down: which of its branches they choose, and what `detlint check` then says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from detlint.analysis.values.numbers import folded
from detlint.cli import cli
from tests.project import told

from .test_rows import programs

BOUNDED = """
    import math, random, sys
    import numpy as np
    import torch

    LIMIT = 4294967295

    def seed_everything(seed):
        if {}:
            seed = random.randint(0, 9)
        torch.manual_seed(seed)

    if __name__ == "__main__":
        seed_everything(7)
        torch.save(torch.nn.Linear(2, 2).state_dict(), "x.pt")
    """


@pytest.mark.parametrize(
    ("test", "state"),
    [
        ("seed > np.iinfo(np.uint32).max", "seeded"),
        ("seed > np.iinfo(np.int8).max", "seeded"),
        ("seed < np.iinfo(np.int8).max", "unseeded"),
        ("seed > torch.iinfo(torch.int64).max", "seeded"),
        ("seed < torch.finfo(torch.float32).tiny", "seeded"),
        ("seed > sys.maxsize", "seeded"),
        ("seed > math.pi", "unseeded"),
        ("seed >= 2**32", "seeded"),
        ("seed > (1 << 3) - 2", "unseeded"),
        ("not 0 <= seed <= LIMIT", "seeded"),
        ("not 0 <= seed < 7", "unseeded"),
        ("0 < seed < 5 < 9", "seeded"),
        ("not (0 <= seed and seed <= LIMIT)", "seeded"),
        ("seed > np.iinfo(seed).max", "optional"),
        ("seed > 1 // 0", "optional"),
        ("seed > 2 ** 2 ** 2 ** 2 ** 2 ** 2", "optional"),
    ],
)
def test_numbers_choose_the_branch(tmp_path: Path, test: str, state: str) -> None:
    assert told(tmp_path, BOUNDED.format(test))["generators"]["torch"]["state"] == state


@pytest.mark.parametrize("name", ["limits of a type", "a chain of comparisons", "a try whose branch is not taken"])
def test_a_draw_in_a_branch_that_is_not_taken_is_no_finding(tmp_path: Path, name: str) -> None:
    program = next(each for each in programs("numbers") if each.name == name)
    for path, text in program.files.items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    result = CliRunner().invoke(cli, ["--no-cache", "--format", "json", str(tmp_path)], catch_exceptions=False)
    assert not [each["code"] for each in json.loads(result.stdout)["findings"] if each["code"].startswith("DET10")]


def test_a_seed_from_a_branch_that_is_taken_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import random, torch\n\ndef seed(seed):\n    if not 0 <= seed <= 5:\n        seed = random.randint(0, 5)\n"
        "    torch.manual_seed(seed)\n\nseed(7)\ntorch.save(torch.rand(2), 'x.pt')\n",
        encoding="utf-8",
    )
    result = CliRunner().invoke(cli, ["--no-cache", "--format", "json", str(tmp_path)], catch_exceptions=False)
    assert "DET105" in [each["code"] for each in json.loads(result.stdout)["findings"]]


@pytest.mark.parametrize(
    ("operator", "operands", "made"),
    [
        ("+", (2, 3), 5),
        ("**", (2, 32), 1 << 32),
        ("**", (2, 1000), None),
        ("<<", (1, -1), None),
        ("%", (1, 0), None),
        ("+", (True, 1), None),
        ("*", ("a", 3), None),
        ("**", (-1, 0.5), None),
        ("@", (1, 2), None),
    ],
)
def test_literals_are_folded(operator: str, operands: tuple[object, object], made: object) -> None:
    assert folded(operator, operands) == made
