"""Probes of data loading: shuffling, splitting and sampling, and what loader workers draw and return."""

from __future__ import annotations

import inspect
import random
import time
from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Kind, Probe, Run, UnavailableError
from detlint.verify.probes.named import named

if TYPE_CHECKING:
    from detlint.verify.bench import Bench

_COUNT = 64


class Entropy:
    """A data set whose items are draws from an unseeded NumPy generator, made anew for each item."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> float:
        import numpy as np

        return float(np.random.default_rng().random())


class Slow:
    """A data set whose items take an unpredictable time to load, up to 10 ms."""

    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> int:
        time.sleep(random.SystemRandom().random() / 100)
        return index


def _shuffle(bench: Bench) -> Run:
    numbers = range(_COUNT)
    return named(bench, "torch.utils.data", {"DataLoader": lambda loader: list(loader(numbers, 8, shuffle=True))})


def _samplers(bench: Bench) -> Run:
    replacement = bench.given("replacement", True)
    count = min(bench.given("num_samples", None) or _COUNT, _COUNT)
    return named(
        bench,
        "torch.utils.data",
        {
            "RandomSampler": lambda sampler: list(sampler(range(_COUNT))),
            "WeightedRandomSampler": lambda sampler: list(sampler([1.0] * _COUNT, count, replacement)),
            "SubsetRandomSampler": lambda sampler: list(sampler(range(_COUNT))),
        },
    )


def _split(bench: Bench) -> Run:
    sizes = [_COUNT // 4, _COUNT - _COUNT // 4]
    return named(
        bench,
        "torch.utils.data",
        {"random_split": lambda split: [list(part) for part in split(range(_COUNT), sizes)]},
    )


def _sampler_beside_generator(bench: Bench) -> Run:
    import torch
    from torch.utils.data import DataLoader, RandomSampler

    numbers: Any = range(_COUNT)

    def run() -> list[Any]:
        generator = torch.Generator().manual_seed(0)
        return list(DataLoader(numbers, batch_size=8, sampler=RandomSampler(numbers), generator=generator))

    return run


def _workers(bench: Bench) -> Run:
    from torch.utils.data import DataLoader

    bench.package("numpy")
    loader: Any = DataLoader(Entropy(), num_workers=2)  # type: ignore[arg-type]
    return lambda: list(loader)


def _unordered(bench: Bench) -> Run:
    from torch.utils.data import DataLoader

    if "in_order" not in inspect.signature(DataLoader).parameters:
        raise UnavailableError("DataLoader of this version has no in_order")
    loader: Any = DataLoader(Slow(), num_workers=2, in_order=bench.given("in_order", False))  # type: ignore[arg-type]
    return lambda: list(loader)


def _distributed(bench: Bench) -> Run:
    from torch.utils.data.distributed import DistributedSampler

    shuffle, seed = bench.given("shuffle", True), bench.given("seed", 0)
    sampler: Any = DistributedSampler(range(_COUNT), 2, 0, shuffle=shuffle, seed=seed)  # type: ignore[arg-type]
    return lambda: [list(sampler), list(sampler)]


PROBES: dict[str, Probe] = {
    "torch.loader-shuffle": Probe(_shuffle, kind=Kind.DRAWS),
    "torch.random-sampler": Probe(_samplers, kind=Kind.DRAWS),
    "torch.random-split": Probe(_split, kind=Kind.DRAWS),
    "dataloader.sampler_gen": Probe(_sampler_beside_generator, kind=Kind.DRAWS),
    "dataloader.workers": Probe(_workers, kind=Kind.DRAWS),
    "dataloader.in_order": Probe(_unordered),
    "dataloader.distributed": Probe(_distributed, kind=Kind.PROCESSES),
}
