"""The states of generators: programs that share files, options, and versions of configuration objects."""

from __future__ import annotations

import pytest

from tests.solved import Drawn, solved
from tests.tools.solving import digest

MODEL = """
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4)

    def forward(self, x):
        return self.layer(x)
"""
FACTORY = "from model import Net\n\ndef build():\n    return Net()\n"
LAYER = ("torch", "model.py", 7)
PROGRAM = """
import argparse, random, torch
from factory import build

def prepare(args):
    if args.seed is not None:
        torch.manual_seed(args.seed)

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default={default})
    args = parser.parse_args()
    {then}
    build()

if __name__ == "__main__":
    main()
"""


def draws(text: str, **others: str) -> list[Drawn]:
    files = {"model.py": MODEL, "factory.py": FACTORY, "main.py": text, **others}
    return solved(files, started={"main.py"}).draws("main.py")


def test_programs_that_share_files_are_told_apart() -> None:
    plain = 'from factory import build\n\nif __name__ == "__main__":\n    build()\n'
    seeded = plain.replace("    build()", "    torch.manual_seed(0)\n    build()").replace(
        "from", "import torch\nfrom", 1
    )
    files = {"model.py": MODEL, "factory.py": FACTORY, "train.py": plain, "test.py": seeded}
    found = solved(files, started={"train.py", "test.py"})
    assert found.draws("train.py") == [(*LAYER, "unseeded", ())]
    assert found.draws("test.py") == []
    assert found.draws("test.py", "seeded") == [(*LAYER, "seeded", ())]


@pytest.mark.parametrize(
    ("default", "then", "conditions"),
    [
        ("None", "prepare(args)", [(("--seed", False),)]),
        ("0", "prepare(args)", []),
        ("None", "torch.manual_seed(args.seed)", []),
        ("None", "args.seed = 3\n    prepare(args)", []),
        ("None", "prepare(args)\n    args.seed = 3", [(("--seed", False),)]),
        ("None", "args.other = 3\n    prepare(args)", [(("--seed", False),)]),
        ("None", "pass", [()]),
    ],
)
def test_an_option_decides_whether_a_program_is_seeded(default: str, then: str, conditions: list[object]) -> None:
    found = draws(PROGRAM.format(default=default, then=then))
    assert found == [(*LAYER, "unseeded", terms) for terms in conditions]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("random.seed(0)\nrandom.random()", ["seeded"]),
        ("random.random()\nrandom.seed(0)", ["unseeded"]),
        ("random.seed()\nrandom.random()", ["reseeded"]),
        ("random.seed(None)\nrandom.random()", ["reseeded"]),
        ("if unknown:\n    random.seed(0)\nrandom.random()", ["unsure"]),
        ("if unknown:\n    random.seed(0)\nelse:\n    random.seed(1)\nrandom.random()", ["seeded"]),
        ("for x in unknown:\n    random.seed(0)\nrandom.random()", ["seeded"]),
        ("for x in unknown:\n    random.random()\n    random.seed(0)", ["unseeded", "unsure"]),
        ("try:\n    random.seed(0)\nexcept ValueError:\n    raise\nrandom.random()", ["seeded"]),
        ("def f():\n    return 1\n    random.random()\nf()", []),
        ("def f(n):\n    if n:\n        f(n - 1)\n    random.seed(n)\nf(3)\nrandom.random()", ["seeded"]),
        ("f = random.random\ng = lambda: f()\nrandom.seed(0)\ng()", ["seeded"]),
        ("from functools import partial\ndef f(n, m):\n    random.seed(m)\npartial(f, 1)(2)\nrandom.random()", ["seeded"]),
        ("def seed(how):\n    if how == 'all':\n        random.seed(0)\nseed('all')\nrandom.random()", ["seeded"]),
        ("def seed(how):\n    if how == 'all':\n        random.seed(0)\nseed('none')\nrandom.random()", ["unseeded"]),
        ("class A:\n    def __init__(self):\n        random.seed(0)\nclass B(A):\n    def __init__(self):\n"
         "        super(B, self).__init__()\nB()\nrandom.random()", ["seeded"]),
        ("class A:\n    def __new__(cls):\n        random.seed(0)\nclass B(A):\n    def __new__(cls):\n"
         "        return super(B, cls).__new__(cls)\nB()\nrandom.random()", ["seeded"]),
        ("def draw(item):\n    return random.random()\nfound = []\nfound += unknown\ndraw(found[0])", ["unseeded"]),
        ("def draw(item):\n    return random.random()\nfound = [] + unknown\ndraw(found[0])", ["unseeded"]),
        ("class A:\n    def seed(self):\n        pass\nclass B(A):\n    def seed(self):\n        random.seed(0)\n"
         "B().seed()\nrandom.random()", ["seeded"]),
    ],
)  # fmt: skip
def test_a_draw_has_the_state_that_the_program_left(body: str, words: list[str]) -> None:
    found = solved({"main.py": f"import random\n{body}\n"}).draws("main.py", "seeded", "unseeded", "reseeded", "unsure")
    assert [word for _, _, _, word, _ in found] == words


SHARED = {
    "config.py": "SEED = None\nITEMS = []\n",
    "work.py": """
import config, random
def work():
    random.seed(config.SEED)
    random.random()
def draw():
    random.choice(config.ITEMS)
""",
    "set.py": "import config, work\nconfig.SEED = 3\nconfig.ITEMS = ['a']\nif __name__ == '__main__':\n    work.work()\n    work.draw()\n",
    "plain.py": "import config, os, work\nconfig.ITEMS = os.listdir('d')\nif __name__ == '__main__':\n    work.work()\n    work.draw()\n",
}


def test_what_one_program_sets_no_other_sees() -> None:
    found = solved(SHARED, started={"set.py", "plain.py"})
    words = ("seeded", "unseeded", "reseeded", "unsure")
    assert [word for *_, word, _ in found.draws("plain.py", *words)] == ["reseeded", "reseeded"]
    assert [word for *_, word, _ in found.draws("set.py", *words)] == ["unsure", "unsure"]
    assert found.flows() == [(2, 7)]


def test_what_one_program_writes_is_not_written_again_by_what_others_share() -> None:
    common = """
import random

class Held:
    def __init__(self):
        self.seed = 1

held = Held()

def prepare(fast):
    if fast:
        held.seed = 2

def train():
    random.seed(held.seed)
    return random.random()
"""
    program = "import sys\nimport common\n{then}\ncommon.prepare(len(sys.argv) > 1)\ncommon.train()\n"
    texts = {"a.py": program.format(then=""), "b.py": program.format(then="common.held.seed = None")}
    found = solved({"common.py": common, **texts}, {"a.py", "b.py"})
    assert [(line, word) for _, _, line, word, _ in found.draws("a.py", "seeded", "unsure")] == [(16, "seeded")]
    assert [(line, word) for _, _, line, word, _ in found.draws("b.py", "seeded", "unsure")] == [(16, "unsure")]


def test_importing_a_script_runs_none_of_its_main_block() -> None:
    files = {
        "tool.py": "import random\n\ndef use():\n    return random.random()\n\nif __name__ == '__main__':\n    random.seed(0)\n    use()\n",
        "main.py": "import tool\n\ntool.use()\n",
    }
    found = solved(files)
    assert [word for *_, word, _ in found.draws("main.py", "seeded", "unseeded", "unsure")] == ["unseeded"]
    assert [word for *_, word, _ in found.draws("tool.py", "seeded", "unseeded", "unsure")] == ["seeded"]


USE = "def use(d):\n    if d['seed'] is not None:\n        random.seed(d['seed'])\n    random.random()\n"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("def make(n):\n    d = {'seed': None}\n    d['seed'] = n\n    return d\nuse(make(3))", ["seeded"]),
        ("d = {'seed': None}\nfor n in [1, 2]:\n    d = {'seed': None}\n    d['seed'] = n\n    use(d)", ["seeded"]),
        ("d = {'seed': None}\nd.update(seed=3)\nuse(d)", ["seeded"]),
        ("d = {'seed': None}\nif unknown:\n    d['seed'] = 3\nuse(d)", ["unsure"]),
        ("d = e = {'seed': None}\nif unknown:\n    d['seed'] = 3\nelse:\n    d = {'seed': 3}\nuse(e)", ["unsure"]),
        ("d = {'seed': None}\ne = d\nif unknown:\n    d['seed'] = 3\nelse:\n    d = None\nuse(e)", ["unsure"]),
        ("def keep(d):\n    d['seed'] = 3\nd = {'seed': None}\nkeep(d)\nd['seed'] = None\nuse(d)", ["unsure"]),
    ],
)
def test_others_see_what_a_dict_was_given_before_they_saw_it(body: str, words: list[str]) -> None:
    texts = {"main.py": f"import random\n{USE}{body}\n"}
    found = solved(texts).draws("main.py", "seeded", "unseeded", "reseeded", "unsure")
    assert [word for _, _, _, word, _ in found] == words
    assert len({digest(solved(texts, order=order).solution) for order in (None, 1, 2, 3)}) == 1


def test_a_program_has_what_was_solved_for_less_than_it_knows() -> None:
    common = "import random\n\ndef seed_all(seed):\n    seed_with(seed)\n\ndef seed_with(seed):\n    if seed:\n        random.seed(3)\n"
    program = (
        "import argparse, random, common\np = argparse.ArgumentParser()\np.add_argument('--seed', type=int, default=1)\n"
        "common.seed_all(p.parse_args().seed)\nrandom.random()\n"
    )
    programs = {f"program{number}.py": program for number in range(5)}
    found = solved({"common.py": common, **programs}, set(programs))
    for name in programs:
        assert "unseeded" not in {
            word for *_, word, terms in found.draws(name, "seeded", "unseeded", "unsure") if not terms
        }
        assert found.draws(name, "seeded", "unsure")


COMPUTED = """
import argparse, os, random

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=1)
seed = parser.parse_args().seed
{made}
if seed > 0:
    random.seed(seed)
print(random.random())
"""


@pytest.mark.parametrize(
    ("made", "word"),
    [
        ("seed = seed + 100", "seeded"),
        ("seed += 100", "seeded"),
        ("if len(os.listdir()) > 1:\n    seed = seed + 100", "seeded"),
        ("for name in os.listdir():\n    seed = seed + 100", "unsure"),
        ("def further():\n    global seed\n    seed = seed + 1\nfurther()\nseed = seed + 100", "unsure"),
    ],
)
def test_a_variable_made_of_what_it_was_is_known_where_that_happens_once(made: str, word: str) -> None:
    found = solved(COMPUTED.format(made=made)).draws("train.py", "seeded", "unsure")
    assert [each for _, _, _, each, terms in found if ("--seed", True) not in terms] == [word]


RETURNED = """
import argparse, os, random

parser = argparse.ArgumentParser()
parser.add_argument("--quick", action="store_true")
parser.add_argument("--dry", action="store_true")
args = parser.parse_args()

def seed():
{body}

found = seed()
if found is not None:
    random.seed(found)
random.random()
"""


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("    if args.quick:\n        return None\n    return 3", "seeded"),
        ("    if not args.quick:\n        return 3", "seeded"),
        ("    if args.quick:\n        return 3\n    return None", "unseeded"),
        ("    if args.quick:\n        return None\n    else:\n        return 3", "seeded"),
        ("    if args.quick:\n        return None\n    if args.dry:\n        return None\n    return 3", "seeded"),
        ("    if args.quick:\n        if args.dry:\n            return None\n    return 3", "unsure"),
        ("    if os.listdir():\n        return 4\n    if args.quick:\n        return None\n    return 3", "seeded"),
        ("    if os.listdir():\n        return None\n    if args.quick:\n        return 3\n    return 3", "unsure"),
        ("    for name in 'ab':\n        if args.quick:\n            return None\n    return 3", "unsure"),
        ("    for name in ('a', 'b'):\n        if args.quick:\n            return None\n    return 3", "seeded"),
        ("    if args.quick:\n        return None\n    return seed() if os.listdir() else 3", "seeded"),
    ],
)
def test_what_is_returned_where_an_option_is_set_others_do_not_get(body: str, words: str) -> None:
    found = solved(RETURNED.format(body=body)).draws("train.py", "seeded", "unseeded", "unsure")
    assert [word for _, _, _, word, terms in found if not any(set_ for _, set_ in terms)] == [words]


def test_what_an_option_calls_that_is_not_known_gives_what_is_called_by_default() -> None:
    text = """
import argparse, random, elsewhere

class Settings:
    seed = 3

parser = argparse.ArgumentParser()
parser.add_argument("--other", action="store_true")
settings = (elsewhere.settings if parser.parse_args().other else Settings)()
if settings.seed is not None:
    random.seed(settings.seed)
random.random()
"""
    assert [word for _, _, _, word, _ in solved(text).draws("train.py", "seeded", "unsure", "unseeded")] == ["seeded"]
