"""Pictures where single programs look for them, most of them made by `images`."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import torch

from ..child import imports
from . import images, text

Image = import_module("PIL.Image")  # has no types where the project is checked


def split(root: Path) -> None:
    """Write two classes of pictures to train with and to validate to `small/train` and `small/val`."""
    images.folders(root, "small/train", pictures=12)
    images.folders(root, "small/val", pictures=6)


def timm_model(root: Path) -> None:
    """The pictures of `split`, and an untrained model of timm's for two classes in `small/model.pth`."""
    split(root)
    imports.install(None)
    sys.path.insert(0, str(root))
    torch.manual_seed(0)
    timm = import_module("timm")
    torch.save(timm.create_model("resnet10t", num_classes=2).state_dict(), root / "small/model.pth")


def ignite_mnist(root: Path) -> None:
    """MNIST in the working folder of ignite's examples."""
    images.mnist(root, "examples/mnist", train=256, test=64)


def ignite_pictures(root: Path) -> None:
    """A folder of pictures for each class beside ignite's adversarial network."""
    images.folders(root, "examples/gan/small", size=72, classes=3, pictures=70)


def lightning_basics(root: Path) -> None:
    """MNIST for Lightning's basic examples, which split 60,000 pictures by number, and a little one that they try first."""
    images.mnist(root, "examples/Datasets", train=60000, test=64)
    images.mnist(root, "examples/pytorch/basics/data", train=64, test=64)


def lightning_fabric(root: Path) -> None:
    """MNIST where the examples of Lightning's Fabric look for it."""
    images.mnist(root, "Datasets", train=256, test=64)


def book_ignite(root: Path) -> None:
    """MNIST beside the thirteenth chapter, with some pictures more than the 10,000 that it validates with."""
    images.mnist(root, "ch13", train=10256, test=64)


def captions(root: Path, pictures: int = 16) -> None:
    """Write pictures and a table of their paths and captions to `small`."""
    images.folders(root, "small/pictures", classes=1, pictures=pictures)
    lines = text.sentences(pictures).splitlines()
    rows = [f"small/pictures/class0/{number:03}.jpg\t{line}" for number, line in enumerate(lines)]
    (root / "small/captions.csv").write_text("\n".join(["filepath\ttitle", *rows]) + "\n", encoding="utf-8")


def boxes(root: Path, pictures: int = 8, size: int = 96) -> None:
    """Write pictures with two boxes each, in YOLO's form, and the file that describes them to `small`."""
    random = np.random.default_rng(0)
    for part in ("train", "val"):
        for kind in ("images", "labels"):
            (root / "small" / kind / part).mkdir(parents=True)
        for number in range(pictures):
            pixels = random.integers(0, 256, (size, size, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(root / "small/images" / part / f"{number:03}.jpg")
            rows = [
                f"{box} {0.3 + 0.4 * random.random():.3f} {0.3 + 0.4 * random.random():.3f} 0.4 0.5\n"
                for box in range(2)
            ]
            (root / "small/labels" / part / f"{number:03}.txt").write_text("".join(rows), encoding="utf-8")
    (root / "small/data.yaml").write_text(
        "train: small/images/train\nval: small/images/val\nnc: 2\nnames: [ant, bee]\n", encoding="utf-8"
    )
