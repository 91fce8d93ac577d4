"""What a step of training costs with PyTorch's deterministic mode on, and while bisect records it, on a CPU."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from typing import Any

import torch

from tests.tools.overhead import MODELS, measure, times

_PROCESSES, _TURNS = 3, 3


def overhead() -> dict[str, Any]:
    """The ratio of each to a plain step, by model: medians of some processes, as recording cannot be undone."""
    models = {}
    for name in MODELS:
        found = [_alone(name) for _ in range(_PROCESSES)]
        models[name] = {key: statistics.median(each[key] for each in found) for key in found[0]}
    return {"processes": _PROCESSES, "models": models}


def _alone(name: str) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.tools.pictures.overhead", name]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    print(name, found, flush=True)
    return found


def _ratios(name: str) -> dict[str, float]:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    build, count = MODELS[name]
    step = build()
    times(step, 3)
    plain, strict = [], []
    for _ in range(_TURNS):
        torch.use_deterministic_algorithms(False)
        plain += times(step, count)
        torch.use_deterministic_algorithms(True)
        strict += times(step, count)
    torch.use_deterministic_algorithms(False)
    mode = min(strict) / min(plain)
    recorded = measure(name)
    return {
        "plain_ms": round(recorded.plain, 3),
        "deterministic": round(mode, 3),
        "recorded": round(recorded.recorded / recorded.plain, 3),
    }


if __name__ == "__main__":
    print(json.dumps(_ratios(sys.argv[1])))
