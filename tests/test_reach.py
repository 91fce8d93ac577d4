"""Changes that no program comes to: the answers of a project stay, and are what linking it again would give."""

from __future__ import annotations

from dataclasses import replace

import pytest

from detlint.listing import ALONE
from detlint.settling.confirming import renewed, signature, unmoved

from .test_moved import asked, models, read

TRAIN = """\
import random
import torch
from lib import seed, Model
LIMIT = 3
def helper(x):
    return x
def draw():
    return torch.rand(random.choice([1, 2]))
if __name__ == "__main__":
    seed()
    Model()(draw())
"""
LIB = """\
import torch
SIZE = 4
def seed():
    torch.manual_seed(0)
def unused(x):
    import os
    for each in {1, 2}:
        x = [y for y in x if (lambda z: z)(y)]
    return os.path.join(x)
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.dropout(x) * SIZE
    def reset(self):
        self.x = torch.Size([3])
"""
EXTRA = "import torch\nfrom lib import seed\ndef test():\n    seed(1)\n"
FILES = {"train.py": TRAIN, "lib.py": LIB, "extra.py": EXTRA}
AROUND = replace(ALONE, whole=True)
UNREACHED = {
    "a function that is not entered": ("lib.py", "return os.path.join(x)", "return seed(), os.sep"),
    "a lambda within it": ("lib.py", "(lambda z: z)", "(lambda z: seed(z))"),
    "a function within it": ("lib.py", "    import os\n", "    import os\n    def inner(): seed()\n"),
    "a library that it imports": ("lib.py", "    import os\n", "    import os, sys\n"),
    "a method that is not called": ("lib.py", "self.x = torch.Size([3])", "seed()"),
    "a new variable": ("lib.py", "SIZE = 4", "SIZE = 4\nNEW = [1, 'a', SIZE]"),
    "a variable that is not looked at": ("train.py", "LIMIT = 3", "LIMIT = 4"),
    "a variable that goes": ("train.py", "LIMIT = 3\n", ""),
    "a new function": ("lib.py", "def seed", "def more(a, b=2):\n    seed(a)\ndef seed"),
    "a function that goes": ("train.py", "def helper(x):\n    return x\n", ""),
    "a library that is imported": ("train.py", "import random", "import random, json\nfrom os import path as p"),
    "what it takes from a file": ("extra.py", "import seed", "import seed, Model"),
    "a file that no program runs": ("extra.py", "seed(1)", "return seed"),
}
REACHED = {
    "a function that is entered": ("lib.py", "manual_seed(0)", "manual_seed()"),
    "a variable that is looked at": ("lib.py", "SIZE = 4", "SIZE = torch.rand(4)"),
    "a name that a program looks for": ("lib.py", "SIZE = 4", "SIZE = 4\nseed = None"),
    "a builtin that is looked for": ("lib.py", "def seed():\n", "def print(x):\n    pass\ndef seed():\n    print(1)\n"),
    "a call of the top level": ("lib.py", "SIZE = 4", "SIZE = 4\nX = torch.rand(2)"),
    "a default that is drawn": ("lib.py", "def seed", "def more(a=torch.rand(2)):\n    pass\ndef seed"),
    "a decorator": ("lib.py", "def unused", "@seed\ndef unused"),
    "a parameter of a function that is looked at": ("lib.py", "def reset(self)", "def reset(self, x)"),
    "a file of the project that is imported": ("lib.py", "    import os\n", "    import train\n"),
    "a file that the top level imports": ("train.py", "LIMIT = 3", "LIMIT = 3\nimport extra"),
    "all of a library": ("train.py", "LIMIT = 3", "from torch import *"),
    "what an unrun file imports": ("extra.py", "from lib import seed\n", ""),
    "a question": ("lib.py", "return os.path.join(x)", "torch.backends.cudnn.benchmark = True"),
}


def changed(path: str, old: str, new: str) -> dict[str, str]:
    assert old in FILES[path]
    return FILES | {path: FILES[path].replace(old, new, 1)}


@pytest.mark.parametrize("case", UNREACHED)
def test_a_change_that_no_program_comes_to_leaves_the_answers(case: str) -> None:
    path = UNREACHED[case][0]
    before, collected = asked(FILES)
    files = changed(*UNREACHED[case])
    new = read(path, files[path])
    assert signature(new) != signature(collected[path])
    pair = unmoved(collected[path], new, before)
    assert pair is not None
    assert renewed(before, [pair], models(files), AROUND) == asked(files)[0]


@pytest.mark.parametrize("case", REACHED)
def test_a_change_that_a_program_may_come_to_is_linked(case: str) -> None:
    path = REACHED[case][0]
    before, collected = asked(FILES)
    assert unmoved(collected[path], read(path, changed(*REACHED[case])[path]), before) is None


def test_changes_follow_each_other() -> None:
    answered, collected = asked(FILES)
    files = dict(FILES)
    for path, old, new in UNREACHED.values():
        if old in files[path]:
            files[path] = files[path].replace(old, new, 1)
            last, collected[path] = collected[path], read(path, files[path])
            pair = unmoved(last, collected[path], answered)
            assert pair is not None
            answered = renewed(answered, [pair], models(files), AROUND)
    assert answered == asked(files)[0]


def test_the_example_has_what_the_changes_are_about() -> None:
    before, _ = asked(FILES)
    assert before.basis is not None
    reached = before.basis.reached
    assert "lib.unused" not in reached["lib.py"].functions.split("/")
    assert "lib.seed" in reached["lib.py"].functions.split("/")
    assert "extra.py" not in reached
    assert {each.finding.code for each in before.findings} >= {"DET103"}


def test_a_program_that_looks_at_all_of_a_module_sees_new_names() -> None:
    files = FILES | {"train.py": TRAIN.replace("import seed, Model", "import *")}
    before, collected = asked(files)
    assert unmoved(collected["lib.py"], read("lib.py", LIB + "NEW = 1\n"), before) is None
