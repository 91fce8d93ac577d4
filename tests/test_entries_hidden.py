"""`detlint entries`: parameters that a call may give by keywords that are not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import told
from tests.test_entries_mappings import after, findings

HIDDEN = """
    import json
    import random
    import torch
    from torch.utils.data import DataLoader

    given = json.load(open("given.json"))


    """


@pytest.mark.parametrize(
    "body",
    [
        "def use(mask=''):\n    if mask:\n        print(random.random())\n",
        "def use(mask=''):\n    print(random.random() if mask else 0)\n",
        "def use(mask=''):\n    mask and print(random.random())\n",
        "def some():\n    return random.random()\n\n\ndef use(mask=''):\n    draw = some if mask else None\n    draw and draw()\n",
    ],
)
def test_what_only_an_unknown_mapping_turns_on_is_no_error(tmp_path: Path, body: str) -> None:
    program = after(HIDDEN, f"{body}\n\nuse(**given)\n")
    assert [code for _, code, _ in findings(tmp_path, program) if code == "DET103"] == []


def test_what_an_unknown_mapping_may_turn_off_is_found(tmp_path: Path) -> None:
    body = "def use(noise=True):\n    if noise:\n        print(random.random())\n\n\nuse(**given)\n"
    (found,) = (each for each in findings(tmp_path, after(HIDDEN, body)) if each[1] == "DET103")
    assert found[2] == "error"


@pytest.mark.parametrize(
    "seeds",
    [
        "    if seed is not None:\n        random.seed(seed)\n",
        "    if seed is None:\n        return\n    random.seed(seed)\n",
        "    if seed:\n        random.seed(seed)\n",
        "    random.seed(seed)\n",
        "    seed is None or random.seed(seed)\n",
    ],
)
def test_a_seed_that_an_unknown_mapping_may_give_is_perhaps_given(tmp_path: Path, seeds: str) -> None:
    body = f"def start(seed=None):\n{seeds}\n\nstart(**given)\nprint(random.random())\n"
    program = after(HIDDEN, body)
    assert told(tmp_path, program)["generators"]["python"]["state"] == "optional"
    assert [code for _, code, _ in findings(tmp_path, program) if code == "DET103"] == []


def test_a_generator_that_an_unknown_mapping_may_give_is_not_seen(tmp_path: Path) -> None:
    body = """
        def make(data, seed=None, generator=None):
            made = None
            if seed is not None:
                made = torch.Generator().manual_seed(seed)
            DataLoader(data, generator=made)
            DataLoader(data, generator=generator)


        make([1], **given)
        """
    loaders = told(tmp_path, after(HIDDEN, body))["loaders"]
    assert loaders == {"total": 2, "with_generator": 0, "with_worker_init": 0}


def test_attributes_that_an_unknown_mapping_sets_are_not_known(tmp_path: Path) -> None:
    body = """
        class Settings:
            def __init__(self, values=None):
                self.noise = True
                if values is not None:
                    for name, value in values.items():
                        setattr(self, name, value)

        if not Settings(**given).noise:
            random.seed(0)
        print(random.random())
        """
    assert told(tmp_path, after(HIDDEN, body))["generators"]["python"]["state"] == "optional"


def test_what_an_unknown_mapping_leads_to_is_not_taken_for_what_is_usual(tmp_path: Path) -> None:
    body = """
        def start(seed=None, shuffle=None):
            if seed is None:
                seed = 7
            if shuffle is None:
                shuffle = True
            print([batch for batch in DataLoader([1], shuffle=shuffle)])
            random.seed(seed)

        start(**given)
        print(random.random())
        """
    generators = told(tmp_path, after(HIDDEN, body))["generators"]
    assert (generators["torch"]["state"], generators["python"]["state"]) == ("unused", "seeded")
