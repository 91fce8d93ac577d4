"""Operations on a device as people write them: what must be reported, and what must not."""

from __future__ import annotations

import textwrap

import pytest

from .support import codes, report
from .test_notebook import book

DOCUMENTED = {
    # What PyTorch documents as nondeterministic, in its plain form: expression and the code that reports it. Left out is
    # what raises under the strict flag and repeats without it (histc, max unpooling, ReflectionPad1d), and the indices of
    # a median, which vary with ties.
    "AdaptiveAvgPool2d": ("F.adaptive_avg_pool2d(x, (7, 7))", "DET302"),
    "AdaptiveAvgPool3d": ("F.adaptive_avg_pool3d(x, (2, 4, 4))", "DET302"),
    "AdaptiveMaxPool2d": ("F.adaptive_max_pool2d(x, 4)", "DET302"),
    "AvgPool3d": ("F.avg_pool3d(x, 3, stride=2)", "DET302"),
    "MaxPool3d": ("F.max_pool3d(x, 3, stride=2)", "DET302"),
    "FractionalMaxPool2d": ("F.fractional_max_pool2d(x, 3, output_ratio=0.5)", "DET302"),
    "FractionalMaxPool3d": ("F.fractional_max_pool3d(x, 3, output_ratio=0.5)", "DET302"),
    "interpolate linear": ("F.interpolate(x, scale_factor=2, mode='linear')", "DET302"),
    "interpolate bilinear": ("F.interpolate(x, scale_factor=2, mode='bilinear')", "DET302"),
    "interpolate bicubic": ("F.interpolate(x, scale_factor=2, mode='bicubic')", "DET302"),
    "interpolate trilinear": ("F.interpolate(x, scale_factor=2, mode='trilinear')", "DET302"),
    "ReflectionPad": ("F.pad(x, (1, 1, 1, 1), mode='reflect')", "DET302"),
    "ReplicationPad": ("F.pad(x, (1, 1, 1, 1), mode='replicate')", "DET302"),
    "CTCLoss": ("F.ctc_loss(x.log_softmax(-1), index, sizes, sizes)", "DET302"),
    "EmbeddingBag max": ("F.embedding_bag(index, x, offsets, mode='max')", "DET302"),
    "grid_sample": ("F.grid_sample(x, grid, align_corners=False)", "DET302"),
    "index_select": ("torch.index_select(x, 0, index)", "DET302"),
    "take": ("torch.take(x, index)", "DET302"),
    "attention": ("F.scaled_dot_product_attention(x, x, x)", "DET303"),
    "scatter_add": ("x.scatter_add(0, index, y)", "DET301"),
    "scatter": ("x.scatter(0, index, src=y)", "DET301"),
    "scatter_reduce sum": ("x.scatter_reduce(0, index, y, reduce='sum')", "DET301"),
    "scatter_reduce mean": ("x.scatter_reduce(0, index, y, reduce='mean')", "DET301"),
    "scatter_reduce prod": ("x.scatter_reduce(0, index, y, reduce='prod')", "DET301"),
    "index_add": ("x.index_add(0, index, y)", "DET301"),
    "index_copy": ("x.index_copy(0, index, y)", "DET301"),
    "put": ("x.put_(index, y)", "DET301"),
    "put accumulate": ("x.put_(index, y, accumulate=True)", "DET301"),
    "bincount": ("torch.bincount(index, weights=x)", "DET301"),
}

PLACES = {
    "method": """\
        import torch
        import torch.nn.functional as F
        from torch import nn


        class Net(nn.Module):
            def forward(self, x, y, grid, sizes, offsets):
                index = torch.randint(0, 4, (100,), device=x.device)
                return {}
        """,
    "training script": """\
        import torch
        import torch.nn.functional as F


        def compute(x: torch.Tensor, y: torch.Tensor, grid, sizes, offsets):
            index = torch.randint(0, 4, (100,), device=x.device)
            return {}


        def train(model, loader, optimizer):
            for batch in loader:
                optimizer.zero_grad()
                loss = compute(model(batch[0]), *batch[1:]).mean()
                loss.backward()
                optimizer.step()
        """,
    "top level": """\
        import torch
        import torch.nn.functional as F
        from data import grid, offsets, sizes

        torch.manual_seed(0)
        x = torch.randn(4, 8, 16, 16, device="cuda", requires_grad=True)
        y = torch.randn(100, device="cuda")
        index = torch.randint(0, 4, (100,), device="cuda")
        out = {}
        out.sum().backward()
        """,
}


@pytest.mark.parametrize(
    ("operation", "place"),
    [
        *((operation, "method") for operation in DOCUMENTED),
        *(("scatter_add", place) for place in PLACES if place != "method"),
    ],
)
def test_what_pytorch_documents_is_reported(operation: str, place: str) -> None:
    expression, code = DOCUMENTED[operation]
    text = textwrap.dedent(PLACES[place]).format(expression)
    line = next(i for i, line in enumerate(text.splitlines(), 1) if expression in line)
    assert (line, code) in codes(text)


RESIZE = """\
import torch.nn.functional as F


def resize(maps):
    return F.interpolate(maps, scale_factor=4, mode="bilinear")
"""


@pytest.mark.parametrize(
    ("path", "use", "reported"),
    [
        ("train.py", "model(x).mean()", True),
        ("train.ipynb", "model(x).mean()", False),
        ("train.ipynb", "resize(model(x)).mean()", True),
        ("train.ipynb", "model(x, resize).mean()", True),
    ],
)
def test_a_function_that_nobody_uses_is_dead_in_a_notebook(path: str, use: str, reported: bool) -> None:
    cells = [RESIZE, f"loss = {use}\nloss.backward()\n"]
    given = "\n\n".join(cells) if path.endswith(".py") else book(*cells)
    found = report({path: given}, ("DET302",)).findings
    assert bool(found) is reported


STRICT = """\
import torch
import torch.nn.functional as F
from torch import nn

torch.use_deterministic_algorithms(True)


class Net(nn.Module):
    def forward(self, x, y, index):
        return {}
"""

SWITCHED = [
    # with the flag on, a version reports what has no deterministic kernel in it
    ("F.interpolate(x, scale_factor=2, mode='bilinear')", "1.12", True),
    ("F.interpolate(x, scale_factor=2, mode='bilinear')", "2.0", True),
    ("F.interpolate(x, scale_factor=2, mode='bilinear')", "2.4", False),
    ("F.interpolate(x, scale_factor=2, mode='bilinear')", "2.13", False),
    ("F.interpolate(x, scale_factor=2, mode='bicubic')", "2.13", True),
    ("F.pad(x, (1, 1, 1, 1), mode='reflect')", "2.6", True),
    ("F.pad(x, (1, 1, 1, 1), mode='reflect')", "2.7", False),
    ("F.pad(x, (1, 1), mode='reflect')", "2.13", True),
    ("F.pad(x, (1, 1, 1, 1), mode='reflect')", "2.13", False),
    ("F.pad(x, (1, 1, 0, 0), mode='reflect')", "2.4", True),
    ("F.pad(x, (1, 1, 1, 1), mode='replicate')", "2.0", True),
    ("F.pad(x, (1, 1, 1, 1), mode='replicate')", "2.2", False),
    ("F.pad(x, (1, 1, 1, 1, 1, 1), mode='replicate')", "2.2", True),
    ("F.pad(x, (1, 1, 1, 1, 1, 1), mode='replicate')", "2.3", False),
    ("x.scatter_add(0, index, y)", "2.0", True),
    ("x.scatter_add(0, index, y)", "2.4", False),
    ("F.max_pool3d(x, 3, stride=2)", "2.4", True),
    ("F.max_pool3d(x, 3, stride=2)", "2.13", True),
    ("F.max_pool3d(x, 3, stride=2, return_indices=True)", "2.12", True),
    ("F.max_pool3d(x, 3, stride=2, return_indices=True)", "2.13", False),
    ("F.max_pool3d_with_indices(x, 3, stride=2)", "2.13", False),
    ("F.grid_sample(x, y)", "2.13", True),
    ("x.scatter(0, index, y, reduce='add')", "2.4", False),
    ("x.scatter(0, index, y.long(), reduce='multiply')", "2.4", True),
    ("torch.bincount(index, weights=y.long())", "2.4", True),
    ("x.index_reduce(0, index, y.long(), 'prod')", "2.4", True),
    ("x.histc()", "2.7", True),
    ("x.long().histc()", "2.7", True),
    ("x.long().histc()", "2.8", False),
    ("F.cross_entropy(x.view(2, 4, 5, 5), index)", "2.13", True),
    ("F.cross_entropy(x.view(2, 4, 5, 5), y.softmax(1))", "2.13", False),
    ("F.cross_entropy(x.view(2, 4, 5, 5), 0.5 * y.softmax(1) + 0.5 * z)", "2.13", False),
    ("F.ctc_loss(x, y, sizes, sizes)", "2.13", True),
    ("F.ctc_loss(x, y.to(torch.int32), sizes, sizes)", "2.13", False),
    ("F.ctc_loss(x, torch.IntTensor([1, 2]), sizes, sizes)", "2.13", False),
    ("F.ctc_loss(x, y.int().view(-1), sizes, sizes)", "2.13", False),
    ("F.scaled_dot_product_attention(x, x, x)", "2.0", False),
    ("F.scaled_dot_product_attention(x, x, x)", "2.2", True),
    ("F.scaled_dot_product_attention(x, x, x)", "2.3", False),
]


@pytest.mark.parametrize(("expression", "torch", "reported"), SWITCHED)
def test_a_version_of_torch_decides_what_the_flag_protects(expression: str, torch: str, reported: bool) -> None:
    assert bool(codes(STRICT.format(expression), "DET3", torch=torch)) is reported
