"""Samplers of distributed runs and loops over epochs, as people write them, and what the fix makes of them."""

from __future__ import annotations

from types import ModuleType

import pytest

from detlint.applying import fixer
from detlint.applying.fixer import Settings

from .support import codes, report, snippets

SNIPPETS = snippets("epochs")


def fixed(text: str) -> str:
    outcome = fixer.fix_project(
        lambda new: [judged.finding for judged in report({"example.py": text, **new}, ("DET206",)).findings],
        lambda path: text,
        Settings(unsafe=True),
    )
    return next((change.new for change in outcome.changes), text)


def snippet(name: str) -> str:
    return next(each.text for each in SNIPPETS if each.name.endswith(name))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a sampler of batches around it", "    sampler.set_epoch(epoch)"),
        ("in a function for each epoch", "    train_sampler.set_epoch(epoch)"),
        ("a class that is given the loader", "            self.train_data.sampler.set_epoch(epoch)"),
        ("one of them for validation", "        train_loader.sampler.set_epoch(epoch)"),
    ],
)
def test_the_sampler_is_told_the_epoch_by_what_is_in_scope(name: str, line: str) -> None:
    text = snippet(name)
    lines = fixed(text).splitlines()
    assert [new for new in lines if new not in text.splitlines()] == [line]
    assert lines[lines.index(line) - 1].strip().startswith("for epoch in range")


@pytest.mark.parametrize("loop", ["for _ in range(epochs):", "while epoch < epochs:"])
def test_nothing_is_changed_where_the_loop_has_no_name_for_the_epoch(loop: str) -> None:
    text = snippet("a sampler of batches around it").replace("for epoch in range(10):", loop)
    assert len(codes(text, "DET206")) == 1
    assert fixed(text) == text


@pytest.mark.parametrize(
    "made",
    [
        "if distributed:\n    sampler = DistributedSampler(dataset)\n",
        "sampler = DistributedSampler(dataset) if distributed else None\ndel sampler\n",
    ],
)
def test_a_sampler_that_may_not_be_bound_is_left_alone(made: str) -> None:
    text = snippet("a sampler of batches around it").replace("sampler = DistributedSampler(dataset)  # DET206\n", made)
    assert "    sampler.set_epoch" not in fixed(text)


def test_a_name_for_two_loaders_is_left_alone() -> None:
    text = snippet("one of them for validation").replace("train_loader", "loader").replace("val_loader", "loader")
    assert codes(text, "DET206")
    assert fixed(text) == text


def test_each_loop_over_epochs_sets_the_epoch() -> None:
    text = snippet("in a function for each epoch")
    again = "\nfor epoch in range(2):\n    train(epoch)\n"
    assert fixed(text + again).count("train_sampler.set_epoch(epoch)") == 2


def test_the_epochs_have_one_order_before_the_fix_and_several_after_it(torch: ModuleType) -> None:
    text = """
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

loader = DataLoader(range(64), sampler=DistributedSampler(range(64), num_replicas=2, rank=1))
orders = []
for epoch in range(3):
    order = []
    for batch in loader:
        order.append(int(batch))
    orders.append(tuple(order))
"""
    before, after, again = (_orders(each) for each in (text, fixed(text), fixed(text)))
    assert len(set(before)) == 1
    assert len(set(after)) == 3
    assert after == again


def _orders(text: str) -> list[tuple[int, ...]]:
    names: dict[str, list[tuple[int, ...]]] = {}
    exec(text, names)
    return names["orders"]
