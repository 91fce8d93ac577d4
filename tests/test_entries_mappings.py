"""`detlint entries`: what is taken out of mappings and unpacked into calls."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner

from detlint.cli import cli
from tests.project import told

REGISTRY = """
    import copy
    import json
    import random

    REGISTRY = {}


    def register(kind):
        REGISTRY[kind.__name__] = kind
        return kind


    @register
    class Quiet:
        def __init__(self, n=1):
            print(n)


    @register
    class Noisy:
        def __init__(self, n=1):
            print(random.sample(range(9), n))


    @register
    class Typed:
        def __init__(self, type="typed"):
            print(random.gauss(0, 1))


    """


def after(head: str, body: str) -> str:
    """A program of two parts, each indented as it is."""
    return textwrap.dedent(head) + textwrap.dedent(body)


def findings(folder: Path, program: str) -> list[tuple[int, str, str]]:
    """Lines, codes and severities of what is found in a program."""
    (folder / "pyproject.toml").touch()
    (folder / "program.py").write_text(textwrap.dedent(program).lstrip("\n"), encoding="utf-8")
    arguments = ["check", "--no-cache", "--format", "json", str(folder)]
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    return [(each["line"], each["code"], each["severity"]) for each in json.loads(result.stdout)["findings"]]


@pytest.mark.parametrize(
    "taken",
    [
        "kind = cfg.pop('type')",
        "kind = cfg.pop('type', 'Quiet')",
        "cfg = cfg.copy()\n    kind = cfg.pop('type')",
        "cfg = copy.copy(cfg)\n    kind = cfg.pop('type')",
        "cfg = copy.deepcopy(cfg)\n    kind = cfg.pop('type')",
    ],
)
@pytest.mark.parametrize(("kind", "what"), [("Noisy", "random.sample"), ("Typed", "random.gauss"), ("Quiet", None)])
def test_a_class_is_made_without_the_key_that_chose_it(tmp_path: Path, taken: str, kind: str, what: str | None) -> None:
    body = f"def build(cfg):\n    {taken}\n    return REGISTRY[kind](**cfg)\n\n\nbuild(dict(type='{kind}'))\n"
    draw = told(tmp_path, after(REGISTRY, f"{body}random.seed(0)\n"))["generators"]["python"]["first_draw"]
    assert (draw and draw["what"]) == what


def test_what_takes_keywords_is_made_without_the_one_that_chose_it(tmp_path: Path) -> None:
    body = "def build(**cfg):\n    kind = cfg.pop('type')\n    return REGISTRY[kind](**cfg)\n\n\nbuild(type='Noisy', n=2)\n"
    assert told(tmp_path, after(REGISTRY, body))["generators"]["python"]["first_draw"]["what"] == "random.sample"


def test_what_is_copied_keeps_what_is_taken_out_of_the_copy(tmp_path: Path) -> None:
    program = """
        import random

        base = {"seed": 3, "rate": 0.1}
        given = base.copy()
        given.pop("seed")


        def start(rate, seed=None):
            if seed is not None:
                random.seed(seed)
            print(random.random())


        start(**base)
        """
    assert told(tmp_path, program)["generators"]["python"]["state"] == "seeded"


@pytest.mark.parametrize("made", ["{'seed': 3}", "BASE.copy()"])
def test_what_is_taken_out_of_one_mapping_stays_in_others_that_are_made_like_it(tmp_path: Path, made: str) -> None:
    program = f"""
        import random

        BASE = {{'seed': 3}}


        def make():
            return {made}


        def start(seed=None):
            if seed is not None:
                random.seed(seed)
            print(random.random())


        given = make()
        given.pop("seed")
        start(**make())
        """
    assert told(tmp_path, program)["generators"]["python"]["state"] == "seeded"


def test_a_key_that_is_perhaps_taken_out_is_perhaps_there(tmp_path: Path) -> None:
    program = """
        import random

        given = {"seed": 3}
        if input():
            given.pop("seed")


        def start(seed=None):
            if seed is not None:
                random.seed(seed)
            print(random.random())


        start(**given)
        """
    assert told(tmp_path, program)["generators"]["python"]["state"] != "unseeded"


def test_what_a_loop_takes_out_of_each_mapping_is_found_in_each_round(tmp_path: Path) -> None:
    body = """
        def build(cfgs):
            for cfg in cfgs:
                random.seed(random.random())
                kind = cfg.pop('type')
                REGISTRY[kind](**cfg)

        build([dict(type='Quiet')])
        """
    program = after(REGISTRY, body)
    draws = [line for line, code, _ in findings(tmp_path, program) if code == "DET103"]
    assert draws == []


def test_classes_none_of_which_takes_all_keywords_are_all_called(tmp_path: Path) -> None:
    body = "REGISTRY[input()](kind='Noisy')\n"
    assert told(tmp_path, after(REGISTRY, body))["generators"]["python"]["state"] == "unseeded"


COPIED = """
    import argparse
    import random

    parser = argparse.ArgumentParser()
    parser.add_argument("--noisy", action="store_true")
    parser.add_argument("--epochs", type=int, default=3)
    parsed = parser.parse_args()
    args = argparse.Namespace(noisy=True, epochs=1)
    {}
    if args.noisy:
        random.random()
    random.seed(0)
    random.random()
    """


@pytest.mark.parametrize(
    ("loop", "state"),
    [
        ("", "late"),
        (
            "args = argparse.Namespace()\n    for name in vars(parsed): setattr(args, name, getattr(parsed, name))",
            "seeded",
        ),
        ("args = argparse.Namespace()\n    for k in vars(parsed).keys(): setattr(args, k, vars(parsed)[k])", "seeded"),
        ("args = argparse.Namespace()\n    for k, v in vars(parsed).items(): setattr(args, k, v)", "seeded"),
    ],
)
def test_options_are_copied_name_by_name(tmp_path: Path, loop: str, state: str) -> None:
    assert told(tmp_path, COPIED.format(loop))["generators"]["python"]["state"] == state


CLASSES_OF_DICTS = """
    import collections

    import torch


    class Registry(collections.UserDict):
        def __getitem__(self, name):
            if name not in super().keys():
                raise KeyError(name)
            return super().__getitem__(name)


    class Lower(dict):
        def __getitem__(self, name):
            return dict.__getitem__(self, name.lower())

        def get(self, name, default=None):
            return super().get(name.lower(), default)


    def layer():
        return torch.nn.Linear(2, 2)


    plain, registry, lower = collections.UserDict(), Registry(), Lower()
    plain["a"] = registry["a"] = lower["a"] = layer

    if __name__ == "__main__":
        {}
    """


@pytest.mark.parametrize(
    ("done", "state"),
    [
        ('print(plain["a"]())', "unseeded"),
        ('print(plain.get("a")())', "unseeded"),
        ("print(registry[type(input())]())", "unseeded"),
        ('print(registry.pop("a")())', "unseeded"),
        ('print(lower["A"]())', "unseeded"),
        ('print(lower.get("A")())', "unseeded"),
        ('print({"a": layer}.__getitem__("a")())', "unseeded"),
        ("print([name() for name in lower])", "unused"),
        ("registry[int] = layer", "unused"),
    ],
)
def test_a_class_derived_from_a_dict_gives_its_items(tmp_path: Path, done: str, state: str) -> None:
    assert told(tmp_path, CLASSES_OF_DICTS.replace("{}", done))["generators"]["torch"]["state"] == state
