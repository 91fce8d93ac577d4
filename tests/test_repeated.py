"""Runs of functions that several programs share: what each program does is what it does alone."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from detlint import catalogue
from detlint.analyse import Source, analyse
from detlint.finding import Place
from detlint.link.language.functions import Functions
from detlint.link.runs import groups
from detlint.link.state.records import Record, Result
from detlint.link.state.values import Class, Constant, Function, Library, Object, Option, Tuple, order
from detlint.project.project import Project
from detlint.settling.settling import link

SETTINGS = """
import torch
class Settings:
    def __init__(self):
        self.seed = None
settings = Settings()
def choose(seed):
    settings.seed = seed
def start():
    if settings.seed is not None:
        torch.manual_seed(settings.seed)
def draw():
    return torch.rand(1)
"""
REGISTRY = """
TASKS = []
def register(function):
    TASKS.append(function)
    return function
def run():
    for task in TASKS:
        task()
"""
KINDS = """
import torch
def act(kind):
    if kind == "seed":
        torch.manual_seed(0)
def start():
    act("seed")
"""
ARGUMENTS = """
import argparse
import torch
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int)
def parse():
    return parser.parse_args()
def fill(args):
    args.seed = 3
def start(args):
    if args.seed is not None:
        torch.manual_seed(args.seed)
"""
FLAG = """
import torch
seeded = False
def start():
    if seeded:
        torch.manual_seed(0)
"""
HELPED = """
def start():
    import helpers
    helpers.go()
"""
LOCAL = """
import torch
def make(seed):
    class Maker:
        def go(self):
            if seed is not None:
                torch.manual_seed(seed)
    return Maker()
def start(maker):
    maker.go()
"""
NUMBER = """
import torch
def start(number):
    if number == 1:
        torch.manual_seed(0)
"""
PLACES = """
from torch.utils.data import DataLoader
class Numbers:
    def __getitem__(self, index):
        return index
loader = DataLoader(Numbers(), shuffle=True)
def items():
    return [item for item in loader]
"""
COMPOSED = """
import hydra
import torch
torch.rand(1)
@hydra.main(version_base=None, config_path=None, config_name="config")
def main(config):
    if config.seed is not None:
        torch.manual_seed(0)
def start():
    main()
"""
STORED = """
from dataclasses import dataclass
from hydra.core.config_store import ConfigStore
@dataclass
class Config:
    seed: int = None
ConfigStore.instance().store(name="config", node=Config)
"""
AGAIN = """
import torch
def inner():
    outer("", False)
def outer(text, again):
    if again:
        inner()
    elif text + "a" == "a":
        torch.manual_seed(0)
"""
DRAW = "import torch\ntorch.rand(1)\n"
CASES = {
    "what an object holds": {
        "lib.py": SETTINGS,
        "a.py": "import lib\nlib.start()\nlib.draw()\n",
        "b.py": "import lib\nlib.choose(1)\nlib.start()\nlib.draw()\n",
        "c.py": "import lib\nlib.start()\nlib.draw()\n",
        "d.py": "import lib\nlib.choose(1)\nlib.start()\nlib.draw()\n",
    },
    "which files were imported": {
        "registry.py": REGISTRY,
        "one.py": "import torch\nfrom registry import register\n@register\ndef one():\n    torch.manual_seed(0)\n",
        "two.py": "import torch\nfrom registry import register\n@register\ndef two():\n    torch.rand(1)\n",
        "a.py": f"import one\nimport registry\nregistry.run()\n{DRAW}",
        "b.py": f"import two\nimport registry\nregistry.run()\n{DRAW}",
        "c.py": f"import one\nimport registry\nregistry.run()\n{DRAW}",
    },
    "what was called before": {
        "lib.py": KINDS,
        "a.py": f"import lib\nlib.start()\n{DRAW}",
        "b.py": f'import lib\nlib.act("x")\nlib.act("y")\nlib.start()\n{DRAW}',
        "c.py": f'import lib\nlib.act("x")\nlib.act("y")\nlib.act("z")\nlib.start()\n{DRAW}',
        "d.py": f"import lib\nlib.start()\n{DRAW}",
    },
    "whether the call is certain": {
        "lib.py": ARGUMENTS,
        "a.py": f"import lib\nargs = lib.parse()\nlib.fill(args)\nlib.start(args)\n{DRAW}",
        "b.py": f"import sys\nimport lib\nargs = lib.parse()\nif sys.argv:\n    lib.fill(args)\nlib.start(args)\n{DRAW}",
        "c.py": f"import lib\nargs = lib.parse()\nlib.fill(args)\nlib.start(args)\n{DRAW}",
    },
    "what a variable of a module is": {
        "lib.py": FLAG,
        "a.py": f"import lib\nlib.start()\n{DRAW}",
        "b.py": f"import lib\nlib.seeded = True\nlib.start()\n{DRAW}",
    },
    "what a name of a module means": {
        "lib.py": HELPED,
        "x/helpers.py": "import torch\ndef go():\n    torch.manual_seed(0)\n",
        "x/main.py": f"import helpers\nimport lib\nlib.start()\n{DRAW}",
        "y/helpers.py": "def go():\n    pass\n",
        "y/main.py": f"import helpers\nimport lib\nlib.start()\n{DRAW}",
    },
    "which class a function defines": {
        "lib.py": LOCAL,
        "a.py": f"import lib\nlib.start(lib.make(None))\n{DRAW}",
        "b.py": f"import lib\nlib.start(lib.make(0))\n{DRAW}",
        "c.py": f"import lib\nlib.start(lib.make(None))\n{DRAW}",
    },
    "which number is given": {
        "lib.py": NUMBER,
        "a.py": f"import lib\nlib.start(1)\n{DRAW}",
        "b.py": f"import lib\nlib.start(2)\n{DRAW}",
    },
    "which options a decorator gives a function": {
        "lib.py": COMPOSED,
        "a.py": f"import lib\nlib.start()\n{DRAW}",
        "b.py": f"import lib\nlib.start()\n{DRAW}",
        "c.py": f"import stored\nimport lib\nlib.start()\n{DRAW}",
        "stored.py": STORED,
    },
    "whether the function is being run already": {
        "lib.py": AGAIN,
        "a.py": f"import lib\nlib.outer('', True)\n{DRAW}",
        "b.py": f"import lib\nlib.inner()\n{DRAW}",
        "c.py": f"import lib\nlib.outer('', True)\n{DRAW}",
    },
    "where the call is": {
        "lib.py": PLACES,
        "a.py": "import lib\n\n\n\nlib.items()\n",
        "b.py": "import lib\nlib.items()\n",
    },
}


@pytest.fixture(autouse=True)
def _one_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs learn of all others, however little they share."""
    monkeypatch.setattr(groups, "_SHARED", 0)


def linked(files: dict[str, str]) -> Project:
    """The project of some files, all scripts."""
    guard = "if __name__ == '__main__':\n"
    programs = {
        path: text if "def " in text or "class " in text else guard + textwrap.indent(text, "    ")
        for path, text in files.items()
    }
    release = catalogue.load().newest_release()
    sources = [Source(path, path.removesuffix(".py").replace("/", "."), text) for path, text in programs.items()]
    return link([analyse(source, frozenset(), release) for source in sources], release)


def told(project: Project) -> dict[str, object]:
    """What is told of each program."""
    return {entry.path: (entry.met, entry.end, [stream.state for stream in entry.streams]) for entry in project.entries}


@pytest.mark.parametrize("files", CASES.values(), ids=CASES)
def test_a_program_does_among_others_what_it_does_alone(files: dict[str, str]) -> None:
    together = told(linked(files))
    assert len(together) > 1
    for program, found in together.items():
        others = together.keys() - {program}
        alone = told(linked({path: text for path, text in files.items() if path not in others}))
        assert alone == {program: found}


def test_the_cases_tell_programs_apart() -> None:
    for files in CASES.values():
        assert len({str(found) for found in told(linked(files)).values()}) > 1


def test_a_function_is_run_once_for_programs_that_call_it_alike() -> None:
    inner = (
        "import torch\ndef step(x):\n    return torch.rand(1)\ndef train():\n    for x in range(9):\n        step(x)\n"
    )
    project = linked({"lib.py": inner, **{f"{name}.py": "import lib\nlib.train()\n" for name in "abcde"}})
    assert len(project.entries) == 5
    assert {entry.streams[0].state for entry in project.entries} == {"unseeded"}
    assert len(project.program.walks["lib.py", "lib.train"]) == 1


def test_options_of_a_program_leave_what_is_known_of_functions_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[str] = []
    real = Functions.run

    def run(self: Functions, function: Function, *given: Any) -> Result:
        runs.append(function.qualified)
        return real(self, function, *given)

    monkeypatch.setattr(Functions, "run", run)
    program = "import click\nimport lib\n@click.command()\n@click.option('--{0}')\ndef main({0}):\n    lib.draw()\n"
    scripts = {f"{name}.py": f"{program}if __name__ == '__main__':\n    main()\n".format(name) for name in "abc"}
    project = linked({"lib.py": "import torch\ndef draw():\n    torch.rand(1)\n", **scripts})
    assert [entry.streams[0].state for entry in project.entries] == ["unseeded"] * 3
    assert sorted(runs) == ["a.main", "b.main", "c.main", "lib.draw"]


def test_a_call_deep_in_others_is_cut_where_it_would_be_without_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = "".join(f"def f{n}():\n    f{n + 1}()\n" for n in range(70)) + "def f70():\n    torch.manual_seed(0)\n"
    files = {
        "lib.py": f"import torch\n{chain}",
        "a.py": f"import lib\nlib.f20()\n{DRAW}",
        "b.py": f"import lib\nlib.f0()\n{DRAW}",
    }
    assert [entry.streams[0].state for entry in linked(files).entries] == ["seeded", "unseeded"]
    monkeypatch.setattr(Record, "holds", lambda *_: False)
    assert [entry.streams[0].state for entry in linked(files).entries] == ["seeded", "unseeded"]


def test_no_two_atoms_have_the_same_place_in_their_order() -> None:
    place = Place("a.py", 1, 1, 1, 2)
    captured = [(("f", frozenset((Constant(value),))),) for value in (1, 2)]
    atoms = [
        *(Function("a.py", "decorator.inner", each) for each in captured),
        *(Option("seed", default, place) for default in (None, 1, "1")),
        *(Object(Class("a.py", "A"), "a.py", number) for number in (1, 2)),
        *(Tuple((frozenset((Function("a.py", "f", each),)),)) for each in captured),
        Library("numpy.random.rand"),
        Library("numpy.random.rand", Object(Library("numpy.random.RandomState"), "a.py", 1)),
    ]
    assert len({order(atom) for atom in atoms}) == len(atoms)
