"""The operation that a finding names for a device, and how the outputs show what a device told of it."""

from __future__ import annotations

import ast
import json
import pickle
import textwrap
from dataclasses import replace

import pytest

from detlint import catalogue
from detlint.finding import Finding, Operation, Severity, Verification
from detlint.output import json as as_json
from detlint.output import text as as_text
from detlint.report import Judged, Report
from tests.examples import files, python
from tests.support import report

HEADER = """
import numpy as np
import torch
import torch.nn.functional as F
from functools import partial
from torch import nn

SIZES = (2, 3)
HALF = torch.float16


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2

    def forward(self, x, y, index, flag, k, *args, **kwargs):
"""
UNMEASURED = ("DET207", "DET304", "DET305")  # findings without an operation
CODES = ("DET207", "DET3", "DET401", "DET402", "DET501", "DET506", "DET601", "DET604")


def findings(text: str, torch: str | None = None) -> list[Finding]:
    """What is found in statements of a `forward`, in which the parameters are not known."""
    body = textwrap.indent(textwrap.dedent(text).strip() + "\nreturn x", " " * 8)
    return [judged.finding for judged in report({"net.py": f"{HEADER}{body}\n"}, CODES, torch).findings]


def found(text: str, torch: str | None = None) -> Finding:
    """The one finding."""
    one, *others = findings(text, torch)
    assert not others
    return one


def asked(text: str, torch: str | None = None) -> Operation:
    operation = found(text, torch).operation
    assert operation is not None
    return operation


INTERPOLATE = "torch.nn.functional.interpolate"
AVERAGE = "torch.nn.functional.avg_pool3d"
CROSS = "torch.nn.CrossEntropyLoss"


@pytest.mark.parametrize(
    ("text", "row", "called", "arguments"),
    [
        # functions, by keyword and by position
        ("x = F.interpolate(x, scale_factor=2, mode='bilinear')", "upsample_bilinear2d.bwd", INTERPOLATE,
         {"mode": "'bilinear'", "scale_factor": "2"}),
        ("x = F.interpolate(x, (16, 8), None, 'bicubic', False)", "upsample_bicubic2d.bwd", INTERPOLATE,
         {"size": "(16, 8)", "scale_factor": "None", "mode": "'bicubic'", "align_corners": "False"}),
        ("x = F.interpolate(x, size=x.shape[2:], mode='trilinear')", "upsample_trilinear3d.bwd", INTERPOLATE,
         {"mode": "'trilinear'"}),
        ("x = F.avg_pool3d(x, 3, 2)", "avg_pool3d.bwd", AVERAGE, {"kernel_size": "3", "stride": "2"}),
        ("x = F.grid_sample(x, y, 'bilinear', 'border', True)", "grid_sample.bwd.corners_padded",
         "torch.nn.functional.grid_sample",
         {"mode": "'bilinear'", "padding_mode": "'border'", "align_corners": "True"}),
        ("x = F.pad(x, [1, 1, 2, 2], mode='reflect')", "reflection_pad2d.bwd.pad", "torch.nn.functional.pad",
         {"pad": "(1, 1, 2, 2)", "mode": "'reflect'"}),
        ("x = torch.bincount(index, weights=y, minlength=10)", "bincount_weights.fwd", "torch.bincount",
         {"minlength": "10"}),
        ("x = F.fractional_max_pool2d(x, 3, output_ratio=(0.5, 0.5))", "fractional_max_pool.bwd",
         "torch.nn.functional.fractional_max_pool2d", {"kernel_size": "3", "output_ratio": "(0.5, 0.5)"}),
        ("x = F.ctc_loss(x, y, k, k, 0, 'sum')", "ctc_loss.bwd", "torch.nn.functional.ctc_loss",
         {"blank": "0", "reduction": "'sum'"}),
        ("x = torch.scatter_add(x, 1, index, y)", "scatter_add.fwd", "torch.scatter_add", {"dim": "1"}),
        # methods, and the row that their arguments choose
        ("x = x.scatter_reduce(0, index, y, reduce='prod')", "scatter_reduce_prod.fwd",
         "torch.Tensor.scatter_reduce", {"dim": "0", "reduce": "'prod'"}),
        ("x = x.scatter_reduce(0, index, y, 'sum', include_self=False)", "scatter_reduce_sum_mean.fwd",
         "torch.Tensor.scatter_reduce", {"dim": "0", "reduce": "'sum'", "include_self": "False"}),
        ("x = x.scatter_reduce_(-1, index, y, 'mean')", "scatter_reduce_sum_mean.fwd",
         "torch.Tensor.scatter_reduce_", {"dim": "-1", "reduce": "'mean'"}),
        ("x = x.index_add(0, torch.randint(3, (4,), device=k), y, alpha=2)", "index_add.fwd.repeats",
         "torch.Tensor.index_add", {"dim": "0", "alpha": "2"}),
        ("x = x.put_(index, y, True)", "put_acc.fwd", "torch.Tensor.put_", {"accumulate": "True"}),
        # layers, by their constructors
        ("x = nn.Upsample(scale_factor=2, mode='bilinear')(x)", "upsample_bilinear2d.bwd.upsample",
         "torch.nn.Upsample", {"scale_factor": "2", "mode": "'bilinear'"}),
        ("x = nn.MaxPool3d((3, 3, 3), stride=[2, 2, 2], padding=1)(x)", "max_pool3d.bwd", "torch.nn.MaxPool3d",
         {"kernel_size": "(3, 3, 3)", "stride": "(2, 2, 2)", "padding": "1"}),
        ("x = nn.AdaptiveAvgPool2d((7, None))(x)", "adaptive_avg_pool2d.bwd", "torch.nn.AdaptiveAvgPool2d",
         {"output_size": "(7, None)"}),
        ("x = nn.EmbeddingBag(10, 3, mode='max')(index)", "embedding_bag_max.bwd", "torch.nn.EmbeddingBag",
         {"num_embeddings": "10", "embedding_dim": "3", "mode": "'max'"}),
        ("x = nn.ReflectionPad2d(3)(x)", "reflection_pad2d.bwd", "torch.nn.ReflectionPad2d", {"padding": "3"}),
        # objects that are called: the constructor's arguments and the call's
        ("loss = nn.CrossEntropyLoss(ignore_index=-1)\nx = loss(x.view(2, 3, 8, 8), y)", "nll_loss2d.fwd.module",
         CROSS, {"ignore_index": "-1", "@shape": "(2, 3, 8, 8)"}),
        ("loss = nn.CrossEntropyLoss(reduction='sum')\nif flag:\n    loss = nn.CrossEntropyLoss(k, reduction='sum', "
         "ignore_index=3)\nx = loss(x.unsqueeze(3), y)", "nll_loss2d.fwd.module", CROSS, {"reduction": "'sum'"}),
        ("attend = nn.MultiheadAttention(8, 2)\nx = attend(x, x, x, need_weights=False)", "sdpa_flash.bwd.module",
         "torch.nn.MultiheadAttention", {"embed_dim": "8", "num_heads": "2", "need_weights": "False"}),
        # values through names, attributes, unpacking, and functions made of others
        ("how = 'bilinear'\nx = F.interpolate(x, scale_factor=self.scale, mode=how)", "upsample_bilinear2d.bwd",
         INTERPOLATE, {"mode": "'bilinear'", "scale_factor": "2"}),
        ("n = 3\nx = nn.ReflectionPad2d((1, 1, n, n))(x)", "reflection_pad2d.bwd", "torch.nn.ReflectionPad2d",
         {"padding": "(1, 1, 3, 3)"}),
        ("x = nn.AdaptiveAvgPool2d(SIZES)(x)", "adaptive_avg_pool2d.bwd", "torch.nn.AdaptiveAvgPool2d",
         {"output_size": "(2, 3)"}),
        ("options = dict(mode='bilinear', align_corners=True)\nx = F.interpolate(x, scale_factor=2, **options)",
         "upsample_bilinear2d.bwd", INTERPOLATE,
         {"mode": "'bilinear'", "align_corners": "True", "scale_factor": "2"}),
        ("up = partial(F.interpolate, mode='bilinear')\nx = up(x, scale_factor=2)", "upsample_bilinear2d.bwd",
         INTERPOLATE, {"mode": "'bilinear'", "scale_factor": "2"}),
        # what is not known is left out
        ("size = 3\nif flag:\n    size = 5\nx = nn.ReflectionPad2d(size)(x)", "reflection_pad2d.bwd",
         "torch.nn.ReflectionPad2d", {}),
        ("size = 3\nfor _ in y:\n    size += 1\nx = nn.ReflectionPad2d(size)(x)", "reflection_pad2d.bwd",
         "torch.nn.ReflectionPad2d", {}),
        ("x = nn.ReflectionPad2d((k, 1, 1, 1))(x)", "reflection_pad2d.bwd", "torch.nn.ReflectionPad2d", {}),
        ("x = nn.ReflectionPad2d(*args)(x)", "reflection_pad2d.bwd", "torch.nn.ReflectionPad2d", {}),
        ("x = nn.ReflectionPad2d(**kwargs)(x)", "reflection_pad2d.bwd", "torch.nn.ReflectionPad2d", {}),
        ("x = F.ctc_loss(x, y, *args)", "ctc_loss.bwd", "torch.nn.functional.ctc_loss", {}),
        ("x = (torch.cummax if flag else torch.cummin)(x, 1)", "cummaxmin.bwd", "", {"dim": "1"}),
        # shapes
        ("x = torch.zeros((4, 5), device=k).scatter_add(0, index, y)", "scatter_add.fwd", "torch.Tensor.scatter_add",
         {"@shape": "(4, 5)", "@zeros": "True", "dim": "0"}),
        ("b, c = 2, 3\nz = x.new_zeros(b, c).float()\nx = z.scatter_add(0, index, y)", "scatter_add.fwd",
         "torch.Tensor.scatter_add", {"@shape": "(2, 3)", "dim": "0", "dtype": "'float32'"}),
        ("z = torch.zeros(3, 4, device=k)\nx = z.index_add(0, torch.tensor([2, 0], device=k), y)", "index_add.fwd",
         "torch.Tensor.index_add",
         {"@shape": "(3, 4)", "@zeros": "True", "@values.index": "(2, 0)", "dim": "0"}),
        ("z = torch.zeros(3, 4, device=k)\nx = z.index_add(0, torch.tensor([2, b], device=k), y)", "index_add.fwd",
         "torch.Tensor.index_add", {"@shape": "(3, 4)", "@zeros": "True", "dim": "0"}),
        ("x = torch.full(SIZES, 0.5, **kwargs).scatter_add(0, index, y)", "scatter_add.fwd",
         "torch.Tensor.scatter_add", {"@shape": "(2, 3)", "dim": "0"}),
        ("x = torch.cumsum(torch.randn(1000, device=k), dim=0)", "cumsum.fwd", "torch.cumsum",
         {"@shape": "(1000,)", "dim": "0", "dtype": "'float32'"}),
        ("x = F.embedding_bag(index, x.reshape(10, 3), mode='max')", "embedding_bag_max.bwd",
         "torch.nn.functional.embedding_bag", {"@shape": "(10, 3)", "mode": "'max'"}),
        ("x = F.cross_entropy(x.reshape(2, -1, 8, 8), y)", "nll_loss2d.fwd", "torch.nn.functional.cross_entropy", {}),
        ("z = x.new_zeros(k, 3)\nx = z.scatter_add(0, index, y)", "scatter_add.fwd", "torch.Tensor.scatter_add",
         {"@zeros": "True", "dim": "0"}),
        ("z = x.new_zeros(4, 3)\nif flag:\n    z = x.new_zeros(5, 3)\nx = z.scatter_add(0, index, y)",
         "scatter_add.fwd", "torch.Tensor.scatter_add", {"@zeros": "True", "dim": "0"}),
        # allocators
        ("x = torch.empty(2, 3, dtype=torch.half) + 1", "torch.empty", "torch.empty",
         {"size": "(2, 3)", "dtype": "'float16'"}),
        ("x = torch.empty(SIZES, device='cuda') + 1", "torch.empty", "torch.empty",
         {"size": "(2, 3)", "device": "'cuda'"}),
        ("x = torch.empty(size=(2, 3), dtype=HALF) + 1", "torch.empty", "torch.empty",
         {"size": "(2, 3)", "dtype": "'float16'"}),
        ("x = torch.empty(k, 3, dtype=x.dtype) + 1", "torch.empty", "torch.empty", {}),
        ("x = torch.empty(2, 3, **{'device': k}) + 1", "torch.empty", "torch.empty", {"size": "(2, 3)"}),
        ("x = torch.empty(*args) + 1", "torch.empty", "torch.empty", {}),
        ("x = torch.empty_like(x, dtype=torch.float) + 1", "torch.empty", "torch.empty_like", {"dtype": "'float32'"}),
        ("x = torch.empty_strided((2, 3), (3, 1)) + 1", "torch.empty", "torch.empty_strided",
         {"size": "(2, 3)", "stride": "(3, 1)"}),
        ("x = x.new_empty((2, 3)) + 1", "torch.new-empty", "torch.Tensor.new_empty", {"size": "(2, 3)"}),
        ("x = torch.FloatTensor(2, 3) + 1", "torch.legacy", "torch.FloatTensor", {"size": "(2, 3)"}),
        ("x = np.empty((2, 3), np.single) + 1", "numpy.empty", "numpy.empty",
         {"shape": "(2, 3)", "dtype": "'float32'"}),
        ("x = np.empty(4, dtype=float) + 1", "numpy.empty", "numpy.empty", {"shape": "4", "dtype": "'float64'"}),
        ("x = np.empty(4, dtype='int8') + 1", "numpy.empty", "numpy.empty", {"shape": "4", "dtype": "'int8'"}),
        # switches, and orders of hashes
        ("torch.backends.cudnn.benchmark = True", "cudnn.benchmark", "torch.backends.cudnn.benchmark", {}),
        ("torch.backends.cudnn.flags(benchmark=True)", "cudnn.flags-benchmark", "torch.backends.cudnn.flags",
         {"benchmark": "True"}),
        ("x = torch.compile(x, mode='max-autotune')", "torch.compile-max-autotune", "torch.compile",
         {"mode": "'max-autotune'"}),
        ("x = torch.compile(x, options={'max_autotune': True})", "inductor.max-autotune", "torch.compile", {}),
        ("import os\nos.environ['PYTORCH_TUNABLEOP_ENABLED'] = '1'", "tunable-op", "", {}),
        ("x = list({str(each) for each in y})", "element.text", "", {}),
        ("x = hash(str(y)) % 10", "element.text", "builtins.hash", {}),
        ("x = id(y) % 10", "element.objects", "builtins.id", {}),
        # no row stands behind it
        ("from torch.utils.data import DataLoader\nx = DataLoader(x, num_workers=k, in_order=False)", None, "", {}),
        ("x = hash(self.label) % 10", None, "", {}),
    ],
)  # fmt: skip
def test_a_finding_names_the_row_and_the_literals_of_its_call(
    text: str, row: str | None, called: str, arguments: dict[str, str]
) -> None:
    operation = found(text).operation
    if row is None:
        assert operation is None
        return
    assert operation is not None
    given = tuple(sorted(arguments.items()))
    assert operation == Operation(row, called, given, defaults=operation.defaults)
    assert arguments.keys().isdisjoint(dict(operation.defaults))


@pytest.mark.parametrize(
    ("text", "defaults"),
    [
        ("x = F.interpolate(x, scale_factor=2, mode='bilinear')", {"size": "None", "antialias": "False"}),
        ("x = nn.AvgPool3d(3, stride=2)(x)", {"padding": "0", "ceil_mode": "False"}),
        ("x = F.grid_sample(x, y, align_corners=True)", {"mode": "'bilinear'", "padding_mode": "'zeros'"}),
    ],
)
def test_what_a_call_leaves_out_has_its_default(text: str, defaults: dict[str, str]) -> None:
    assert defaults.items() <= dict(asked(text).defaults).items()


def test_what_a_call_may_pass_unseen_is_no_default() -> None:
    assert asked("x = nn.AvgPool3d(3, stride=2, **y)(x)").defaults == ()


def test_what_the_mode_refuses_is_asked_of_the_mode() -> None:
    operation = asked("torch.use_deterministic_algorithms(True)\nx = torch.median(x, dim=-1)")
    assert (operation.row, operation.arguments, operation.raising) == ("median_dim.fwd", (("dim", "-1"),), True)


def test_whether_the_mode_refuses_it_is_a_matter_of_the_version_of_torch() -> None:
    text = "torch.use_deterministic_algorithms(True)\nx = F.interpolate(x, scale_factor=2, mode='trilinear')"
    assert asked(text, "2.8") == replace(asked(text.partition("\n")[2], "2.8"), raising=True)
    assert findings(text, "2.9") == []


def test_calls_that_pass_the_same_are_the_same_operation() -> None:
    one = asked("x = F.interpolate(x, scale_factor=2, mode='bilinear')")
    other = asked("x = F.interpolate(x, None, 2, 'bilinear')")
    third = asked("x = F.interpolate(x, mode='bilinear', scale_factor=2)")
    assert len({one, other, third}) == 2
    assert one == third


def test_a_finding_with_an_operation_crosses_processes() -> None:
    finding = found("x = F.interpolate(x, scale_factor=2, mode='bilinear')")
    assert finding.operation is not None
    assert pickle.loads(pickle.dumps(finding)) == finding


MEASURED = [code for code in catalogue.load().rules if code.startswith(CODES) and code not in UNMEASURED]


@pytest.mark.parametrize("code", MEASURED)
def test_every_operation_of_the_pages_is_of_a_row_and_of_literals(code: str) -> None:
    rows = {row.id for tables in catalogue.load().tables.values() for table in tables.values() for row in table}
    count = 0
    for fence in (fence for file in files(catalogue.load().rules[code]) for fence in python(file)):
        for judged in report({"example.py": fence.text}, (code,)).findings:
            operation = judged.finding.operation
            if operation is not None:
                count += 1
                assert operation.row in rows
                for _, text in (*operation.arguments, *operation.defaults):
                    assert repr(ast.literal_eval(text)) == text
    assert count > 0


# Outputs


NUMBERS = {"device": "NVIDIA H200", "torch": "2.11.0", "row": "scatter_add.fwd", "runs": 10, "distinct": 10}
CONFIRMED = Verification("confirmed", "10 distinct results of 10 runs", NUMBERS)


def reported(verification: Verification | None) -> Report:
    found = report({"net.py": "import torch\n\n\ndef add(x, index, y):\n    return x.scatter_add(0, index, y)\n"})
    judged = next(one for one in found.findings if one.finding.code == "DET301")
    finding = replace(judged.finding, verification=verification)
    return Report((Judged(finding, judged.rule, Severity.WARNING),), 1, 0, 0.0)


def rendered(verification: Verification | None, color: bool = False) -> list[str]:
    text = as_text.render(reported(verification), lambda path: {None: "..."}, color)
    return text.splitlines()


def test_the_json_has_no_verification_unless_one_was_made() -> None:
    document = json.loads(as_json.render(reported(None), lambda path: ""))
    assert document["findings"][0]["verification"] is None


def test_the_json_has_the_verdict_with_its_evidence_and_no_operation() -> None:
    document = json.loads(as_json.render(reported(replace(CONFIRMED, elsewhere=True)), lambda path: ""))
    finding = document["findings"][0]
    assert finding["verification"] == {
        "verdict": "confirmed",
        "text": "10 distinct results of 10 runs",
        "elsewhere": True,
        "general": False,
        **NUMBERS,
    }
    assert "operation" not in finding


def test_the_text_says_nothing_of_verification_unless_one_was_made() -> None:
    assert not any("verified" in line for line in rendered(None))


@pytest.mark.parametrize(
    ("verification", "line"),
    [
        (CONFIRMED, "confirmed: 10 distinct results of 10 runs (NVIDIA H200, torch 2.11.0)"),
        (
            replace(CONFIRMED, elsewhere=True, general=True),
            "confirmed: 10 distinct results of 10 runs (NVIDIA H200, torch 2.11.0, measured elsewhere, "
            "not with this call's arguments)",
        ),
        (Verification("unavailable", "needs a CUDA device"), "unavailable: needs a CUDA device"),
        (Verification("failed", "RuntimeError:\n  no [kernel] image"), "failed: RuntimeError: no [kernel] image"),
        (Verification("inconclusive", "", {"torch": "2.13.0"}), "inconclusive (torch 2.13.0)"),
    ],
)
def test_the_text_shows_a_verification_in_one_line_ahead_of_the_explanation(
    verification: Verification, line: str
) -> None:
    lines = rendered(verification)
    place = next(i for i, text in enumerate(lines) if "verified" in text)
    assert lines[place] == f"  = verified: {line}"
    assert lines[place + 1].startswith("  = why: ")


@pytest.mark.parametrize(
    ("verdict", "color"),
    [("confirmed", 31), ("not-observed", 32), ("deterministic-path", 32), ("raises", 33), ("inconclusive", 33)],
)
def test_the_text_colours_a_verdict_by_what_it_means(verdict: str, color: int) -> None:
    line = next(text for text in rendered(Verification(verdict, "words"), color=True) if "verified" in text)
    assert f"\x1b[1;{color}m{verdict}\x1b[0m: words" in line
