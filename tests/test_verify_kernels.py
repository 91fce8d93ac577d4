"""Triton kernels of a program's own, run by Triton's interpreter: files in, `detlint verify --run-kernels` out."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from detlint.verify.kernels import calls
from tests.entered import verify

TRITON = pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")
KERNELS = """\
import torch
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 256})], key=["n"], reset_to_zero=["out"])
@triton.jit
def total(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + at, mask=at < n, other=0.0)))

@triton.jit
def own(x, out, BLOCK: tl.constexpr):
    part = tl.program_id(1) * 2 + tl.program_id(0)
    tl.atomic_add(out + part, tl.sum(tl.load(x + part * BLOCK + tl.arange(0, BLOCK))))

@triton.jit
def needs(x, out):
    tl.atomic_add(out, tl.load(x))

@triton.jit
def wrong(x, out):
    tl.atomic_add(out, tl.load(x))

def add(x):
    out = torch.zeros(1, device=x.device)
    total[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel())
    return out

def single(x, out):
    needs[(1,)](x, out)

class Adding(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        assert x.is_cuda
        with torch.cuda.device(x.device.index):
            return add(x)

def check():
    x = torch.randn(1000, device="cuda")
    own[(2, 2)](x, torch.zeros(4).cuda(), BLOCK=128)
    return Adding.apply(x)

def fails():
    wrong[(1,)](1, 2)
    raise ValueError("not here")
"""


def told(folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> dict[tuple[int, str], Any]:
    """What is told of the findings in kernels, by line and rule. The file leaves a mark where it is run."""
    mark = "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\n"
    (folder / "kernels.py").write_text(KERNELS + mark)
    (folder / "pyproject.toml").write_text("[tool.detlint]\nselect = ['DET304', 'DET506']\n")
    assert verify([str(folder), "--device", "cpu", "--format", "json", *more]) == 0
    found = json.loads(capsys.readouterr().out)["findings"]
    return {(each["line"], each["code"]): each["verification"] for each in found}


@TRITON
@pytest.mark.slow
def test_programs_are_taken_in_other_orders_and_configurations_in_turn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = told(tmp_path, capsys, "--run-kernels")
    racing, alone, needing, failing = (found[line, "DET304"] for line in (9, 14, 18, 22))
    assert (racing["verdict"], racing["called"], racing["programs"], racing["orders"]) == ("simulated", "check", 16, 6)
    assert racing["distinct"] > 1 and racing["configurations"] | {"absolute": 0, "ulp": 0} == {
        "tried": 2,
        "distinct": 2,
        "absolute": 0,
        "ulp": 0,
    }
    assert found[5, "DET506"] == racing
    assert (alone["verdict"], alone["programs"], alone["distinct"]) == ("simulated", 4, 1)
    assert "6 orders of its 4 programs give the same bits" in alone["text"]
    assert needing["verdict"] == failing["verdict"] == "unavailable"
    assert needing["text"] == "`needs` cannot be called: `single` needs arguments that the text does not tell"
    assert "`fails()`: " in failing["text"]
    assert (tmp_path / "ran").exists()


@TRITON
@pytest.mark.slow
def test_a_kernel_that_takes_too_long_has_no_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(tmp_path, capsys, "--run-kernels", "--timeout", "0.01")
    assert {each["verdict"] for each in found.values()} == {"unavailable"}
    assert found[9, "DET304"]["text"] == "no result within 0.01 s"


@pytest.mark.slow
def test_nothing_of_the_code_is_run_unless_it_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(tmp_path, capsys)
    assert found[9, "DET304"] is None and found[14, "DET304"] is None
    assert not (tmp_path / "ran").exists()


def test_functions_are_called_that_need_nothing_and_lead_to_the_kernel() -> None:
    text = """
def launch(x): kernel[(1,)](x)
def run(x=None, *, y=2): launch(x)
def more(x, y=1): launch(x)
def keyword(*, x): launch(x)
def other(): return 1
@fixture
def made(): launch(1)
def outer(): run()
def every(*args, **options): kernel[(1,)](*args)
"""
    assert calls.callers(text, "kernel") == ["run", "outer", "every"]
    assert calls.needing(text, "kernel") == ["launch", "every"]


def test_kernels_may_stand_where_a_file_tests_for_triton_and_be_launched_by_classes() -> None:
    text = """
try:
    import triton
    @triton.jit
    def kernel(x): pass
    if old:
        def launch(x): kernel[(1,)](x)
    else:
        def launch(x): kernel[(2,)](x)
except ImportError:
    def launch(x): raise
class Function:
    def forward(ctx, x): return launch(x)
def run(): Function.apply(1)
"""
    assert calls.kernel_at(text, 5) == "kernel"
    assert calls.callers(text, "kernel") == ["run"]
    assert calls.callers(
        text.replace("except ImportError:\n    def launch(x): raise\n", "finally: pass\n"), "kernel"
    ) == ["run"]


def test_a_line_is_in_a_kernel_from_its_first_decorator_to_its_end() -> None:
    assert [calls.kernel_at(KERNELS, line) for line in (4, 5, 9, 10, 11, 24)] == ["", "total", "total", "", "own", ""]
    assert calls.kernel_at("def broken(", 1) == ""
