"""No order of work shows in what is solved, within limits and where they are met."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from detlint.domain.limits import Limits
from tests.solved import solved
from tests.test_values_order import BOX, CLOSURE, GLOBAL, HEAD, HELPER, TOLIST
from tests.test_values_states import FACTORY, MODEL, PROGRAM
from tests.tools.solving import digest

ROOT = Path(__file__).parent.parent
CYCLE = {
    "a.py": "import b\n\nclass A:\n    def go(self, n):\n        return b.B(self).go(n)\n\n    def stop(self):\n        return []\n",
    "b.py": "import a\n\nclass B:\n    def __init__(self, of):\n        self.of = of\n\n    def go(self, n):\n"
    "        if n:\n            return self.of.go(n - 1)\n        return self.of.stop() or a.A()\n",
    "main.py": "from a import *\nfrom b import B\nx = A().go(3)\ny = B(x).go(x)\nz = [f(y) for f in (A.go, B.go)]\nx.stop()\n",
}
MANY = {"main.py": "def apply(f, how):\n    if how == 'x':\n        return f()\n    return [f, apply(f, 'x')]\n"
    + "".join(f"def f{i}():\n    return {i}\napply(f{i}, 't{i}')\n" for i in range(40))}  # fmt: skip
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


def test_a_limit_that_is_met_is_told_and_makes_values_coarse() -> None:
    few = solved(MANY, limits=Limits(contexts=4))
    assert few.solution.limited and few.solution.solver.coarse == {("main.py", "apply"): None}
    assert not solved(MANY, limits=Limits(contexts=200)).solution.limited


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


def test_the_hashes_of_a_run_of_python_show_nowhere() -> None:
    code = """
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
