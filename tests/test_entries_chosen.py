"""`detlint entries`: classes that are looked for by name in a module, and numbers that are counted."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.project import told

MODELS = """
    import importlib

    from models.base import Base


    def find(name):
        module = importlib.import_module("models." + name + "_model")
        found, wanted = None, name.replace("_", "") + "model"
        {}
        return found
    """
PROGRAM = """
    import argparse

    import models

    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="two_layer")
    options, _ = parser.parse_known_args()
    parser = models.find(options.model).modify(parser)
    options = parser.parse_args()
    model = models.find(options.model)(options)
    """


@pytest.mark.parametrize(
    "search",
    [
        """for name, each in module.__dict__.items():
            if name.lower() == wanted.lower() and issubclass(each, Base):
                found = each""",
        """for name, each in vars(module).items():
            if name.lower() == wanted:
                return each""",
        """for name, each in vars(module).items():
            if wanted == name.lower() and issubclass(each, (Base, dict)):
                found = each""",
    ],
)
def test_a_class_is_looked_for_among_the_names_of_a_module(tmp_path: Path, search: str) -> None:
    files = {
        "models/__init__.py": MODELS.format(search),
        "models/base.py": """
            class Base:
                def __init__(self, options):
                    self.options = options

                @staticmethod
                def modify(parser):
                    return parser
            """,
        "models/two_layer_model.py": """
            import torch

            from .base import Base


            class TwoLayerModel(Base):
                @staticmethod
                def modify(parser):
                    parser.add_argument("--size", type=int, default=3)
                    return parser

                def __init__(self, options):
                    super().__init__(options)
                    self.layer = torch.nn.Linear(options.size, 1)


            class Other(Base):
                def __init__(self, options):
                    self.noise = torch.rand(2)
            """,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(text), encoding="utf-8")
    first = told(tmp_path, PROGRAM)["generators"]["torch"]["first_draw"]
    assert (Path(first["path"]).name, first["what"]) == ("two_layer_model.py", "torch.nn.Linear")


@pytest.mark.parametrize(
    ("test", "state"),
    [
        ("issubclass(B, A)", "unseeded"),
        ("issubclass(A, B)", "unused"),
        ("issubclass(B, (A, int))", "unseeded"),
        ("not issubclass(B, A)", "unused"),
        ("issubclass(B, B)", "unseeded"),
    ],
)
def test_a_class_is_asked_for_its_bases(tmp_path: Path, test: str, state: str) -> None:
    program = f"""
        import random

        import torch


        class A:
            pass


        class B(A):
            pass


        if {test}:
            torch.rand(1)
        random.random()
        """
    assert told(tmp_path, program)["generators"]["torch"]["state"] == state


@pytest.mark.parametrize(
    ("start", "body"),
    [
        ("n = 0", "n += 1"),
        ("n = 0", "n = n + 1"),
        ("n = 0", "n = 1 + n"),
        ("n = 90", "n -= 1"),
        ("n = start", "n += 1"),
    ],
)
@pytest.mark.parametrize("loop", ["while True:", "for _ in range(100):"])
def test_a_number_that_a_loop_counts_changes(tmp_path: Path, start: str, body: str, loop: str) -> None:
    program = f"""
        import random

        start = 0
        {start}
        {loop}
            if 10 < n < 20:
                random.random()
            {body}
        """
    assert told(tmp_path, program)["generators"]["python"]["state"] == "unseeded"


def test_a_number_that_a_method_counts_changes(tmp_path: Path) -> None:
    program = """
        import random


        class Pool:
            def __init__(self, size):
                self.size, self.held = size, []
                self.count = 0

            def query(self, item):
                if self.count < self.size:
                    self.count = self.count + 1
                    self.held.append(item)
                    return item
                return self.held[random.randint(0, self.size - 1)]


        pool = Pool(50)
        for item in range(100):
            pool.query(item)
        """
    assert told(tmp_path, program)["generators"]["python"]["state"] == "unseeded"


def test_a_number_that_nothing_counts_is_what_it_was_set_to(tmp_path: Path) -> None:
    program = """
        import random

        import numpy as np

        n = k = 0
        for _ in range(100):
            if n > 10:
                random.random()
            k += 1
        np.random.rand(k)
        """
    assert told(tmp_path, program)["generators"]["python"]["state"] == "unused"


ADDS = """
    import os.path as osp
    import sys


    def add_path(path{default}):
        if path not in sys.path:
            sys.path.insert(0, path)


    here = osp.dirname(__file__)
    {call}
    """


@pytest.mark.parametrize(
    ("default", "call", "found"),
    [
        ("", "lib = osp.join(here, 'lib')\n    add_path(lib)", True),
        ("", "add_path(osp.join(here, 'other'))\n    add_path(path=osp.join(here, 'lib'))", True),
        ("", "add_path(osp.join(here, 'other'))", False),
        ("=osp.join(osp.dirname(__file__), 'other')", "add_path()", False),
    ],
)
def test_a_function_adds_a_folder_that_it_is_given_to_the_search_path(
    tmp_path: Path, default: str, call: str, found: bool
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "layers.py").write_text(
        "import torch\n\ndef made():\n    return torch.nn.Linear(2, 2)\n", encoding="utf-8"
    )
    (tmp_path / "places.py").write_text(textwrap.dedent(ADDS.format(default=default, call=call)), encoding="utf-8")
    program = """
        import places
        import random

        import layers

        layers.made()
        random.random()
        """
    assert told(tmp_path, program)["generators"]["torch"]["state"] == ("unseeded" if found else "unused")


@pytest.mark.parametrize(
    ("test", "state"),
    [
        ("kept", "optional"),
        ("not kept", "optional"),
        ("written", "seeded"),
        ("not written", "unseeded"),
        ("filled", "optional"),
        ("not filled", "optional"),
        ("added", "seeded"),
        ("not added", "unseeded"),
        ("made", "seeded"),
        ("chosen", "optional"),
        ("{1, 2} - {2}", "optional"),
        ("set(written) & {2}", "optional"),
        ("given", "unseeded"),
        ("not given", "seeded"),
        ("named", "unseeded"),
        ("not named", "seeded"),
        ("passed", "seeded"),
        ("(1,)", "seeded"),
        ("'a' in {'a': 1}", "optional"),
        ("'b' in {'a': 1}", "unseeded"),
        ("options.kind in {'one': 1}", "seeded"),
        ("options.kind in {'two': 1}", "optional"),
        ("'on' in options.kind", "seeded"),
        ("'vit' in options.kind", "optional"),
        ("'vit' in 'resnet'", "unseeded"),
        ("'one' == options.kind", "seeded"),
        ("'two' == options.kind", "optional"),
    ],
)
def test_what_a_container_is_asked_for(tmp_path: Path, test: str, state: str) -> None:
    program = f"""
        import argparse
        import sys

        import torch

        parser = argparse.ArgumentParser()
        parser.add_argument("--kind", default="one")
        options = parser.parse_args()
        kept, written, filled = [], [1, 2], []
        if sys.argv[0]:
            filled.append(1)
        added = []
        added.append(1)
        made, chosen = [each for each in written], [each for each in written if each > 1]


        def main(*given, **named):
            passed = named
            if {test}:
                torch.manual_seed(0)
            torch.rand(1)


        main({"**vars(options)" if test == "passed" else ""})
        """
    assert told(tmp_path, program)["generators"]["torch"]["state"] == state
