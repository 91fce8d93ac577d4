"""Checkpoints that one file of a program saves and another one resumes from."""

from __future__ import annotations

import pytest

from .support import report

TRAIN = """
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader
from saving import save
from loading import load

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume", default="")
    args = parser.parse_args()
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.Adam(model.parameters())
    start = 0
    if args.resume:
        start = load(args.resume, model, optimizer)
    for epoch in range(start, 10):
        {seed}
        for x in DataLoader(torch.ones(8, 4), shuffle={shuffle}):
            model(x).sum().backward()
            optimizer.step()
        save("last.pt", model, optimizer, epoch)

if __name__ == "__main__":
    main()
"""
SAVE = """
import torch

def save(path, model, optimizer, epoch, **more):
    {saved}
"""
LOAD = """
import torch

def load(path, model, optimizer):
    state = torch.load(path)
    model.load_state_dict(state["model"])
    {loaded}
    return state["epoch"] + 1
"""
DICT = 'torch.save({"optimizer": optimizer.state_dict(), "epoch": epoch, **more}, path)'
TAKEN = 'optimizer.load_state_dict(state["optimizer"])'


def found(
    *, saved: str = DICT, loaded: str = TAKEN, seed: str = "", shuffle: str = "True", **others: str
) -> list[tuple[str, str]]:
    texts = {
        "train.py": TRAIN.replace("{seed}", seed or "pass").replace("{shuffle}", shuffle),
        "saving.py": SAVE.replace("{saved}", saved),
        "loading.py": LOAD.replace("{loaded}", loaded),
    }
    texts |= {f"{name}.py": text for name, text in others.items()}
    findings = report(texts, ("DET701",)).findings
    return [(each.finding.place.path, each.severity.value) for each in findings]


@pytest.mark.parametrize(
    ("saved", "loaded"),
    [
        (DICT, TAKEN),
        ('torch.save({"optimizer": optimizer, "epoch": epoch}, path)', 'optimizer = state["optimizer"]'),
        ("torch.save(optimizer.state_dict(), path)", "optimizer.load_state_dict(torch.load(path))"),
        (
            'data = {"optimizer": optimizer.state_dict()}\n    data.update(more)\n    torch.save(data, path)',
            'optimizer.load_state_dict(state.pop("optimizer"))',
        ),
    ],
    ids=["with entries of others", "the optimizer itself", "the state by itself", "filled in"],
)
def test_what_one_file_saves_and_another_one_restores(saved: str, loaded: str) -> None:
    assert found(saved=saved, loaded=loaded) == [("saving.py", "warning")]


def test_it_is_a_note_where_the_program_draws_nothing() -> None:
    assert found(shuffle="False") == [("saving.py", "note")]


@pytest.mark.parametrize(
    ("saved", "loaded", "seed"),
    [
        (DICT, 'optimizer.load_state_dict(state["adam"])', ""),
        (DICT, "", ""),
        (DICT, TAKEN, "torch.manual_seed(epoch)"),
        (DICT, f"{TAKEN}\n    torch.set_rng_state(torch.load('b.pt'))", ""),
        ('torch.save({"model": model.state_dict(), "epoch": epoch, **more}, path)', TAKEN, ""),
    ],
    ids=["another key", "weights alone", "seeds of epochs", "another file restores generators", "weights alone saved"],
)
def test_it_is_silent(saved: str, loaded: str, seed: str) -> None:
    assert found(saved=saved, loaded=loaded, seed=seed) == []


def test_what_converts_a_checkpoint_resumes_nothing() -> None:
    texts = {"saving.py": SAVE.replace("{saved}", DICT), "loading.py": LOAD.replace("{loaded}", TAKEN)}
    texts["convert.py"] = (
        "from loading import load\nfrom saving import save\n\nsave('b', None, adam, load('a', None, adam))\n"
    )
    assert report(texts, ("DET701",)).findings == ()


def test_what_no_program_resumes_is_silent() -> None:
    assert found(loaded=f"pass\n\ndef other(state, optimizer):\n    {TAKEN}\n    return 0") == []


TRAINER = """
class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer, self.epoch = model, optimizer, 0

    def state_dict(self):
        return {"optimizer": self.optimizer.state_dict(), "epoch": self.epoch}

    def load_state_dict(self, state):
        self.optimizer.load_state_dict(state["optimizer"])
        self.epoch = state["epoch"]
"""
RUN = """
import torch
from torch import nn
from torch.utils.data import DataLoader
from trainer import Trainer

model = nn.Linear(4, 1)
trainer = Trainer(model, torch.optim.Adam(model.parameters()))
{resumed}
for epoch in range(trainer.epoch, 10):
    for x in DataLoader(torch.ones(8, 4), shuffle=True):
        model(x).sum().backward()
        trainer.optimizer.step()
    torch.save(trainer.state_dict(), "last.pt")
"""


def test_a_trainer_whose_state_another_file_saves() -> None:
    for resumed, expected in (("trainer.load_state_dict(torch.load('last.pt'))", ["trainer.py"]), ("", [])):
        texts = {"trainer.py": TRAINER, "run.py": RUN.replace("{resumed}", resumed)}
        assert [each.finding.place.path for each in report(texts, ("DET701",)).findings] == expected


STATES = """
import random
import torch

def states():
    return {"torch": torch.get_rng_state()}

def restore(found):
    {restored}
"""
KEEPS = """
import random
import torch
from torch import nn
from torch.utils.data import DataLoader
from states import restore, states

model = nn.Sequential(nn.Linear(4, 4), {layer}, nn.Linear(4, 1)){device}
optimizer = torch.optim.Adam(model.parameters())
state = torch.load("last.pt")
optimizer.load_state_dict(state["optimizer"])
restore(state["rng"])
for epoch in range(state["epoch"], 10):
    for x in DataLoader(torch.ones(8, 4), shuffle=True):
        {draw}
        model(x).sum().backward()
        optimizer.step()
    torch.save({"optimizer": optimizer.state_dict(), "epoch": epoch, "rng": states()}, "last.pt")
"""
PUT_BACK = 'torch.set_rng_state(found["torch"])'


def kept(
    *, restored: str = PUT_BACK, layer: str = "nn.ReLU()", device: str = "", draw: str = "pass"
) -> list[tuple[str, int, str]]:
    train = KEEPS.replace("{layer}", layer).replace("{device}", device).replace("{draw}", draw)
    texts = {"states.py": STATES.replace("{restored}", restored), "train.py": train}
    findings = report(texts, ("DET701",)).findings
    return [(each.finding.place.path, each.finding.place.line, each.severity.value) for each in findings]


@pytest.mark.parametrize(
    ("draw", "layer", "device", "expected"),
    [
        ("pass", "nn.ReLU()", "", []),
        ("random.shuffle([1, 2])", "nn.ReLU()", "", [("states.py", 6, "warning")]),
        ("pass", "nn.Dropout(0.5)", "", []),
        ("pass", "nn.Dropout(0.5)", ".cuda()", [("states.py", 6, "warning")]),
    ],
    ids=["nothing else", "of Python", "on the CPU", "on the GPU"],
)
def test_a_generator_that_training_draws_from_is_left_out(
    draw: str, layer: str, device: str, expected: list[tuple[str, int, str]]
) -> None:
    assert kept(draw=draw, layer=layer, device=device) == expected


def test_a_state_that_is_saved_and_put_back_nowhere() -> None:
    assert kept(restored="return found") == [("states.py", 6, "warning")]


def test_a_state_of_which_one_number_is_shown_is_not_saved() -> None:
    train = KEEPS.replace("{layer}", "nn.ReLU()").replace("{device}", "").replace("{draw}", "pass")
    states = STATES.replace("{restored}", PUT_BACK)
    shown = "import numpy as np\n\ndef shown(info):\n    info['seed'] = np.random.get_state()[1][0]\n    return info\n"
    texts = {"states.py": states + shown, "train.py": train}
    assert not report(texts, ("DET701",)).findings


def test_a_state_that_is_put_back_and_saved_nowhere() -> None:
    found = kept(restored='random.setstate(found["python"])', draw="random.random()")
    assert found == [("states.py", 6, "warning"), ("states.py", 9, "warning")]


ALONE = """
import torch
from torch import nn
from torch.utils.data import DataLoader
from helpers import other

model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters())
state = torch.load("last.pt")
optimizer.load_state_dict(state["optimizer"])
for epoch in range(state["epoch"], 10):
    for x in DataLoader(torch.ones(8, 4), shuffle=True):
        model(x).sum().backward()
        optimizer.step()
    torch.save({"optimizer": optimizer.state_dict(), "epoch": epoch}, "last.pt")
"""


@pytest.mark.parametrize(
    ("helper", "expected"),
    [
        ("def other(random_state):\n    return random_state", ["train.py"]),
        (
            "import torch\n\ndef other():\n    torch.set_rng_state(torch.load('a'))\n    return torch.get_rng_state()",
            [],
        ),
    ],
    ids=["a word", "calls that save and restore"],
)
def test_what_a_file_resumes_itself_is_silent_where_another_keeps_states(helper: str, expected: list[str]) -> None:
    findings = report({"train.py": ALONE, "helpers.py": helper}, ("DET701",)).findings
    assert [each.finding.place.path for each in findings] == expected


def test_a_program_that_does_not_train_decides_nothing_of_what_another_one_keeps() -> None:
    checkpoint = "\n".join(line for line in ALONE.splitlines() if "other" not in line)
    keeper = "import torch\nimport train\n\ndef keep():\n    torch.set_rng_state(torch.get_rng_state())\n\nkeep()\n"
    texts = {"train.py": checkpoint, "main.py": keeper, "convert.py": "import train\n\nprint(train.state)\n"}
    assert report(texts, ("DET701",)).findings == ()
