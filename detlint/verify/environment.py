"""The environment of a measurement: what else must be equal for the measurement to apply elsewhere."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from importlib.util import find_spec

_THREADS = (4, 8)  # CPU threads: minimum and maximum
_PACKAGES = ("numpy", "triton", "flash-attn", "torch-scatter", "torch-geometric", "torchvision", "xformers")


def obstacle(device: str) -> str:
    """Return why nothing can run on a device: torch is missing, or does not know the device's name; else ""."""
    if find_spec("torch") is None:
        return f"PyTorch is not installed for {sys.executable}, which runs detlint"
    import torch

    try:
        torch.device(device)
    except RuntimeError:
        return f"torch knows no device {device!r}; give one such as cpu, cuda, cuda:1, mps, xpu"
    return ""


def describe(device: str) -> dict[str, str]:
    """Prepare a device; describe it and the versions that decide which kernels run, with "" for what is absent.

    The value of `device` is the model's name, and that of `type` is torch's word for its kind. Raises what torch raises
    if there is no such device.
    """
    import torch

    place = torch.device(device)
    torch.zeros(1, device=place)
    if place.type == "cpu":
        torch.set_num_threads(threads())
    found = {
        "device": _name(place.type, device),
        "type": place.type,
        "torch": torch.__version__,
        "cuda": torch.version.cuda or "" if place.type == "cuda" else "",
        "cudnn": str(torch.backends.cudnn.version() or "") if place.type == "cuda" else "",  # type: ignore[no-untyped-call]
        "hip": torch.version.hip or "" if place.type == "cuda" else "",
        "threads": str(torch.get_num_threads()) if place.type == "cpu" else "",
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
    }
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def threads() -> int:
    """Return how many CPU threads an operation gets: the number of cores, but at least 4 and at most 8.

    On two busy cores, two threads raced in no run of 48, and four raced in the second run of each process. Threads
    sleep while they wait, so four take no more time.
    """
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return min(max(cores, _THREADS[0]), _THREADS[1])


def _name(kind: str, device: str) -> str:
    import torch

    if kind == "cpu":
        return f"CPU {platform.machine()} {torch.backends.cpu.get_cpu_capability()}"
    name = getattr(getattr(torch, kind, None), "get_device_name", None)
    return kind if name is None else str(name(device))
