"""Files analysed in processes: what one of them costs that ends, what travels, and when processes are worth it."""

from __future__ import annotations

import gc
import multiprocessing
import os
from pathlib import Path

import pytest
from packaging.version import Version

from detlint import catalogue, gathering
from detlint.analyse import Source, analyse, undisturbed
from detlint.cache.cache import Cache
from detlint.support import processes
from detlint.support.packing import pack, unpack
from detlint.tree.syntax import Node

TORCH = Version("2.13")
CODES = frozenset(catalogue.load().rules)
TEXT = """
import torch

class Net(torch.nn.Module):
    def forward(self, x, scale=-0.0, flag=True, count=1):
        return torch.bincount(x * scale), {"a": (None, b"b", ...), **self.more}

if __name__ == "__main__":
    print(Net()(torch.rand(3)))
"""


DOUBLED = [(1, 2), (3, 6), (4, 8), (5, 10), (13, None)]


def doubled(number: int) -> int:
    if number == 13:
        os._exit(9)
    return 2 * number


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("batches", [[[1, 13, 3], [4, 5]], [[1], [3, 4], [5, 13]], [[13], [1, 3, 4, 5]]])
def test_a_process_that_ends_costs_the_item_that_it_was_at(batches: list[list[int]], once: bool) -> None:
    assert sorted(processes.spread(doubled, batches, jobs=2, once=once)) == DOUBLED


def test_a_process_does_one_batch_where_that_is_asked_for() -> None:
    found = dict(processes.spread(lambda _: os.getpid(), [[1, 2], [3], [4]], jobs=2, once=True))
    assert found[1] == found[2]
    assert len(set(found.values())) == 3
    assert multiprocessing.active_children() == []


def test_processes_that_start_afresh_do_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("detlint.support.processes.forks", lambda: False)
    assert sorted(processes.spread(doubled, [[1, 3, 4], [5, 13]], jobs=1)) == DOUBLED


def test_processes_end_when_nobody_wants_the_rest() -> None:
    given = processes.spread(doubled, [[1]] * 9, jobs=2)
    assert next(given) == (1, 2)
    assert len(multiprocessing.active_children()) == 2
    del given
    assert multiprocessing.active_children() == []


def test_what_travels_arrives_as_it_was() -> None:
    collected = analyse(Source("train.py", "train", TEXT), CODES, TORCH)
    arrived = unpack(pack(collected))
    assert arrived == collected
    assert repr(arrived) == repr(collected)  # tells 1, True and 1.0 apart
    assert len(pack(collected)) < 15_000


@pytest.mark.slow
def test_the_syntax_of_a_file_lives_no_longer_than_its_analysis() -> None:
    def alive() -> int:
        return sum(issubclass(type(each), Node) for each in gc.get_objects())

    gc.collect()
    before = alive()
    with undisturbed():
        analyse(Source("train.py", "train", TEXT), CODES, TORCH)
        assert alive() == before


def collect(folder: Path, count: int, text: str) -> list[str]:
    items = [Source(str(folder / f"m{index}.py"), f"m{index}") for index in range(count)]
    for item in items:
        Path(item.path).write_text(text)
    cache = Cache(None, TORCH)
    return [each.path for each in gathering.collect(cache.read(items), CODES, TORCH, cache, jobs=2)]


def test_few_or_small_files_start_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("detlint.support.processes.spread", None)
    assert len(collect(tmp_path, 20, TEXT)) == 20
    assert len(collect(tmp_path, 1, "#\n" * 40_000)) == 1
    with pytest.raises(TypeError):
        collect(tmp_path, 3, "#\n" * 40_000)
