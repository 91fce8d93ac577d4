"""Small digits, and checkpoints of untrained networks that tell them apart."""

from __future__ import annotations

from pathlib import Path

import torch

from . import images

_LINEAR = ((784, 64), (64, 128), (128, 64), (64, 10))


def lightning(root: Path) -> None:
    """Write 240 digits to train on and 60 to test.

    Args:
        root: root of the repository's copy.
    """
    images.mnist(root, train=240, test=60)


def lightning_checkpoint(root: Path) -> None:
    """Write the digits and a checkpoint of an untrained dense network.

    Args:
        root: root of the repository's copy.
    """
    lightning(root)
    drawn = torch.Generator().manual_seed(31)
    state: dict[str, torch.Tensor] = {}
    for number, (before, after) in enumerate(_LINEAR):
        linear, norm = f"net.model.{3 * number}", f"net.model.{3 * number + 1}"
        state[f"{linear}.weight"] = torch.randn(after, before, generator=drawn) * before**-0.5
        state[f"{linear}.bias"] = torch.zeros(after)
        if number < len(_LINEAR) - 1:
            state |= {f"{norm}.weight": torch.ones(after), f"{norm}.bias": torch.zeros(after)}
            state |= {f"{norm}.running_mean": torch.zeros(after), f"{norm}.running_var": torch.ones(after)}
            state[f"{norm}.num_batches_tracked"] = torch.tensor(0)
    checkpoint = {"state_dict": state, "pytorch-lightning_version": "2.0.0", "epoch": 0, "global_step": 0}
    torch.save(checkpoint, root / "untrained.ckpt")
