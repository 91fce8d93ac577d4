"""The controls among the operations: what looks like a race and repeats all the same, and must stay silent."""

from __future__ import annotations

import textwrap

import pytest

from detlint import catalogue

from .support import codes

CALLS = {
    "scatter_reduce_amaxmin": ["x.scatter_reduce(0, i, y, reduce='amax')", "torch.scatter_reduce(x, 0, i, y, 'amin')"],
    "scatter_value": ["x.scatter_(0, i, 1.0)", "x.index_fill_(0, i, 0.0)", "F.one_hot(i, 10)"],
    "index_put_acc": ["x.index_put_((i,), y, accumulate=True)", "torch.index_put(x, (i,), y, accumulate=True)"],
    "masked_select": ["torch.masked_select(x, x > 0)", "x.masked_scatter_(x > 0, y)"],
    "embedding_max_norm": ["nn.Embedding(10, 4, max_norm=1.0)(i)", "F.embedding(i, x, max_norm=1.0)"],
    "max_pool2d": ["F.max_pool2d(x, 3, stride=1)", "nn.MaxPool2d(3, 1)(x)", "nn.MaxPool1d(3, 1)(x)"],
    "upsample_nearest": ["F.interpolate(x, scale_factor=2)", "nn.Upsample(scale_factor=2, mode='nearest')(x)"],
    "histogramdd": ["torch.histogram(x, 10, weight=y)", "torch.histogramdd(x, [4, 4])"],
    "kthvalue": ["torch.kthvalue(x, 3, 0)", "x.kthvalue(3)"],
    "sort_unstable": ["torch.sort(x)", "x.argsort()", "torch.msort(x)"],
    "argmax_ties": ["x.argmax(-1)", "torch.max(x, 1)", "x.min(dim=0)"],
    "unique_order": ["torch.unique(x)", "x.unique_consecutive()"],
    "sdpa_math": ["attend(x)"],
    "segment_reduce": ["torch.segment_reduce(x, 'sum', lengths=i)"],
    "fold_unfold": ["F.fold(x, (4, 4), 2)", "F.unfold(x, 2)", "nn.LayerNorm(4)(x)", "nn.BatchNorm2d(4)(x)", "nn.PReLU()(x)"],
    "dataloader.distributed": ["DistributedSampler(data)"],
    "tv.nms": ["torchvision.ops.nms(x, y, 0.5)", "torchvision.ops.batched_nms(x, y, i, 0.5)"],
    "istft": ["torch.istft(x, 400)", "x.istft(400)"],
    "value_selecting": ["x.max(1).values", "torch.min(x, 0)[0]", "x.topk(3).values", "torch.sort(x).values"],
    "pad_constant_circular": ["F.pad(x, (1, 1, 1, 1))", "F.pad(x, (1, 1, 1, 1), mode='circular')", "nn.ZeroPad2d(1)(x)"],
    "amp_gradscaler": ["torch.amp.GradScaler('cuda')", "torch.autocast('cuda')"],
    "cdist_pdist": ["torch.cdist(x, y)", "F.pdist(x)"],
}  # fmt: skip
FILE = """\
import torch
import torch.nn.functional as F
import torchvision
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.data.distributed import DistributedSampler


class Net(nn.Module):
    def forward(self, x, y, data):
        i = torch.randint(0, 4, (100,), device=x.device)

        def attend(q):
            with sdpa_kernel(SDPBackend.MATH):
                return F.scaled_dot_product_attention(q, q, q)

        return {}
"""


def test_each_control_of_the_table_is_tried() -> None:
    rows = [row for row in catalogue.load().rows("ops", "op") if row.data.get("control")]
    assert len(rows) == 28
    untried = [row.id for row in rows if not any(row.id.startswith(name) for name in CALLS)]
    assert untried == []
    assert all(row.text("silent") and not row.text("rule") for row in rows)


@pytest.mark.parametrize("call", [call for calls in CALLS.values() for call in calls])
def test_a_control_is_silent(call: str) -> None:
    assert codes(textwrap.dedent(FILE).format(call), "DET3") == []


def test_the_frame_of_the_controls_reports_what_is_none() -> None:
    assert [code for _, code in codes(FILE.format("x.scatter_add(0, i, y)"), "DET3")] == ["DET301"]
