"""What PyTorch's loaders do: the facts that the pages on data loading rest on."""

from __future__ import annotations

import time
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")
data: Any = pytest.importorskip("torch.utils.data")


class Slow:
    """The first item takes longer than all others together."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> int:
        time.sleep(1.5 if index == 0 else 0)
        return index


class Drawing:
    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> Any:
        return torch.rand(())


def epoch(loader: Any) -> list[float]:
    return [float(batch) for batch in loader]


def twice(loader: Any) -> list[list[float]]:
    """Two epochs, each from the same state of the global generator."""
    found = []
    for _ in range(2):
        torch.manual_seed(0)
        found.append(epoch(loader))
    return found


def test_several_workers_leave_the_order_and_one_keeps_it() -> None:
    orders = {workers: epoch(data.DataLoader(Slow(), num_workers=workers, in_order=False)) for workers in (0, 1, 2)}
    assert orders[0] == orders[1] == sorted(orders[2])
    assert orders[2] != orders[0]


def test_persistent_workers_are_seeded_once() -> None:
    first, second = twice(data.DataLoader(Drawing(), num_workers=1))
    assert first == second
    first, second = twice(data.DataLoader(Drawing(), num_workers=1, persistent_workers=True))
    assert first != second


def test_the_generator_of_a_loader_does_not_reach_a_sampler_that_it_is_given() -> None:
    def orders(with_sampler: bool) -> set[tuple[float, ...]]:
        found = set()
        for seed in range(4):
            torch.manual_seed(seed)
            made = {"sampler": data.RandomSampler(range(32))} if with_sampler else {"shuffle": True}
            found.add(tuple(epoch(data.DataLoader(range(32), generator=torch.Generator().manual_seed(0), **made))))
        return found

    assert len(orders(True)) == 4
    assert len(orders(False)) == 1


def test_a_generator_goes_on_from_epoch_to_epoch() -> None:
    loader = data.DataLoader(range(32), shuffle=True, generator=torch.Generator().manual_seed(0))
    first, second = twice(loader)
    assert first != second
    loader.generator.manual_seed(0)
    assert epoch(loader) == first
