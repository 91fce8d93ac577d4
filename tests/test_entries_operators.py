"""`detlint entries`: operators, comparisons and conversions of objects of the project's classes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import told

PROGRAM = """
import random
import torch
from torch import nn


class Base:
    def {method}(self, *others):
        return {drawn}


class Own(Base):
    pass


class OwnModule(nn.Module, Base):
    pass


made, module = Own(), OwnModule()
{statement}
torch.rand(1)
"""
BINARY = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
COMPARED = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
STATEMENTS = [
    *((f"__{name}__", f"y = made {operator} 1") for operator, name in BINARY.items()),
    *((f"__r{name}__", f"y = 1 {operator} made") for operator, name in BINARY.items()),
    *((f"__i{name}__", f"made {operator}= 1") for operator, name in BINARY.items()),
    ("__add__", "made += 1"),
    ("__add__", "y = (1, made + 2)"),
    ("__add__", "y = module + 1"),
    ("__neg__", "y = -made"),
    ("__invert__", "y = ~made"),
    *((f"__{name}__", f"y = made {operator} 1") for operator, name in COMPARED.items()),
    *((f"__{name}__", f"if made {operator} made: y = 1") for operator, name in COMPARED.items()),
    ("__eq__", "y = made != 1"),
    ("__eq__", "if 1 == made: y = 1"),
    ("__lt__", "y = 1 > made"),
    ("__contains__", "y = 1 in made"),
    ("__contains__", "if 1 not in made: y = 1"),
    ("__bool__", "if made: y = 1"),
    ("__bool__", "if not made: y = 1"),
    ("__bool__", "y = made and 1"),
    ("__bool__", "y = made or 1"),
    ("__bool__", "y = 1 if made else 2"),
    ("__bool__", "while Own(): break"),
    ("__bool__", "y = bool(made)"),
    ("__int__", "y = int(made)"),
    ("__index__", "y = int(made)"),
    ("__float__", "y = float(made)"),
    ("__abs__", "y = abs(made)"),
    ("__len__", "y = len(made)"),
    ("__len__", "for i in range(len(Own())): y = 1"),
    ("__str__", "y = str(made)"),
    ("__repr__", "y = str(made)"),
    ("__repr__", "y = repr(made)"),
    ("__str__", "y = f'{made}'"),
    ("__repr__", "y = f'{made}'"),
    ("__str__", "print(Own())"),
    ("__str__", "print('made', Own())"),
]


@pytest.mark.parametrize(("method", "statement"), STATEMENTS)
def test_the_method_of_a_class_is_called(tmp_path: Path, method: str, statement: str) -> None:
    for drawn, expected in (("random.random()", "unseeded"), ("1", "unused")):
        entry = told(tmp_path, PROGRAM.format(method=method, statement=statement, drawn=drawn))
        assert entry["generators"]["python"]["state"] == expected, drawn


@pytest.mark.parametrize(
    ("method", "statement"),
    [
        ("__radd__", "y = made + 1"),
        ("__add__", "y = 1 + made"),
        ("__bool__", "if made is None: y = 1"),
        ("__len__", "y = 1"),
    ],
)
def test_a_method_that_is_not_asked_is_not_called(tmp_path: Path, method: str, statement: str) -> None:
    entry = told(tmp_path, PROGRAM.format(method=method, statement=statement, drawn="random.random()"))
    assert entry["generators"]["python"]["state"] == "unused"


@pytest.mark.parametrize(("answer", "expected"), [("True", "seeded"), ("False", "unseeded")])
@pytest.mark.parametrize(
    ("method", "test"), [("__bool__", "Own()"), ("__eq__", "made == 1"), ("__contains__", "1 in made")]
)
def test_a_test_comes_out_as_the_object_says(
    tmp_path: Path, method: str, test: str, answer: str, expected: str
) -> None:
    statement = f"if {test}: random.seed(0)\nrandom.random()"
    entry = told(tmp_path, PROGRAM.format(method=method, statement=statement, drawn=answer))
    assert entry["generators"]["python"]["state"] == expected


def test_what_an_operator_makes_is_what_it_returns(tmp_path: Path) -> None:
    program = """
        import random


        class Draws:
            def draw(self):
                return random.random()


        class Pipe:
            def __or__(self, other):
                return Draws()


        (Pipe() | Pipe()).draw()
        """
    assert told(tmp_path, program)["generators"]["python"]["state"] == "unseeded"


@pytest.mark.parametrize("item", ["iter(random.random, None)", "iter(lambda: random.random(), 1)"])
def test_a_function_that_is_iterated_over_is_called(tmp_path: Path, item: str) -> None:
    program = f"import random\nfor value in {item}: break\n"
    assert told(tmp_path, program)["generators"]["python"]["state"] == "unseeded"


@pytest.mark.parametrize("items", ["[1]", "items", "Own()"])
def test_a_length_that_is_not_known_is_any_number(tmp_path: Path, items: str) -> None:
    program = """
        import random, sys


        class Own:
            def __len__(self):
                return len(sys.argv)


        items = []
        if len({}):
            random.seed(0)
        random.random()
        """
    entry = told(tmp_path, program.format(items))
    assert entry["generators"]["python"]["state"] not in ("seeded", "unseeded")
