"""Rows of `rules/libraries/`: what a program draws through its libraries."""

from __future__ import annotations

import pytest

from detlint import catalogue, rulebook
from tests.support import codes

LAYER = """\
import torch
from timm.layers import DropPath

layer = DropPath({}){}
print(layer(torch.ones(8, 3)))
"""


@pytest.mark.parametrize(
    ("rate", "methods", "found"),
    [
        ("0.1", "", [(5, "DET101")]),
        ("0.1", ".train()", [(5, "DET101")]),
        ("drop_prob=0.1", ".to('cuda').train(True)", [(5, "DET101")]),
        ("0.1", ".eval()", []),
        ("0.1", ".cuda().train(False)", []),
        ("", "", []),
        ("0.0", "", []),
    ],
)
def test_a_layer_of_a_library_has_the_methods_of_modules(rate: str, methods: str, found: list[tuple[int, str]]) -> None:
    assert codes(LAYER.format(rate, methods), "DET101") == found


ERASING = """\
import random

import torch
from timm.data.random_erasing import RandomErasing

{}
erase = RandomErasing(probability=1.0)
print(erase(torch.ones(8, 3, 32, 32)))
"""


@pytest.mark.parametrize(
    ("seeds", "found"),
    [
        ("pass", [(8, "DET101"), (8, "DET103")]),
        ("torch.manual_seed(0)", [(8, "DET103")]),
        ("random.seed(0)", [(8, "DET101")]),
        ("torch.manual_seed(0); random.seed(0)", []),
    ],
)
def test_what_draws_from_two_generators_needs_both_seeded(seeds: str, found: list[tuple[int, str]]) -> None:
    assert sorted(codes(ERASING.format(seeds), "DET101", "DET102", "DET103")) == found


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("tio.SubjectsDataset(subjects, transform=RandomErasing())", [(7, "DET103")]),
        ("tio.SubjectsDataset(subjects)", []),
        ("tio.Queue(subjects, 100, RandomErasing())", []),
    ],
)
def test_a_data_set_of_a_library_applies_its_transforms(made: str, found: list[tuple[int, str]]) -> None:
    text = f"""\
import torchio as tio
from timm.data.random_erasing import RandomErasing
from torch.utils.data import DataLoader

subjects = []
data = {made}
for batch in DataLoader(data):
    print(batch)
"""
    assert codes(text, "DET103") == found


@pytest.mark.parametrize(
    ("before", "seed", "found"),
    [
        ("pass", "", [(5, "DET101")]),
        ("pass", ", seed=0", []),
        ("pass", ", seed=None", [(5, "DET101")]),
        ("torch.manual_seed(0)", "", []),
        ("torch.manual_seed(0)", ", seed=None", []),
    ],
)
def test_what_draws_seeds_by_its_own_argument_first(before: str, seed: str, found: list[tuple[int, str]]) -> None:
    text = f"""\
import torch
from stable_baselines3 import PPO

{before}
model = PPO("MlpPolicy", "CartPole-v1"{seed})
print(torch.rand(2))
"""
    assert codes(text, "DET101") == found


@pytest.mark.parametrize(
    ("task", "more", "found"),
    [
        ("'text-generation'", "", [(4, "DET101")]),
        ("task='text-generation'", ", num_return_sequences=3", [(4, "DET101")]),
        ("'text-generation'", ", do_sample=False", []),
        ("'summarization'", "", []),
        ("'summarization'", ", do_sample=True", [(4, "DET101")]),
    ],
)
def test_each_row_of_a_name_has_conditions_of_its_own(task: str, more: str, found: list[tuple[int, str]]) -> None:
    text = f"""\
from transformers import pipeline

answer = pipeline({task}, model="gpt2")
print(answer("Hello, I am", max_new_tokens=20{more}))
"""
    assert codes(text, "DET101") == found


def test_a_seed_is_seen_wherever_it_may_be_given() -> None:
    known = catalogue.load()
    seeders = [row for row in known.rows("randomness", "seeder") if row.text("parameter")]
    missing = {name for row in seeders for name in row.list("names") if name not in known.signatures}
    assert len(seeders) > 20 and not missing, "a seed by position would be taken for none"


def test_a_library_adds_to_tables_that_there_are() -> None:
    tables = {"randomness": {"consumer": [{"id": "one"}]}}
    rulebook._add(tables, "a", {"randomness": {"consumer": [{"id": "two"}]}})
    assert tables["randomness"]["consumer"] == [{"id": "one"}, {"id": "two", "file": "a"}]
    with pytest.raises(ValueError, match=r"a\.toml: there is no table 'drawn' in facts/randomness\.toml"):
        rulebook._add(tables, "a", {"randomness": {"drawn": [{"id": "two"}]}})
