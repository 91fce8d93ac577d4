"""Orders permuted on the CPU, for what adds by atomics on a GPU: files in, `detlint verify --format json` out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from click.testing import CliRunner  # noqa: E402

from detlint.cli import cli  # noqa: E402
from detlint.verify import pool, worker  # noqa: E402
from detlint.verify.job import Job  # noqa: E402
from detlint.verify.orders.addends import Addends, UnlikeError  # noqa: E402
from detlint.verify.verdicts import judge, words  # noqa: E402
from tests.entered import verify  # noqa: E402
from tests.forks import forks  # noqa: E402

HEAD = """\
import torch
import torch.nn.functional as F

def f(x, y, index, device):
    out = torch.zeros(10, 4, device=device)
"""
DIFFERS = {
    "out.index_add_(0, index, x)": "addends of a place",
    "out.index_add_(0, torch.tensor([0, 1, 1, 1, 1], device=device), x)": "the 4 addends of a place",
    "torch.zeros(9, device=device, dtype=torch.half).scatter_add_(0, index, x)": "addends of a place",
    "torch.ones(9, device=device).scatter_reduce_(0, index, x, 'prod')": "factors of a place",
    "out.scatter_(0, torch.randint(0, 9, (99, 4), device=device), torch.randn(99, 4, device=device))": "values written to a place",
    "x.scatter_add_(0, torch.tensor([3, 3, 4], device=device), y)": "the 2 addends of a place",
    "torch.bincount(index, weights=x)": "addends of a place",
    "torch.cumsum(x.flatten(), 0)": "the tiles that each tile looks back to",
    "F.cross_entropy(x.view(2, 10, -1), y)": "the 16 addends of a place",
}
CANNOT = {
    "out.index_add_(0, torch.tensor([0, 1, 2], device=device), x)": "each place gets one value",
    "torch.zeros(9, device=device).scatter_add_(0, torch.tensor([3, 3, 4], device=device), x)": "two addends at most",
}
GRADIENTS = {
    "F.interpolate(x, scale_factor=2, mode='bilinear')": "addends of a place",
    "F.grid_sample(x, y, align_corners=False)": "addends of a place",
    "F.pad(x, (1, 1, 1, 1), mode='reflect')": "addends of a place",
    "F.max_pool3d(x, 3, stride=2)": "addends of a place",
    "F.adaptive_avg_pool3d(x, (4, 5, 6))": "addends of a place",
    "F.embedding_bag(index, x, mode='max')": "addends of a place",
    "F.scaled_dot_product_attention(x, x, x)": "the 8 addends of a place (chosen here: keys, queries)",
    "torch.gather(x, 0, torch.randint(0, 9, (99,), device=device))": "addends of a place",
}
LAYER = """\
class Layer(torch.nn.Module):
    def forward(self, x, y, index, device):
        return {}

def step(x, y, index, device):
    Layer()(x, y, index, device).sum().backward()
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, Any]]]:
    """What is told of the finding in each file, by what the file calls."""
    folder = tmp_path_factory.mktemp("orders")
    (folder / "pyproject.toml").write_text("[tool.detlint]\nselect = ['DET301', 'DET302', 'DET303']\n")
    texts = {call: f"{HEAD}    return {call}\n" for call in (*DIFFERS, *CANNOT)}
    texts |= {call: f"{HEAD.partition('def')[0]}{LAYER.format(call)}" for call in GRADIENTS}
    files = {f"m{number}.py": call for number, call in enumerate(texts)}
    for name, call in files.items():
        (folder / name).write_text(texts[call])
    with pytest.MonkeyPatch.context() as patch, forks(pool):
        patch.chdir(folder)
        found = CliRunner().invoke(cli, ["--verify", "--device", "cpu", "--format", "json", "."])
    yield {files[Path(each["path"]).name]: each["verification"] for each in json.loads(found.stdout)["findings"]}


@pytest.mark.slow
@pytest.mark.parametrize("call", [*DIFFERS, *GRADIENTS])
def test_another_order_of_what_meets_in_a_place_changes_bits(told: dict[str, dict[str, Any]], call: str) -> None:
    found = told[call]
    assert found["verdict"] == "simulated", found["text"]
    assert found["simulated"]["distinct"] > 1
    assert (DIFFERS | GRADIENTS)[call] in found["text"]
    assert "the kernel of the CPU itself: " in found["text"]


@pytest.mark.slow
@pytest.mark.parametrize("call", CANNOT)
def test_an_index_in_the_text_tells_that_no_order_can_change_a_bit(told: dict[str, dict[str, Any]], call: str) -> None:
    found = told[call]
    assert (found["verdict"], found["simulated"]["distinct"]) == ("simulated", 1)
    assert f"cannot differ: {CANNOT[call]}" in found["text"]
    assert "@values.index" in found["taken"]


@pytest.mark.slow
def test_sums_of_integers_cannot_differ(capsys: pytest.CaptureFixture[str]) -> None:
    with forks(pool):
        assert verify(["--op", "put_acc.fwd.any", "--device", "cpu", "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["measurements"]
    assert found["dtype"] == "int64"
    assert found["outcomes"]["orders"]["verdict"] == "simulated"
    assert found["outcomes"]["orders"]["reason"] == "whole numbers give the same in any order"


def permuted(row: str, **arguments: Any) -> str:
    answer = worker.run(Job(row, row, "orders", "cpu", "float32", 1, 0, "", arguments=arguments))
    return words(judge([answer]))


def test_what_is_chosen_for_the_code_is_told() -> None:
    assert "(chosen here: index)" in permuted("index_add.fwd")
    assert "chosen" not in permuted("index_add.fwd", **{"@values.index": [0, 0, 0]})


def gathered(*values: float, expected: float, start: float = 0.0, dtype: str = "float32") -> Addends:
    kind = getattr(torch, dtype)
    places = torch.zeros(len(values), dtype=torch.int64)
    return Addends(places, torch.tensor(values, dtype=kind), torch.tensor([start]).to(kind), torch.tensor([expected]))


def test_a_reference_that_is_not_what_torch_computes_says_nothing() -> None:
    found = gathered(1.0, 2.0, 3.0, expected=7.0)
    with pytest.raises(UnlikeError, match="further than rounding"):
        found.check(next(found.results()))


@pytest.mark.parametrize(
    ("values", "start", "dtype", "reason"),
    [
        ((1e8, 1.0, -1e8), 0.0, "float32", ""),
        ((1.5, 2.25, -4.0), 0.0, "float32", "every partial sum is exact"),
        ((1e8, 1.0), 0.0, "float32", "two addends"),
        ((1e8, 1.0), -1e8, "float32", ""),
        ((2049.0, 1.0, 1.0), 0.0, "float16", ""),
        ((0.1,), 0.3, "float32", "each place gets one value"),
    ],
)
def test_it_is_told_why_no_order_can_change_a_bit(
    values: tuple[float, ...], start: float, dtype: str, reason: str
) -> None:
    found = gathered(*values, start=start, expected=0.0, dtype=dtype)
    assert found.fixed().startswith(reason) and bool(found.fixed()) == bool(reason)
    results = {float(result) for result in found.results()}
    assert len(results) == 1 or not reason


def test_orders_are_tried_in_the_dtype_of_the_call() -> None:
    assert len({float(result) for result in gathered(2048.0, 1.0, 1.0, expected=0.0, dtype="float16").results()}) == 2
