"""`detlint entries`: modules of layers, held in containers, under names that are computed, and in slices of these."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import told

NET = """
    import random
    from collections import OrderedDict
    from torch import nn


    class Noise(nn.Module):
        def forward(self, x):
            return x + random.random()


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            {}

        def forward(self, x):
            {}


    Net()(1)
    random.seed(0)
    random.random()
    """


def drawn(folder: Path, made: str, called: str) -> str:
    """The state of Python's generator in a program whose model is made and called like this."""
    found = told(folder, NET.format(made.replace("\n", "\n" + " " * 12), called.replace("\n", "\n" + " " * 12)))
    state: str = found["generators"]["python"]["state"]
    return state


@pytest.mark.parametrize(
    ("made", "called"),
    [
        ("self.parts = nn.ModuleDict(dict(noise=Noise()))", "self.parts.noise(x)"),
        ("self.parts = nn.ModuleDict({'noise': Noise()})", "self.parts['noise'](x)"),
        ("self.parts = nn.ModuleDict(dict(all=nn.ModuleList([Noise()])))", "[part(x) for part in self.parts.all]"),
        ("self.parts = nn.ModuleDict({'noise': Noise()})", "[self.parts[name](x) for name in self.parts]"),
        ("self.parts = nn.Sequential(OrderedDict([('noise', Noise())]))", "self.parts(x)"),
        ("self.parts = nn.Sequential(OrderedDict([('noise', Noise())]))", "self.parts.noise(x)"),
        ("self.parts = nn.Sequential(OrderedDict(noise=Noise()))", "self.parts(x)"),
        ("self.parts = nn.Sequential()\nself.parts.add_module('noise', Noise())", "self.parts(x)"),
        ("self.parts = nn.Sequential()\nself.parts.add_module('noise', Noise())", "self.parts.noise(x)"),
        ("self.add_module('noise', Noise())", "self.noise(x)"),
        ("self.add_module(name='noise', module=Noise())", "self.noise(x)"),
        ("for i in range(2): self.add_module(f'noise{i}', Noise())", "[getattr(self, f'noise{i}')(x) for i in (0, 1)]"),
        ("for i in range(2): setattr(self, f'noise{i}', Noise())", "[getattr(self, f'noise{i}')(x) for i in (0, 1)]"),
        ("self.noise = Noise()", "[module(x) for module in self.children()]"),
        ("self.noise = Noise()", "[module(x) for name, module in self.named_children()]"),
        ("self.noise = Noise()", "[module(x) for module in self._modules.values()]"),
        ("self.noise = Noise()", "self._modules['noise'](x)"),
        ("self.parts = nn.Sequential(*list(nn.Sequential(Noise(), nn.ReLU()).children())[:-1])", "self.parts(x)"),
        ("self.parts = nn.Sequential(Noise(), nn.ReLU())", "self.parts[:1](x)"),
        ("self.parts = [Noise(), nn.ReLU()]", "[part(x) for part in self.parts[:1]]"),
    ],
)
def test_a_module_draws_wherever_it_is_held(tmp_path: Path, made: str, called: str) -> None:
    assert drawn(tmp_path, made, called) == "late"


@pytest.mark.parametrize(
    ("made", "called"),
    [
        ("self.parts = nn.ModuleDict(dict(noise=Noise(), plain=nn.ReLU()))", "self.parts.plain(x)"),
        ("self.parts = nn.ModuleDict({'noise': Noise(), 'plain': nn.ReLU()})", "self.parts['plain'](x)"),
        ("self.parts = nn.Sequential(OrderedDict([('noise', Noise()), ('plain', nn.ReLU())]))", "self.parts.plain(x)"),
        ("self.add_module('noise', Noise())\nself.add_module('plain', nn.ReLU())", "self.plain(x)"),
        ("self.noise = Noise()\nself.plain = nn.ReLU()", "self._modules['plain'](x)"),
    ],
)
def test_a_module_is_told_from_its_neighbours(tmp_path: Path, made: str, called: str) -> None:
    assert drawn(tmp_path, made, called) == "seeded"


@pytest.mark.parametrize(
    "otherwise",
    [
        'name = "layers"\nif os.path.exists("settings.json"):\n    name = json.load(open("settings.json"))["backend"]',
        'name = json.load(open("settings.json")).get("backend")\nif name not in ["layers"]:\n    name = "layers"',
        'name = None\nif os.path.exists("settings.json"):\n    name = "layers"',
    ],
)
def test_the_module_is_followed_that_is_known_of_those_that_a_name_may_be(tmp_path: Path, otherwise: str) -> None:
    (tmp_path / "layers.py").write_text("import torch\n\ndef make():\n    return torch.nn.Linear(3, 3)\n")
    program = f"import importlib, json, os\n{otherwise}\nprint(importlib.import_module(name).make())\n"
    assert told(tmp_path, program)["generators"]["torch"]["state"] == "unseeded"
