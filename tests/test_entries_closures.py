"""`detlint entries`: variables of functions that functions within these use and set."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import told

HEAD = """
import random
import torch


def noise():
    return random.random()


def quiet():
    return 0


"""


def state(folder: Path, program: str) -> str:
    found = told(folder, f"{HEAD}{program.strip()}\ntorch.rand(1)\n")["generators"]["python"]["state"]
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize(
    "program",
    [
        # a variable that is bound after the function that uses it
        "def outer():\n    def run():\n        return draw()\n    draw = {0}\n    return run\n\n\nouter()()",
        "def outer():\n    run = lambda: draw()\n    draw = {0}\n    run()\n\n\nouter()",
        "def outer():\n    def run():\n        return draw()\n    def draw():\n        return {0}()\n    run()\n\n\nouter()",
        "def outer():\n    from random import random\n    def run():\n        return draw()\n    for draw in [{0}]:\n        run()\n\n\nouter()",
        "def outer():\n    def run():\n        return held['draw']()\n    held = dict(draw={0})\n    run()\n\n\nouter()",
        # one that is bound anew
        "def outer():\n    draw = quiet\n    def run():\n        return draw()\n    draw = {0}\n    run()\n\n\nouter()",
        # one that functions within set
        "def outer():\n    draw = None\n    def choose():\n        nonlocal draw\n        draw = {0}\n    choose()\n    draw()\n\n\nouter()",
        "def outer():\n    draw = quiet\n    def choose():\n        nonlocal draw\n        draw = {0}\n    def run():\n        draw()\n"
        "    choose()\n    return run\n\n\nouter()()",
        "def outer():\n    draw = quiet\n    def middle():\n        def choose():\n            nonlocal draw\n            draw = {0}\n"
        "        choose()\n    middle()\n    draw()\n\n\nouter()",
        "class Holder:\n    def run(self):\n        draw = quiet\n        def choose():\n            nonlocal draw\n            draw = {0}\n"
        "        choose()\n        draw()\n\n\nHolder().run()",
    ],
)
def test_a_function_finds_the_variables_around_it(tmp_path: Path, program: str) -> None:
    assert [state(tmp_path, program.format(drawn)) for drawn in ("noise", "quiet")] == ["unseeded", "unused"]


def test_a_function_finds_a_variable_as_it_was_when_it_was_called(tmp_path: Path) -> None:
    program = """
def outer():
    seed = None

    def run():
        if seed is not None:
            random.seed(seed)
        return noise()

    {}
    run()
    {}


outer()
"""
    assert state(tmp_path, program.format("seed = 3", "seed = None")) == "seeded"
    assert state(tmp_path, program.format("pass", "seed = 3")) == "unseeded"


def test_calls_of_a_function_share_no_variables(tmp_path: Path) -> None:
    program = """
def maker(function):
    def run():
        return held()

    held = function
    return run


first, second = maker(noise), maker(quiet)
second()
"""
    assert state(tmp_path, program) == "unused"


def test_a_number_that_is_counted_within_is_no_seed(tmp_path: Path) -> None:
    program = """
def outer():
    count = 0

    def step():
        nonlocal count
        count += 1
        return count

    step()
    if count:
        random.seed(0)
    noise()


outer()
"""
    assert state(tmp_path, program) == "optional"
