"""`detlint entries`: what comes after an arm that leaves, which is on other paths, unless something goes on there."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.project import told

UNKNOWN = "torch.load('x').is_leaf"


@pytest.mark.parametrize(
    "program",
    [
        "if TEST:\n    torch.rand(2)\n    sys.exit()\ntorch.manual_seed(0)\ntorch.rand(3)",
        "if TEST:\n    print(1)\nelse:\n    torch.rand(2)\n    raise SystemExit\ntorch.manual_seed(0)\ntorch.rand(3)",
        "def draw():\n    if TEST:\n        return torch.rand(2)\n    torch.manual_seed(0)\n    torch.rand(3)\ndraw()",
        "def draw():\n    if TEST:\n        return torch.rand(2)\n    else:\n        torch.manual_seed(0)\n"
        "    return torch.rand(3)\ndraw()",
        "def check():\n    if TEST:\n        torch.rand(2)\n        sys.exit()\ncheck()\n"
        "torch.manual_seed(0)\ntorch.rand(3)",
        "if os.name:\n    if TEST:\n        torch.rand(2)\n        sys.exit()\n    print(1)\n"
        "torch.manual_seed(0)\ntorch.rand(3)",
        "try:\n    torch.load('x').y()\nexcept OSError:\n    torch.rand(2)\n    sys.exit()\n"
        "torch.manual_seed(0)\ntorch.rand(3)",
    ],
)
def test_what_follows_an_arm_that_leaves_is_on_other_paths(tmp_path: Path, program: str) -> None:
    found = told(tmp_path, "import os, sys, torch\n" + program.replace("TEST", UNKNOWN))["generators"]["torch"]
    assert (found["state"], found["seed_after_draw"]) == ("optional", None)


@pytest.mark.parametrize(
    "program",
    [
        "def check():\n    if TEST:\n        torch.rand(2)\n        return\ncheck()\ntorch.manual_seed(0)",
        "def seed():\n    torch.manual_seed(0)\ndef check():\n    if TEST:\n        torch.rand(2)\n        return\n"
        "    seed()\ncheck()\ncheck()",
        "for x in torch.load('y'):\n    if TEST:\n        torch.rand(2)\n        continue\n    torch.manual_seed(0)",
        "try:\n    if TEST:\n        torch.rand(2)\n        raise OSError\nexcept OSError:\n    print(1)\n"
        "torch.manual_seed(0)",
        "def check():\n    if TEST:\n        torch.rand(2)\n        raise OSError\ntry:\n    check()\n"
        "except OSError:\n    print(1)\ntorch.manual_seed(0)",
        "if TEST:\n    torch.rand(2)\nif TEST:\n    torch.rand(3)\n    raise OSError\ntorch.manual_seed(0)",
    ],
)
def test_a_seed_is_late_where_the_program_goes_on(tmp_path: Path, program: str) -> None:
    found = told(tmp_path, "import torch\n" + program.replace("TEST", UNKNOWN))["generators"]["torch"]
    assert found["state"] == "late"


SCOPES = """
import argparse, contextlib
import numpy as np
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int)
args = parser.parse_args()

@contextlib.contextmanager
def seeded(seed):
    if seed is None:
        yield
        return
    state = np.random.get_state()
    np.random.seed(seed)
    try:
        yield
    finally:
        np.random.set_state(state)

def drawn(seed):
    with seeded(seed):
        return np.random.choice(3)

def kept(seed):
    with seeded(seed):
        found = np.random.choice(3)
    return found

def chosen(seed):
    with seeded(seed) if seed is not None else contextlib.ExitStack():
        return np.random.choice(3)

def plain(seed):
    if seed is None:
        return np.random.choice(3)
    state = np.random.get_state()
    np.random.seed(seed)
    found = np.random.choice(3)
    np.random.set_state(state)
    return found

"""


@pytest.mark.parametrize("function", ["drawn", "kept", "chosen", "plain"])
@pytest.mark.parametrize(("seed", "option"), [("args.seed", "--seed"), ("torch.load('x').seed", None)])
def test_a_scope_that_may_seed_is_optional(tmp_path: Path, function: str, seed: str, option: str | None) -> None:
    found = told(tmp_path, f"{SCOPES}{function}({seed})")["generators"]["numpy"]
    assert (found["state"], found["option"]) == ("optional", option)


@pytest.mark.parametrize(
    "test",
    [
        "os.path.isfile('a') and args.frac is None",
        "os.path.isfile('a') == args.model and args.frac is None",
        "not args.flag and os.path.isfile('a')",
        "args.model and args.frac is None",
        "os.path.isfile('a') or args.flag",
        "os.path.isfile('a') or args.frac is not None",
    ],
)
def test_a_junction_that_is_kept_has_no_default_that_its_test_has_not(tmp_path: Path, test: str) -> None:
    program = f"""
        import argparse, os, torch
        parser = argparse.ArgumentParser()
        parser.add_argument("--model", required=True)
        parser.add_argument("--frac")
        parser.add_argument("--flag", action="store_true")
        args = parser.parse_args()
        kept = {test}
        if kept:
            torch.manual_seed(0)
        torch.rand(2)
        """
    found = told(tmp_path, textwrap.dedent(program))["generators"]["torch"]
    assert (found["state"], found["option"]) == ("optional", None)


def test_a_state_that_an_option_puts_back_is_no_seed_that_hangs_on_it(tmp_path: Path) -> None:
    program = """
        import argparse
        import numpy as np
        import torch
        parser = argparse.ArgumentParser()
        parser.add_argument("--keep", action="store_true")
        args = parser.parse_args()
        if torch.load("x").is_leaf:
            np.random.seed(0)
        if args.keep:
            np.random.set_state(torch.load("y"))
        """
    found = told(tmp_path, program)["generators"]["numpy"]
    assert (found["state"], found["option"]) == ("optional", None)
