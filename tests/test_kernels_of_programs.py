"""Kernels whose order varies, by the programs that come to them: warnings, notes, or nothing."""

from __future__ import annotations

from typing import Final

import pytest

from .support import report

HEAD: Final = """\
from torch import nn
from torch.nn import functional as F


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 1)

    def forward(self, x):
        return F.interpolate(self.conv(x), scale_factor=2, mode="bilinear")
"""
SCRIPT: Final = """\
import argparse
import importlib

import torch
{imports}

if __name__ == "__main__":
    args = argparse.ArgumentParser().parse_args()
    head = {made}.to(args.device)
    {body}
"""


def said(files: dict[str, str]) -> list[str]:
    """How grave what is said of the head is."""
    return [judged.severity.value for judged in report(files, ("DET302",)).findings if judged.finding.code == "DET302"]


def script(body: str, imports: str = "from head import Head", made: str = "Head()") -> str:
    return SCRIPT.format(imports=imports, made=made, body=body)


@pytest.mark.parametrize(
    ("files", "severities"),
    [
        ({"head.py": HEAD}, ["note"]),
        ({"head.py": HEAD, "train.py": script("head(args.x).sum().backward()")}, ["warning"]),
        ({"head.py": HEAD, "demo.py": script("print(head(args.x))")}, []),
        ({"head.py": HEAD, "train.py": script("runner.train(head)")}, ["warning"]),
        ({"head.py": HEAD + '\n\nif __name__ == "__main__":\n    print(Head()(None).shape)\n'}, ["note"]),
        ({"test_head.py": HEAD + "\n\ndef test_learns(x):\n    Head()(x).sum().backward()\n"}, ["note"]),
        (
            {
                "models/head.py": HEAD,
                "train.py": script(
                    "head(args.x).sum().backward()", "", "importlib.import_module('models.' + args.name).Head()"
                ),
            },
            ["warning"],
        ),
    ],
    ids=["library", "training", "applying", "by a runner", "tried out", "test", "by name"],
)
def test_a_program_decides_whether_a_gradient_is_taken(files: dict[str, str], severities: list[str]) -> None:
    assert said(files) == severities


CPU: Final = script("head(args.x).sum().backward()").replace(".to(args.device)", "")


@pytest.mark.parametrize(
    ("more", "severity"),
    [
        ("", "note"),
        ('"""A GPU would do."""', "note"),
        ("torch.set_default_device('cuda')", "warning"),
        ("from helping import move\n\nmove()", "warning"),
        ("from lightning import Trainer", "warning"),
    ],
)
def test_a_program_that_nowhere_speaks_of_a_gpu_uses_none(more: str, severity: str) -> None:
    helping = {"helping.py": "def move(x, device):\n    return x\n"}
    assert said({"head.py": HEAD, "train.py": f"{more}\n{CPU}", **helping}) == [severity]


TABLES: Final = """\
import torch
from torch import nn
from torch.nn import functional as F


class Embedding(nn.Module):
    def sized(self, x, table, size):
        if size == table.shape[1]:
            return table
        return F.interpolate(table[:, 1:].permute(0, 3, 1, 2), size=size, mode="bicubic")

    def forward(self, x, other):
        if x.shape != other.shape:
            x = F.interpolate(x * self.scale, size=other.shape[-2:], mode="bicubic")
        if x.size(2) != other.size(2):
            x = F.pad(x, (0, 0, 0, 1), mode="replicate")
        x = F.pad(x, (0, 0, 1, 1), mode="replicate")
        return self.sized(x, torch.cat([self.first, self.second + 1]), 8) + x


if __name__ == "__main__":
    model = Embedding().cuda()
    model(torch.rand(3), torch.rand(3)).sum().backward()
"""


def test_what_a_model_keeps_is_resized_and_what_does_not_fit_is_padded_for_other_sizes_than_by_default() -> None:
    assert said({"train.py": TABLES}) == ["note", "warning", "note", "warning"]


NETS: Final = """\
from torch import nn
from torch.nn import functional as F


class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3)
        {part}

    def prepared(self, x):
        height = x.shape[-2]
        return {op}

    def forward(self, x):
        x = self.prepared({given})
        return self.conv(x){reduced}
"""
LEARNING: Final = """\
import torch
from net import Net

net = Net().cuda()
optimizer = torch.optim.Adam(net.parameters())
for x, y in torch.load("data.pt"):
    (net(x.cuda()) - y.cuda()).abs().mean().backward()
    optimizer.step()
"""
PAD: Final = 'F.pad(x[:, :3], (0, 1, 0, height % 2), "reflect")'
UP: Final = 'F.interpolate(input=x, scale_factor=2, mode="bilinear")'


MODES: Final = f"""\
from torch.nn import functional as F


def up(x, kind):
    if kind == "smooth":
        return {UP}
    return F.interpolate(x, scale_factor=2)


"""


def net(op: str, name: str = "Net", part: str = "pass", given: str = "x", reduced: str = "") -> str:
    return NETS.format(op=op, name=name, part=part, given=given, reduced=reduced)


@pytest.mark.parametrize(
    ("files", "severities"),
    [
        ({"net.py": net(PAD)}, ["note"]),
        ({"net.py": net("nn.ReplicationPad2d((0, 1, 0, height % 2))(x.clone())")}, ["note"]),
        ({"net.py": net(UP, given="self.conv(x)")}, ["warning"]),
        ({"net.py": net(UP + " * 2", given="x + self.conv.bias")}, ["warning"]),
        ({"net.py": net(UP, reduced=".mean()")}, ["warning"]),
        ({"net.py": net("self.part(x)", part="self.part = Part()") + net(UP, "Part")}, ["note"]),
        ({"net.py": net("self.part(self.conv(x))", part="self.part = Part()") + net(UP, "Part")}, ["warning"]),
        (
            {"net.py": net("self.parts(x)", part="self.parts = nn.Sequential(Part())") + net(UP, "Part")},
            ["warning"],
        ),
        (
            {
                "net.py": "from part import Part\n" + net("self.part(self.conv(x))", part="self.part = Part()"),
                "part.py": net(UP, "Part"),
            },
            ["warning"],
        ),
        (
            {
                "net.py": "from part import Part\n" + net("self.part(self.conv(x))", part="self.part = Part()"),
                "part.py": "class Part:\n    pass\n",
                "other.py": net("self.part(x)", part="self.part = Part()") + net(UP, "Part"),
                "train.py": LEARNING + "import other\nprint(other.Net())\n",
            },
            ["note"],
        ),
        ({"net.py": MODES + net("up(x, 'smooth') + up(self.conv(x), 'sharp')")}, ["note"]),
        ({"net.py": MODES + net("up(self.conv(x), 'smooth') + up(x, 'sharp')")}, ["warning"]),
        ({"net.py": net(UP, given="self.drop(x)", part="self.drop = nn.Dropout()")}, ["note"]),
    ],
    ids=[
        "padded",
        "layer",
        "learned",
        "weight",
        "loss",
        "part",
        "part of learned",
        "in a container",
        "of another file",
        "of another class of the name",
        "by a name for it",
        "by a name for what is learned",
        "dropped out",
    ],
)
def test_the_input_of_a_network_has_no_gradient(files: dict[str, str], severities: list[str]) -> None:
    assert said({"train.py": LEARNING, **files}) == severities


BUILD: Final = """\
from torchvision.models import detection


def build(classes):
    model = detection.maskrcnn_resnet50_fpn(num_classes=classes)
    return model


def shown(classes):
    print(detection.maskrcnn_resnet50_fpn(num_classes=classes))
"""
USE: Final = """\
import torch
from build import build

model = build(3).cuda()
{}
"""
TRAINED: Final = """\
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for images, targets in torch.load("data.pt"):
    sum(model(images, targets).values()).backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("used", "severities"), [(TRAINED, ["warning"]), ("print(model(torch.load('data.pt')))", [])])
def test_a_model_that_a_function_returns_is_trained_by_the_program_that_takes_it(
    used: str, severities: list[str]
) -> None:
    assert said({"build.py": BUILD, "train.py": USE.format(used)}) == severities
