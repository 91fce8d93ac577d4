"""Small images: the files of MNIST, folders of pictures by class."""

from __future__ import annotations

import struct
from importlib import import_module
from pathlib import Path

import numpy as np

Image = import_module("PIL.Image")  # has no types where the project is checked


def mnist(root: Path, folder: str = "data", name: str = "MNIST", train: int = 512, test: int = 128) -> None:
    """Write the raw files of MNIST (or of a data set of its form) where torchvision looks for them."""
    random = np.random.default_rng(0)
    raw = root / folder / name / "raw"
    raw.mkdir(parents=True)
    for prefix, count in (("train", train), ("t10k", test)):
        pictures = random.integers(0, 256, (count, 28, 28), dtype=np.uint8)
        labels = random.integers(0, 10, count, dtype=np.uint8)
        header = struct.pack(">IIII", 0x803, count, 28, 28)
        (raw / f"{prefix}-images-idx3-ubyte").write_bytes(header + pictures.tobytes())
        (raw / f"{prefix}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 0x801, count) + labels.tobytes())


def folders(
    root: Path, folder: str, classes: int = 2, pictures: int = 8, size: int = 64, extension: str = "jpg"
) -> None:
    """Write a folder with a folder of pictures for each class, as `torchvision.datasets.ImageFolder` reads it."""
    random = np.random.default_rng(0)
    for number in range(classes):
        place = root / folder / f"class{number}"
        place.mkdir(parents=True)
        for picture in range(pictures):
            Image.fromarray(random.integers(0, 256, (size, size, 3), dtype=np.uint8)).save(
                place / f"{picture:03}.{extension}"
            )


def examples_mnist(root: Path) -> None:
    """MNIST beside the folder of each program, where examples of pytorch look for it."""
    mnist(root)
