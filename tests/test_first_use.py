"""The other places of findings: where an object that is made is used first, where a gradient that differs is taken."""

from __future__ import annotations

import pytest

from .support import report

IMGAUG = "import imgaug.augmenters as iaa\n\naugment = iaa.Sequential([iaa.Fliplr(0.5)])\n"
DGL = "import dgl\n\nsampler = dgl.dataloading.NeighborSampler([5])\n"
MAMBA = "from mamba_ssm import Mamba\n\nlayer = Mamba(d_model=64)"
ATTRIBUTE = """import torch, mamba_ssm


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = mamba_ssm.Mamba(d_model=64).to("cuda")

    def forward(self, x):
        return self.layer(x)


class Other:
    def forward(self, x):
        return self.layer(x)
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (IMGAUG + "print(augment)\naugment(image=x)\naugment(image=y)\n", 5),
        (IMGAUG + "print(augment)\n", None),
        ("import imgaug.augmenters as iaa\n\niaa.Sequential([iaa.Fliplr(0.5)])(image=x)\n", 3),
        (IMGAUG + "for _ in range(3):\n    keep = Wrapped(augment)\n\n\ndef f(x):\n    return augment(image=x)\n", 9),
        (
            DGL
            + "loader = dgl.dataloading.DataLoader(g, ids, sampler)\nprint(loader)\nfor batch in loader:\n    pass\n",
            6,
        ),
        (
            DGL
            + "loader = dgl.dataloading.DataLoader(g, ids, sampler)\nfor i, batch in enumerate(loader):\n    pass\n",
            5,
        ),
        (DGL + "number = len(sampler)\nfor i in range(number):\n    pass\n", None),
        ("from sklearn.cluster import KMeans\n\nmodel = KMeans(2)\nmodel.set_output()\nmodel.fit(x)\n", 5),
        (MAMBA + ".parameters()\nlayer(x).sum().backward()\n", None),
        (ATTRIBUTE, 10),
    ],
)
def test_a_finding_tells_where_what_it_speaks_of_is_used_first(text: str, line: int | None) -> None:
    program = f"{text}\nif __name__ == '__main__':\n    print()\n"
    (found,) = report({"train.py": program}, ("DET107", "DET302")).findings
    assert [related.place.line for related in found.finding.related] == [line] * (line is not None)


SPLATS = "import torch\nfrom gsplat import rasterization\n\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (MAMBA + ".cuda()\nlayer(x).sum().backward()\n", [4, 4]),
        (MAMBA + ".cuda()\ny = layer(x)\nloss = y.sum()\nprint(loss)\nloss.backward()\n", [4, 7]),
        (SPLATS + "image, alpha, meta = rasterization(*a)\nloss = (image - b).mean()\nloss.backward()\n", [6]),
        (
            SPLATS + "image, alpha, meta = rasterization(*a)\nloss = 0\nloss += image.mean()\nengine.backward(loss)\n",
            [7],
        ),
        (SPLATS + "kept.image = rasterization(*a)\nother.backward()\n", []),
    ],
)
def test_a_finding_on_a_gradient_tells_where_it_is_taken(text: str, lines: list[int]) -> None:
    (found,) = report({"train.py": text}, ("DET302",)).findings
    assert [related.place.line for related in found.finding.related] == lines
