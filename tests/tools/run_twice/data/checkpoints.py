"""Checkpoints of untrained models, made by the program's own code, for programs that load one."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch

from . import images, text
from .images import Image


def _module(root: Path, name: str) -> Any:
    """A module of the repository; the process that makes data imports nothing else."""
    sys.path.insert(0, str(root))
    torch.manual_seed(0)
    return import_module(name)


def nanogpt_text(root: Path) -> None:
    """The text that the character model is trained on, in place of Shakespeare."""
    (root / "data/shakespeare_char/input.txt").write_text(text.sentences(400), encoding="utf-8")


def nanogpt_tokens(root: Path) -> None:
    """The text as tokens, made by the repository's own script."""
    nanogpt_text(root)
    _module(root / "data/shakespeare_char", "prepare")


def nanogpt_model(root: Path) -> None:
    """An untrained model of characters to sample from."""
    nanogpt_tokens(root)
    letters = len(set((root / "data/shakespeare_char/input.txt").read_text("utf-8")))
    shape = {
        "n_layer": 2,
        "n_head": 2,
        "n_embd": 32,
        "block_size": 64,
        "bias": False,
        "vocab_size": letters,
        "dropout": 0.0,
    }
    model = _module(root, "model")
    made = model.GPT(model.GPTConfig(**shape)).state_dict()
    (root / "out").mkdir()
    torch.save({"model_args": shape, "model": made, "config": {"dataset": "shakespeare_char"}}, root / "out/ckpt.pt")


def hifigan(root: Path) -> None:
    """A generator with the smallest of the published configurations, and spectrograms for it."""
    config = json.loads((root / "config_v3.json").read_text("utf-8"))
    (root / "small").mkdir()
    (root / "small/config.json").write_text(json.dumps(config), encoding="utf-8")
    generator = _module(root, "models").Generator(Namespace(**config))
    torch.save({"generator": generator.state_dict()}, root / "small/g_00000000")
    (root / "test_mel_files").mkdir()
    random = np.random.default_rng(0)
    for number in range(6):
        np.save(root / f"test_mel_files/{number}.npy", random.normal(size=(1, 80, 20)).astype(np.float32))


def esm(root: Path) -> None:
    """A small ESM-2, without the weights of the regression on contacts."""
    model = _module(root, "esm.model.esm2").ESM2(num_layers=2, embed_dim=32, attention_heads=4)
    config = Namespace(encoder_layers=2, encoder_embed_dim=32, encoder_attention_heads=4, token_dropout=True)
    state = {name: each for name, each in model.state_dict().items() if "contact_head" not in name}
    torch.save({"cfg": {"model": config}, "model": state}, root / "esm2_small_500K.pt")


def ssd_images(root: Path) -> None:
    """A data set of the form of VOC."""
    images.voc(root, "small", classes=("aeroplane", "bicycle", "bird"))


def ssd_model(root: Path) -> None:
    """A data set, an untrained detector for it, and the names of its classes."""
    ssd_images(root)
    names = ["BACKGROUND", "aeroplane", "bicycle", "bird"]
    (root / "small/names.txt").write_text("\n".join(names), encoding="utf-8")
    detector = _module(root, "vision.ssd.mobilenetv1_ssd").create_mobilenetv1_ssd(len(names))
    torch.save(detector.state_dict(), root / "small/detector.pth")
    Image.new("RGB", (320, 240), "teal").save(root / "small/picture.jpg")
