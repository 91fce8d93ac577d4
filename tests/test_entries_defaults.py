"""`detlint entries`: what classes hold of their own, and arguments of a command line that an option changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import told

OPTIONS = """
    import argparse
    import random

    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", default="fixed")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--free", action="store_true")
    args = parser.parse_args()
    {}
    if args.mode == "fixed":
        random.seed(1)
    print(random.random())
    """


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("pass", "seeded"),
        ("if args.free: args.mode = 'any'", "seeded"),
        ("if args.free: args.mode = input()", "seeded"),
        ("if args.free: vars(args)['mode'] = 'any'", "seeded"),
        ("args.mode = 'fixed'\nif args.free: args.mode = 'any'", "seeded"),
        ("if not args.free: args.mode = 'fixed'\nelse: args.mode = 'any'", "seeded"),
        ("if not args.free: args.mode = 'any'\nelse: args.mode = 'fixed'", "optional"),
        ("if input(): args.mode = 'any'", "optional"),
        ("args.mode = 'any'", "unseeded"),
    ],
)
def test_an_argument_that_an_option_changes_has_its_default(tmp_path: Path, line: str, state: str) -> None:
    program = OPTIONS.format(line.replace("\n", "\n    "))
    assert told(tmp_path, program)["generators"]["python"]["state"] == state


def test_an_option_that_gives_a_seed_is_one_that_must_be_set(tmp_path: Path) -> None:
    program = OPTIONS.replace('args.mode == "fixed"', "args.seed is not None").format("if args.free: args.seed = 3")
    found = told(tmp_path, program)["generators"]["python"]
    assert (found["state"], found["option"]) == ("optional", "--seed")


CLASSES = """
    import random


    class Base:
        class Config:
            owner = None

        def __init_subclass__(cls):
            {}


    class Drawing(Base):
        class Config(Base.Config):
            pass

        def go(self):
            return random.random()


    print(Drawing.Config.owner().go())
    """


@pytest.mark.parametrize(
    "line",
    [
        "cls.__dict__['Config'].owner = cls",
        "vars(cls)['Config'].owner = cls",
        "cls.__dict__.get('Config').owner = cls",
        "\n            if 'Config' in cls.__dict__: cls.__dict__['Config'].owner = cls",
    ],
)
def test_a_class_shows_what_it_holds_of_its_own(tmp_path: Path, line: str) -> None:
    assert told(tmp_path, CLASSES.format(line))["generators"]["python"]["state"] == "unseeded"


def test_a_class_does_not_show_what_its_bases_hold(tmp_path: Path) -> None:
    program = """
    import random


    class Base:
        def go(self):
            return random.random()


    class Derived(Base):
        pass


    print(Derived.__dict__["go"](None), random.getstate())
    random.seed(0)
    """
    assert told(tmp_path, program)["generators"]["python"]["first_draw"] is None
