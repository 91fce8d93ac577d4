"""`detlint entries`: functions that are called again, once what they look at outside of their arguments has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import told

STEPS = """
import random
import torch

class Quiet:
    def step(self):
        return 0

class Drawing:
    def step(self):
        return torch.rand(3)

"""
LONG = "print(1)\n    print(2)\n    print(3)\n    print(4)"  # more than the functions that are always run again have


@pytest.mark.parametrize(
    "program",
    [
        "model = Quiet()\ndef run():\n    {long}\n    model.step()\nrun()\n{between}model = Drawing()\nrun()\n",
        "model = Quiet()\ndef choose(made):\n    global model\n    model = made\n"
        "def run():\n    {long}\n    model.step()\nrun()\n{between}choose(Drawing())\nrun()\n",
        "HOOKS = []\ndef run():\n    {long}\n    for hook in HOOKS:\n        hook()\n"
        "run()\n{between}HOOKS.append(Drawing().step)\nrun()\n",
        "MADE = {{}}\ndef run():\n    {long}\n    for name in MADE:\n        MADE[name]().step()\n"
        "MADE['quiet'] = Quiet\nrun()\n{between}MADE['drawing'] = Drawing\nrun()\n",
        "class Models:\n    one = Quiet()\ndef run():\n    {long}\n    Models.one.step()\n"
        "run()\n{between}Models.one = Drawing()\nrun()\n",
        "HOOKS = []\ndef inner():\n    {long}\n    for hook in HOOKS:\n        hook()\n"
        "def run():\n    {long}\n    inner()\nrun()\n{between}HOOKS.append(Drawing().step)\nrun()\n",
        "HOOKS = []\ndef inner():\n    {long}\n    for hook in HOOKS:\n        hook()\n"
        "def run():\n    {long}\n    inner()\ninner()\nrun()\n{between}HOOKS.append(Drawing().step)\nrun()\n",
    ],
    ids=["bound", "global", "list", "dict", "class", "called", "remembered"],
)
@pytest.mark.parametrize("changed", [True, False], ids=["changed", "same"])
def test_a_function_that_is_called_again_finds_what_there_is_now(tmp_path: Path, program: str, changed: bool) -> None:
    between = "" if changed else "Drawing = Quiet\n"
    entry = told(tmp_path, STEPS + program.format(long=LONG, between=between) + "print(random.random())\n")
    assert entry["generators"]["torch"]["state"] == ("unseeded" if changed else "unused")


def test_a_function_that_remembers_that_it_was_called_may_do_something_else_then(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import torch
        ready = False

        def start():
            global ready
            print("starting")
            print("again")
            if not ready:
                ready = True
                return
            torch.manual_seed(0)

        start()
        start()
        print(torch.rand(3))
        """,
    )
    assert entry["generators"]["torch"]["state"] == "optional"


def test_a_seed_that_a_class_is_given_later_is_set(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import torch

        class Settings:
            seed = None

        def start():
            print("starting")
            print("still")
            print("and again")
            if Settings.seed is not None:
                torch.manual_seed(Settings.seed)

        start()
        Settings.seed = 3
        start()
        print(torch.rand(3))
        """,
    )
    assert entry["generators"]["torch"]["state"] == "seeded"
