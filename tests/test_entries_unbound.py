"""`detlint entries`: methods that are called as functions, modules that are filled, and methods known by their name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import told

BASES = """
    import functools
    import random


    def logged(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)

        return wrapper


    class Base:
        def __init__(self):
            random.random()


    class Middle(Base):
        def __init__(self):
            super().__init__()


    {}


    Model()
    """


@pytest.mark.parametrize(
    "model",
    [
        """class Model(Middle):
        def __init__(self):
            Middle.__init__(self)""",
        """class Model(Base):
        @logged
        def __init__(self):
            super().__init__()""",
        """class Model(Middle):
        @logged
        def __init__(self):
            Middle.__init__(self)""",
    ],
)
def test_super_is_found_where_a_method_is_called_as_a_function(tmp_path: Path, model: str) -> None:
    assert told(tmp_path, BASES.format(model))["generators"]["python"]["state"] == "unseeded"


def test_what_a_method_gives_is_told_apart_by_the_object_that_it_is_called_with(tmp_path: Path) -> None:
    program = """
        import torch


        class Config:
            owner = None

            def build(self):
                return self.owner()


        class Named(Config):
            def build(self):
                return Config.build(self)


        class A(Named):
            owner = list


        class B(Named):
            owner = dict


        class C(Named):
            owner = set


        class Layer(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = torch.nn.Linear(3, 3)


        class D(Named):
            owner = Layer


        for each in (A(), B(), C()):
            each.build()
        D().build()
        """
    assert told(tmp_path, program)["generators"]["torch"]["state"] == "unseeded"


@pytest.mark.parametrize(
    "fill",
    [
        "setattr(sys.modules[__name__], 'draw', random.random)",
        "setattr(sys.modules['__main__'], 'draw', random.random)",
        "for name in ('draw', 'other'):\n        setattr(sys.modules[__name__], name, random.random)",
        "setattr(sys.modules[__name__], '%s' % 'draw', random.random)",
    ],
)
def test_a_module_is_given_variables(tmp_path: Path, fill: str) -> None:
    program = f"""
    import random
    import sys


    def run():
        return draw()


    {fill}
    run()
    """
    assert told(tmp_path, program)["generators"]["python"]["state"] == "unseeded"


@pytest.mark.parametrize(
    ("call", "drawn"),
    [
        ("sample_noise(3)", True),
        ("sample_noise(3, scale=2)", True),
        ("sample_noise(size=3)", True),
        ("sample_noise()", False),
        ("sample_noise(3, 4, 5)", False),
        ("sample_noise(3, other=2)", False),
    ],
)
def test_a_method_that_is_known_by_its_name_takes_what_it_is_given(tmp_path: Path, call: str, drawn: bool) -> None:
    program = f"""
        import pickle
        import random

        import numpy as np


        class Model:
            def sample_noise(self, size, scale=1):
                return random.random() * size * scale


        np.random.rand(2)
        model = pickle.load(open("model", "rb"))
        model.{call}
        """
    assert told(tmp_path, program)["generators"]["python"]["state"] == ("unseeded" if drawn else "unused")


def test_a_loop_may_name_what_it_keeps(tmp_path: Path) -> None:
    program = """
        import sys

        import torch


        def first():
            return torch.nn.Conv2d(1, 1, 1)


        def second():
            return torch.nn.Linear(1, 1)


        known = {}
        for old, new in {"a": "first", "b": "second"}.items():
            function = getattr(sys.modules[__name__], new)
            known[old] = function
        known["b"]()
        """
    assert told(tmp_path, program)["generators"]["torch"]["first_draw"]["what"] == "torch.nn.Linear"


def test_one_of_several_objects_is_not_taken_for_all(tmp_path: Path) -> None:
    program = """
        import random
        import sys

        import numpy as np


        class Quiet:
            def go(self):
                return 1


        class Loud:
            def go(self):
                return random.random()


        def hook(owner, given):
            before = []
            before.append(given)
            for each in before:
                print(each)
            return owner.go()


        np.random.rand(1)
        hook(Quiet(), None)
        hook(Quiet(), 1)
        hook(Quiet(), (1, 2))
        hook(Quiet() if len(sys.argv) > 1 else Loud(), [1])
        """
    states = {told(tmp_path, program)["generators"]["python"]["state"] for _ in range(8)}
    assert states == {"unseeded"}
