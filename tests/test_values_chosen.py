"""Objects that an option chooses between: what is done with them is done where the option says so."""

from __future__ import annotations

import pytest

from tests.solved import solved

START = """
import argparse, random, threading

class Quiet:
    def run(self):
        pass
    def __iter__(self):
        yield 3

class Noisy:
    def run(self):
        random.random()
    def __iter__(self):
        yield random.random()
    def __len__(self):
        return random.randint(0, 3)

parser = argparse.ArgumentParser()
parser.add_argument("--noisy", action="store_true")
args = parser.parse_args()
"""
MADE = {
    "by its class": "Kind = Noisy if args.noisy else Quiet\nmade = Kind()\n",
    "where it is made": "made = Noisy() if args.noisy else Quiet()\n",
    "by another branch": "made = Quiet()\nif args.noisy:\n    made = Noisy()\n",
    "by a list": "made = [Quiet()]\nif args.noisy:\n    made = Noisy()\n",
}
OF_OBJECTS = ("by its class", "where it is made", "by another branch")


def drawn(text: str) -> list[tuple[tuple[str, bool], ...]]:
    """On which options the draws of a program are."""
    return [terms for *_, terms in solved(START + text).draws("train.py")]


@pytest.mark.parametrize("made", OF_OBJECTS)
@pytest.mark.parametrize("use", ["made.run()", "run = made.run\nrun()", "def use(each):\n    each.run()\nuse(made)"])
def test_a_method_is_called_where_an_option_chooses_its_object(made: str, use: str) -> None:
    assert drawn(MADE[made] + use) == [(("--noisy", True),)]


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize(
    "use", ["for _ in made: pass", "[_ for _ in made]", "if not args.noisy:\n    made = [3]\nfor _ in made: pass"]
)
def test_an_object_is_gone_through_where_an_option_chooses_it(made: str, use: str) -> None:
    assert drawn(MADE[made] + use) == [(("--noisy", True),)]


@pytest.mark.parametrize("made", MADE)
def test_an_object_is_not_gone_through_where_an_option_does_not_choose_it(made: str) -> None:
    assert drawn(f"{MADE[made]}if not args.noisy:\n    for _ in made: pass\n") == []


@pytest.mark.parametrize("test", ["made is not None", "made"])
def test_an_object_is_there_where_an_option_is_set(test: str) -> None:
    assert drawn(f"made = Quiet() if args.noisy else None\nif {test}:\n    random.random()\n") == [(("--noisy", True),)]


@pytest.mark.parametrize("made", OF_OBJECTS)
@pytest.mark.parametrize(
    "use",
    [
        "threading.Thread(target=made.run).start()",
        "made.other = Noisy()\nmade.other.run()",
        "if made: pass",
        "held = [made]\nheld[0].run()",
    ],
)
def test_models_and_attributes_see_objects_one_by_one(made: str, use: str) -> None:
    assert drawn(MADE[made] + use) != []


REGISTRY = """
import random, sys
KINDS = {{}}

def register(kind):
    KINDS[kind.__name__] = kind
    return kind

{classes}
KINDS[sys.argv[1]]()
"""
KIND = "@register\nclass Kind{}:\n    def __init__(self):\n        random.random()\n"


@pytest.mark.parametrize(("count", "found"), [(3, 3), (8, 8), (9, 0)])
def test_one_of_a_few_classes_is_picked_and_of_many_nobody_knows_which(count: int, found: int) -> None:
    classes = "\n".join(KIND.format(index) for index in range(count))
    assert len(solved(REGISTRY.format(classes=classes)).draws("train.py")) == found


WAYS = """
import argparse, random
parser = argparse.ArgumentParser()
parser.add_argument("--noisy", action="store_true")

def load(path):
    try:
        return open(path)
    except OSError:
        return None

def draw(a, b, c, run):
    if a is None and b is None or c is None:
        run()

def noisy():
    random.random()

def quiet():
    pass

for run in noisy, quiet:
    draw({}, run)
"""


@pytest.mark.parametrize(
    ("given", "contexts"), [("None, None, None", 2), ("load(1), None, 3", 4), ("load(1), load(2), load(3)", 2)]
)
def test_a_call_is_told_apart_by_what_its_arguments_surely_are_and_whom_they_call(given: str, contexts: int) -> None:
    found = solved(WAYS.format(given))
    nodes = [node for node in found.solution.solver.table if node.function.name == "draw"]
    assert (len(nodes), len(found.draws("train.py"))) == (contexts, 1)
