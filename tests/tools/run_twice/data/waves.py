"""Small time series."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch


def sines(root: Path) -> None:
    """Sines of random phase, fewer and shorter than the example of pytorch makes them."""
    phase = np.random.default_rng(0).integers(-80, 80, (8, 1))
    waves = np.sin((np.arange(60) + phase) / 20)
    torch.save(waves, root / "time_sequence_prediction/traindata.pt")
