"""Small images as pairs of low and high resolution."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np

Image = import_module("PIL.Image")  # has no types where the project is checked

_VERSION = '__version__ = "1.4.2"\n__gitsha__ = "unknown"\nversion_info = (1, 4, 2)\n'


def super_resolution(root: Path) -> None:
    """Write pairs to train and test on at four times the resolution.

    Args:
        root: root of the repository's copy.
    """
    _version(root)
    sets = root / "datasets"
    places = [
        (sets / "DF2K/DIV2K_train_HR_sub", sets / "DF2K/DIV2K_train_LR_bicubic_X4_sub", 6, 96),
        (sets / "Set5/GTmod12", sets / "Set5/LRbicx4", 2, 208),
        (sets / "Set14/GTmod12", sets / "Set14/LRbicx4", 2, 208),
    ]
    for seed, (high, low, count, side) in enumerate(places):
        pairs(high, low, count, side, scale=4, seed=seed)


def super_resolution_adversarial(root: Path) -> None:
    """Write pairs in the folders of the adversarial training's options.

    Args:
        root: root of the repository's copy.
    """
    _version(root)
    sets = root / "datasets"
    train = sets / "DIV2K/DIV2K_train_HR_sub"
    pairs(train, sets / "DIV2K/DIV2K_train_LR_bicubic/X4_sub", 4, side=128, scale=4, seed=3)
    pairs(sets / "Set14/GTmod12", sets / "Set14/LRbicx4", 2, side=96, scale=4, seed=4)


def pairs(high: Path, low: Path, count: int, side: int, scale: int, seed: int) -> None:
    """Write square images of smooth colours with noise, and the same reduced.

    Args:
        high: folder for the images of high resolution.
        low: folder for the reduced ones.
        count: number of images.
        side: width and height of an image of high resolution, in pixels.
        scale: how much smaller the others are.
        seed: seed of the colours.
    """
    numbers = np.random.default_rng(seed)
    for folder in (high, low):
        folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        coarse = Image.fromarray(numbers.integers(0, 256, (6, 6, 3), dtype=np.uint8))
        smooth = np.asarray(coarse.resize((side, side), Image.Resampling.BICUBIC), dtype=np.int16)
        noisy = (smooth + numbers.integers(-10, 11, smooth.shape)).clip(0, 255).astype(np.uint8)
        image = Image.fromarray(noisy)
        name = f"{number:04d}.png"
        image.save(high / name)
        image.resize((side // scale, side // scale), Image.Resampling.BICUBIC).save(low / name)


def _version(root: Path) -> None:
    """Write the module that an installation generates and an import needs."""
    (root / "basicsr/version.py").write_text(_VERSION)
