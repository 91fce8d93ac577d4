"""No order of work shows in what is solved, within limits and where they are met."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from detlint.domain.atoms import Instance
from detlint.domain.limits import Limits
from detlint.domain.step import Step
from detlint.domain.values import UNKNOWN, Value
from detlint.models import loaders
from detlint.models.known import Known
from tests.solved import solved
from tests.test_values_order import BOX, CLOSURE, GLOBAL, HEAD, HELPER, TOLIST
from tests.test_values_states import FACTORY, MODEL, PROGRAM
from tests.tools.solving import digest, otherwise, rows

ROOT = Path(__file__).parent.parent
CYCLE = {
    "a.py": "import b\n\nclass A:\n    def go(self, n):\n        return b.B(self).go(n)\n\n    def stop(self):\n        return []\n",
    "b.py": "import a\n\nclass B:\n    def __init__(self, of):\n        self.of = of\n\n    def go(self, n):\n"
    "        if n:\n            return self.of.go(n - 1)\n        return self.of.stop() or a.A()\n",
    "main.py": "from a import *\nfrom b import B\nx = A().go(3)\ny = B(x).go(x)\nz = [f(y) for f in (A.go, B.go)]\nx.stop()\n",
}
MANY = {"main.py": "def apply(f, how):\n    if how == 'x':\n        return f()\n    return [f, apply(f, 'x')]\n"
    + "".join(f"def f{i}():\n    return {i}\napply(f{i}, 't{i}')\n" for i in range(30))}  # fmt: skip
SHARED = """
class Held:
    def __init__(self, items):
        self.items = items

    def turn(self, moves):
        if moves:
            self.items = moves[0].flip(self.items)
            self.mark(moves[0].marks)
        return [str(move.name) + "".join(map(str, self.items)) for move in moves]

    def mark(self, marks):
        for i in range(3):
            if marks[i] != i:
                self.items[i] = marks[i]
"""
"""A method that holds an attribute which another writes, in one arm and not in the other."""
ITERATORS = """
class Left:
    def __iter__(self):
        return Right()

    def __next__(self):
        return "left"


class Right:
    def __iter__(self):
        return Left()

    def __next__(self):
        return "right"


found = [item for item in Left()]
"""
"""Two classes whose objects are iterators over each other."""
GATHERED = """
import os


def ready(groups, done):
    found = []
    for group in groups:
        if is_done(group, done):
            found.append(group)
    return tuple(found), sorted(found)


def is_done(item, done):
    return str(item) in done


ready(os.listdir("d"), set())
"""
"""A list that gets its items only when another function has given something."""
NAMED = """
import os


def named(items):
    return {of}


def name(item):
    return f"<{{item}}>"


named(os.listdir("d"))
"""
"""A text of what another function gives."""
PROJECTS = {
    "order": {f"{i}.py": HEAD + text for i, text in enumerate((TOLIST.format(drawn="a"), HELPER.format(then="pass")))},
    "objects": {"a.py": HEAD + BOX + 'a = Box(os.listdir("d")); b = Box([a])\nrandom.choice(b.items[0].items)\n'},
    "variables": {"a.py": HEAD + GLOBAL.format(then="fix()"), "b.py": HEAD + CLOSURE.format(then="fix()")},
    "programs": {
        "model.py": MODEL,
        "factory.py": FACTORY,
        "main.py": PROGRAM.format(default="None", then="prepare(args)"),
    },
    "cycle": CYCLE,
    "many": MANY,
    "shared": {"held.py": SHARED, "main.py": "from held import Held\nHeld([]).turn([])\n"},
    "iterators": {"main.py": ITERATORS},
    "gathered": {"main.py": GATHERED},
    "joined": {"main.py": NAMED.format(of="','.join(map(name, items))")},
    "formatted": {"main.py": NAMED.format(of="f'{name(items)}'")},
}


@pytest.mark.parametrize(
    "limits", [Limits(), Limits().raised(), Limits(contexts=4, callables=4, sites=1)], ids=["plain", "raised", "few"]
)
@pytest.mark.parametrize("name", PROJECTS)
def test_tables_are_equal_in_shuffled_orders(name: str, limits: Limits) -> None:
    first = solved(PROJECTS[name], limits=limits)
    for order in range(5):
        assert digest(solved(PROJECTS[name], limits=limits, order=order).solution) == digest(first.solution)
    assert len(first.solution.solver.table) > len(PROJECTS[name])


@pytest.mark.parametrize("started", [None, set[str]()], ids=["reached", "unreached"])
@pytest.mark.parametrize("name", PROJECTS)
def test_a_node_that_is_evaluated_once_more_does_the_same(name: str, started: set[str] | None) -> None:
    for order in range(5):
        found = solved(PROJECTS[name], started, order=order).solution
        assert otherwise(found.solver) + otherwise(found.unreached) == []
        assert len(found.solver.table) + len(found.unreached.table) > len(PROJECTS[name])


@pytest.mark.parametrize("name", PROJECTS)
def test_programs_alone_give_what_they_give_among_all(name: str) -> None:
    texts = {**PROJECTS[name], "library.py": "def use(f):\n    return f(use)\n"}
    alone, among = (solved(texts, set(PROJECTS[name]), alone=alone).solution for alone in (True, False))
    assert [*rows(alone.solver)] == [*rows(among.solver)]
    assert not alone.unreached.table
    assert {node.function.name for node in among.unreached.table if node.function.file == "library.py"} == {"", "use"}


def test_a_decision_that_is_taken_back_is_told() -> None:
    found = solved(PROJECTS["cycle"]).solution
    entry = next(entry for entry in found.solver.table.values() if entry.node.function.name == "A.stop")
    entry.summary.returns = UNKNOWN
    assert len(otherwise(found.solver)) > 0


def test_names_of_a_library_do_not_grow_without_end() -> None:
    text = "import torch\n\ndef last(x):\n    return last(x.next) if x.next else x\n\nlast(torch)\n"
    found = solved(text).solution
    assert not found.limited
    assert {node.function.name for node in found.solver.table} == {"", "last"}


def test_what_no_program_reaches_has_one_node_a_function() -> None:
    calls = "".join(f"def use{i}():\n    return pick('{i}', str)\n" for i in range(20))
    text = f"def pick(name, make):\n    if name == '1':\n        return make(name)\n    return None\n{calls}"
    found = solved({"library.py": text}, set()).solution
    assert not found.solver.table
    assert len(found.unreached.table) == 22  # the top level, `pick` and who calls it


def test_a_class_that_is_imported_under_another_name_has_one_site() -> None:
    made = "from box import Box as B\n" + "".join(f"box{i} = B({i})\n" for i in range(6))
    texts = {"box.py": "class Box:\n    def __init__(self, n):\n        self.n = n\n", "main.py": made}
    found = solved(texts, {"main.py"}).solution
    assert len([node for node in found.solver.table if node.function.name == "Box.__init__"]) == 1


def test_a_limit_that_is_met_is_told_and_makes_values_coarse() -> None:
    few = solved(MANY, limits=Limits(contexts=4))
    assert few.solution.limited and few.solution.solver.coarse == {("main.py", "apply"): None}
    assert not solved(MANY, limits=Limits(contexts=200, tests=200)).solution.limited


def test_a_long_display_meets_no_limit() -> None:
    text = f"import random\ntable = [{', '.join('{}' for _ in range(100))}, random.random]\ntable[100]()\nfor f in table:\n    f()\n"
    found = solved({"main.py": text})
    assert not found.solution.limited
    assert len(found.draws("main.py")) == 1


def test_a_decorator_of_many_functions_meets_no_limit() -> None:
    each = "".join(f"@register\ndef f{i}():\n    return random.random()\n" for i in range(100))
    text = f"import random\nKNOWN = []\ndef register(f):\n    KNOWN.append(f)\n    return f\n{each}\nf3()\n"
    found = solved({"main.py": text})
    assert not found.solution.limited
    assert len(found.draws("main.py")) == 1


@pytest.mark.slow
def test_the_hashes_of_a_run_of_python_show_nowhere() -> None:
    code = """
from detlint.domain.atoms import Instance
from detlint.domain.limits import Limits
from tests.solved import solved
from tests.test_values_tables import PROJECTS
from tests.tools.solving import digest, solvers
for texts in PROJECTS.values():
    found = solved(texts, limits=Limits(contexts=4, callables=4, sites=1)).solution
    print(digest(found), *(entry.evaluations for solver in solvers(found) for entry in solver.table.values()))
"""
    seeds = [{**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)} for seed in range(3)]
    run = [
        subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
        for env in seeds
    ]
    assert len({done.stdout for done in run}) == 1 and run[0].stdout


def test_growing_values_come_to_an_end() -> None:
    text = "def f(x, n):\n    if n:\n        return f((x, [x]), n - 1)\n    return f(x + 'a', n)\ny = f('a', 3)\nwhile y:\n    y = (y, y)\n"
    assert solved(text).solution.solver.table


def test_data_sets_that_may_be_in_each_other_are_gone_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[Instance] = []
    inner = loaders.fetch_inner

    def noted(known: Known, step: Step, dataset: Instance, seen: set[Instance]) -> Value:
        looked_at.append(dataset)
        return inner(known, step, dataset, seen)

    monkeypatch.setattr(loaders, "fetch_inner", noted)
    text = """
import random
from torch.utils.data import ConcatDataset, DataLoader, Dataset

class Items(Dataset):
    def __getitem__(self, index):
        return random.random()

sets = [Items()]
while random.random() < 0.5:
"""
    text += "".join(f"    sets.append(ConcatDataset(sets))  # {number}\n" for number in range(6))
    found = solved(f"{text}for batch in DataLoader(sets[-1]):\n    pass\n")
    assert ("python", "train.py", 7, "unseeded", ()) in found.draws("train.py")
    assert len(set(looked_at)) == 6
    assert len(looked_at) < 100  # along each way between them there are more than 1,000


def test_a_caller_is_not_evaluated_again_for_what_it_waited_for() -> None:
    text = "def one():\n    return 1\ndef two():\n    return one() + 1\nprint(two())\n"
    table = solved(text).solution.solver.table
    assert {node.function.name: entry.evaluations for node, entry in table.items()} == {"": 1, "two": 1, "one": 1}
