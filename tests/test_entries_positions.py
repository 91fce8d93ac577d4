"""`detlint entries`: which of several things that are made together stands where."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import told

LOADERS = """
    import itertools
    from collections import namedtuple
    from torch.utils.data import DataLoader

    Loaders = namedtuple("Loaders", "train val")


    def make(split):
        return DataLoader([1, 2], shuffle=split == "train")


    def same(one):
        return one


    class Keeper:
        def prepare(self, *args):
            result = tuple(self.one(each, flag) for each, flag in zip(args, [None for _ in args]))
            return result if len(result) > 1 else result[0]

        def one(self, each, flag):
            return each


    {made}
    for batch in {gone_through}:
        print(batch)
    """


@pytest.mark.parametrize(
    "made",
    [
        "train, val = [make(s) for s in ('train', 'val')]",
        "train, val = tuple(make(s) for s in ('train', 'val'))",
        "train, val = (DataLoader([1], shuffle=s) for s in (True, False))",
        "train, val = list(map(make, ['train', 'val']))",
        "train, val = [make(s) for i, s in enumerate(('train', 'val'))]",
        "train, val = [DataLoader(d, shuffle=s) for d, s in zip(([1], [2]), (True, False))]",
        "train, val = [same(one) for one in (make('train'), make('val'))]",
        "train, val = Keeper().prepare(make('train'), make('val'))",
        "val, train = Keeper().prepare(make('val'), make('train'))",
        "train, val = map(same, [make('train'), make('val')])",
        "train, val = Loaders(*[make(s) for s in ('train', 'val')])",
        "train, val = list((make('train'), make('val')))",
        "made = dict(zip(('train', 'val'), (make('train'), make('val')))); train, val = made['train'], made['val']",
    ],
)
def test_loaders_that_are_made_together_are_told_apart(tmp_path: Path, made: str) -> None:
    shuffled = told(tmp_path, LOADERS.format(made=made, gone_through="train"))
    assert shuffled["generators"]["torch"]["state"] == "unseeded"
    assert told(tmp_path, LOADERS.format(made=made, gone_through="val"))["generators"]["torch"]["state"] == "unused"


def test_what_a_filter_leaves_is_not_told_apart(tmp_path: Path) -> None:
    made = "first = [make(s) for s in ('train', 'val') if s in open('splits').read()][0]"
    assert told(tmp_path, LOADERS.format(made=made, gone_through="first"))["generators"]["torch"]["state"] == "unseeded"


def test_a_list_that_is_reversed_has_its_first_item_last(tmp_path: Path) -> None:
    made = "val, train = [same(one) for one in reversed((make('train'), make('val')))]"
    assert told(tmp_path, LOADERS.format(made=made, gone_through="train"))["generators"]["torch"]["state"] == "unseeded"
