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


def forward_forward(root: Path) -> None:
    """MNIST in the working folder of the example."""
    mnist(root, "mnist_forward_forward/data")


def bsds(root: Path) -> None:
    """Photographs as BSDS300 has them, where the example of super resolution looks for them."""
    random = np.random.default_rng(0)
    for part, count in (("train", 12), ("test", 4)):
        place = root / "super_resolution/dataset/BSDS300/images" / part
        place.mkdir(parents=True)
        for number in range(count):
            Image.fromarray(random.integers(0, 256, (321, 481, 3), dtype=np.uint8)).save(place / f"{number:05}.jpg")


def voc(root: Path, folder: str, classes: tuple[str, ...], pictures: int = 12, size: int = 300) -> None:
    """Write pictures with two boxes each, in the form of the VOC challenge, and the lists of those to train and test."""
    random = np.random.default_rng(0)
    place = root / folder
    for part in ("Annotations", "JPEGImages", "ImageSets/Main"):
        (place / part).mkdir(parents=True)
    names = [f"{number:06}" for number in range(pictures)]
    for number, name in enumerate(names):
        pixels = random.integers(0, 256, (size, size, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(place / "JPEGImages" / f"{name}.jpg")
        boxes = []
        for box in range(2):
            x, y = random.integers(1, size // 2, 2)
            corners = f"<xmin>{x}</xmin><ymin>{y}</ymin><xmax>{x + size // 3}</xmax><ymax>{y + size // 3}</ymax>"
            label = classes[(number + box) % len(classes)]
            boxes.append(
                f"<object><name>{label}</name><difficult>0</difficult><bndbox>{corners}</bndbox></object>",
            )
        (place / "Annotations" / f"{name}.xml").write_text(f"<annotation>{''.join(boxes)}</annotation>", "utf-8")
    half = len(names) // 2
    for part, chosen in (("trainval", names[:half]), ("test", names[half:])):
        (place / "ImageSets/Main" / f"{part}.txt").write_text("\n".join(chosen), "utf-8")
