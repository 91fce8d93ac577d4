"""`detlint entries`: objects as their classes make them, contexts of a stack, and the end of a program."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import entries, told, written

HEAD = """
import atexit, contextlib, dataclasses, random, typing
from collections import namedtuple
from dataclasses import dataclass, field
import torch


def noise(*x):
    return random.random()


def quiet(*x):
    return 0


class Draws:
    def draw(self):
        return noise()


class Single(type):
    made = {}

    def __call__(cls, *given, **named):
        if cls not in cls.made:
            cls.made[cls] = super().__call__(*given, **named)
        return cls.made[cls]


class Tells(type):
    def __call__(cls, function):
        function()
        return type.__call__(cls, function)


"""


def state(folder: Path, program: str) -> str:
    found = told(folder, f"{HEAD}{program.strip()}\ntorch.rand(1)\n")["generators"]["python"]["state"]
    assert isinstance(found, str)
    return found


# Fields


@pytest.mark.parametrize(
    "program",
    [
        "@dataclass\nclass T:\n    v: object = field(default_factory={0})\n\n\nT()",
        "@dataclass\nclass T:\n    v: object = field(default_factory=lambda: {0}())\n\n\nT()",
        "@dataclass\nclass T:\n    v: object = field(default_factory=lambda: [{0}])\n\n\nT().v[0]()",
        "@dataclass\nclass T:\n    v: object = dataclasses.field(default_factory=lambda: {0})\n\n\nT().v()",
        "@dataclass\nclass B:\n    v: object = field(default_factory=lambda: {0})\n\n\n@dataclass\nclass T(B):\n    w: int = 1\n\n\nT().v()",
        "@dataclass\nclass B:\n    v: object\n\n\n@dataclass\nclass T(B):\n    w: int = 1\n\n\nT({0}, 2).v()",
        "@dataclass\nclass T:\n    v: object = None\n    w: int = 1\n\n\ndataclasses.replace(T(), v={0}).v()",
        "T = namedtuple('T', 'v w')\nT({0}, 1).v()",
        "T = namedtuple('T', 'v, w')\nT(w=1, v={0}).v()",
        "T = namedtuple('T', ['v', 'w'])\nT({0}, 1)[0]()",
        "T = namedtuple('T', ('v', 'w'))\nv, w = T({0}, 1)\nv()",
        "T = namedtuple('T', 'v w')\nT(1, 1)._replace(v={0}).v()",
        "class T(namedtuple('T', 'v w')):\n    def run(self):\n        self.v()\n\n\nT({0}, 1).run()",
        "class T(typing.NamedTuple):\n    v: object\n    w: int = 1\n\n\nv, w = T({0})\nv()",
    ],
)
def test_fields_are_what_they_are_made_or_given(tmp_path: Path, program: str) -> None:
    assert [state(tmp_path, program.format(drawn)) for drawn in ("noise", "quiet")] == ["unseeded", "unused"]


def test_a_field_that_is_given_is_not_made(tmp_path: Path) -> None:
    program = "@dataclass\nclass T:\n    v: object = field(default_factory=noise)\n\n\nT({})"
    assert state(tmp_path, program.format("1")) == "unused"
    assert state(tmp_path, program.format("v=1")) == "unused"


# Constructors and metaclasses


@pytest.mark.parametrize(
    "program",
    [
        "class T:\n    def __new__(cls):\n        {0}()\n        return super().__new__(cls)\n\n\nT()",
        "class T:\n    def __new__(cls, f):\n        made = object.__new__(cls)\n        made.f = f\n        return made\n\n\nT({0}).f()",
        "class T(torch.nn.Module):\n    def __new__(cls, f):\n        f()\n        return super().__new__(cls)\n\n\nT({0})",
        "class T:\n    def __new__(cls, f):\n        return super().__new__(cls)\n    def __init__(self, f):\n        f()\n\n\nT({0})",
        "class T(metaclass=Tells):\n    pass\n\n\nT({0})",
        "class B(metaclass=Tells):\n    pass\n\n\nclass T(B):\n    pass\n\n\nT({0})",
        "class T(metaclass=Single):\n    def __init__(self, f):\n        f()\n\n\nT({0})",
        "class T(metaclass=Single):\n    def __init__(self, f):\n        self.f = f\n\n\nT({0}).f()",
    ],
)
def test_an_object_is_made_as_its_class_says(tmp_path: Path, program: str) -> None:
    assert [state(tmp_path, program.format(drawn)) for drawn in ("noise", "quiet")] == ["unseeded", "unused"]


def test_what_another_class_makes_is_not_initialised(tmp_path: Path) -> None:
    program = """
class T:
    def __new__(cls):
        return Draws()

    def __init__(self):
        {}


T(){}
"""
    assert state(tmp_path, program.format("pass", ".draw()")) == "unseeded"
    assert state(tmp_path, program.format("noise()", "")) == "unused"


# Stacks of contexts


@pytest.mark.parametrize(
    "context",
    [
        "class C:\n    def __enter__(self):\n        {0}()\n    def __exit__(self, *x):\n        pass",
        "class C:\n    def __enter__(self):\n        pass\n    def __exit__(self, *x):\n        {0}()",
        "@contextlib.contextmanager\ndef C():\n    {0}()\n    yield",
    ],
)
def test_a_stack_enters_and_leaves_contexts(tmp_path: Path, context: str) -> None:
    program = f"{context}\n\n\nwith contextlib.ExitStack() as stack:\n    stack.enter_context(C())"
    assert [state(tmp_path, program.format(drawn)) for drawn in ("noise", "quiet")] == ["unseeded", "unused"]


@pytest.mark.parametrize("where", ["    noise()", "noise()"])
def test_what_a_stack_enters_seeds_until_it_is_left(tmp_path: Path, where: str) -> None:
    program = f"""
@contextlib.contextmanager
def seeded():
    state = random.getstate()
    random.seed(0)
    yield noise
    random.setstate(state)


with contextlib.ExitStack() as stack:
    made = stack.enter_context(seeded())
    print(made)
{where}
"""
    assert state(tmp_path, program) == "seeded"


# The end


@pytest.mark.parametrize("registered", ["atexit.register({0}, 1)", "@atexit.register\ndef end():\n    {0}()"])
def test_what_is_left_for_the_end_is_called(tmp_path: Path, registered: str) -> None:
    assert [state(tmp_path, registered.format(drawn)) for drawn in ("noise", "quiet")] == ["unseeded", "unused"]
    assert state(tmp_path, f"{registered.format('noise')}\n\n\nrandom.seed(0)") == "seeded"


def test_a_key_is_in_no_dict_that_is_empty(tmp_path: Path) -> None:
    program = "held = {}\nkey = Draws\nif key not in held:\n    random.seed(0)\nnoise()\n"
    assert state(tmp_path, program) == "seeded"


@pytest.mark.parametrize(("method", "kind"), [("spawn", "process"), ("fork", "script")])
def test_a_process_of_a_class_of_its_own_runs_apart(tmp_path: Path, method: str, kind: str) -> None:
    program = f"""
import random
import torch.multiprocessing as mp


class Job(mp.Process):
    def __init__(self, draw):
        super().__init__()
        self.draw = draw

    def run(self):
        print(self.draw())


if __name__ == "__main__":
    mp.set_start_method("{method}")
    random.seed(0)
    job = Job(random.random)
    job.start()
    job.join()
"""
    written(tmp_path, {"program.py": program})
    states = {entry["kind"]: entry["generators"]["python"]["state"] for entry in entries(tmp_path)}
    assert states == ({"main": "seeded", "process": "unseeded"} if kind == "process" else {"main": "seeded"})


FIELDS = """
    import argparse
    import random
    from dataclasses import dataclass, fields


    @dataclass
    class Base:
        noisy: bool = {}


    @dataclass
    class Config(Base):
        epochs: int = 3


    parser = argparse.ArgumentParser()
    for field in fields(Config):
        parser.add_argument(f"--{{field.name}}", default=field.default)
    args = parser.parse_args()
    if args.noisy:
        random.random()
    random.seed(0)
    random.random()
    """


@pytest.mark.parametrize(("noisy", "state"), [("True", "late"), ("False", "seeded")])
def test_options_are_made_of_inherited_fields(tmp_path: Path, noisy: str, state: str) -> None:
    assert told(tmp_path, FIELDS.format(noisy))["generators"]["python"]["state"] == state


LOADERS = """
    from torch.utils.data import DataLoader, Dataset


    class Train(Dataset):
        small = True


    class Test(Dataset):
        small = False


    loaders = {{}}
    for key, data in {{"training": Train(), "testing": Test()}}.items():
        if isinstance(data, Train) and key == "training":
            loaders[key] = DataLoader(data)
        else:
            {}
            if key == "training":
                loaders[key] = DataLoader(data, batch_size=2)
            else:
                loaders[key] = DataLoader(data, batch_size=3)
    """


@pytest.mark.parametrize("step", ["pass", "small = data.small", "size = 1", "size = width = None"])
def test_a_name_that_is_given_beside_does_not_mix_up_rounds(tmp_path: Path, step: str) -> None:
    assert told(tmp_path, LOADERS.format(step))["loaders"]["total"] == 2
