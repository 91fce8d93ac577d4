"""`detlint entries`: functions that are handed to libraries, modules that are hooked and wrapped, ways back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import told

HEAD = """
import functools, itertools, random, re, timeit, types
import numpy as np
import torch
from torch import nn
import torch.utils.checkpoint as cp
from torch.nn.utils import parametrize
from torch.utils._pytree import tree_map


class Noise(nn.Module):
    def forward(self, x):
        return x + random.random()


class Same(nn.Module):
    def forward(self, x):
        return x


class Add(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, draw=lambda: 0):
        return x + draw()

    @staticmethod
    def backward(ctx, g):
        return g + np.random.rand()


def noise(*x):
    return random.random()


def quiet(*x):
    return 0


x = torch.ones(1, requires_grad=True)
"""


def state(folder: Path, statements: str, generator: str = "python") -> str:
    found = told(folder, f"{HEAD}\n{statements}\ntorch.rand(1)")["generators"][generator]["state"]
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize(
    "statement",
    [
        "sorted([1, 2], key={})",
        "max([1, 2], key={})",
        "[2, 1].sort(key={})",
        "list(filter({}, [1, 2]))",
        "list(itertools.takewhile({}, [1]))",
        "list(itertools.starmap({}, [(1, 2)]))",
        "list(itertools.groupby([1], key={}))",
        "timeit.timeit({}, number=3)",
        "re.sub('a', {}, 'a')",
        "np.apply_along_axis({}, 0, [1])",
        "np.vectorize({})([1])",
        "torch.vmap({}, randomness='different')(x)",
        "torch.func.grad({})(x)",
        "torch.func.vjp({}, x)",
        "torch.autograd.functional.jacobian({}, x)",
        "torch.autograd.gradcheck({}, (x,))",
        "x.apply_({})",
        "tree_map({}, [1])",
        "torch.optim.SGD([x], 0.1).step({})",
        "opt = torch.optim.LBFGS([x])\nopt.step(closure={})",
        "torch.optim.lr_scheduler.LambdaLR(torch.optim.SGD([x], 0.1), {})",
        "torch.optim.lr_scheduler.LambdaLR(torch.optim.SGD([x], 0.1), lr_lambda={})",
        "sorted([1, 2], key=functools.cmp_to_key({}))",
        "for item in map({}, [1]): pass",
        "torch.jit.trace({}, x)",
    ],
)
def test_a_function_that_is_handed_over_is_called(tmp_path: Path, statement: str) -> None:
    found = [state(tmp_path, statement.format(function)) for function in ("noise", "quiet")]
    assert found == ["unseeded", "unused"]


def test_what_is_handed_over_may_be_a_lambda_or_nothing(tmp_path: Path) -> None:
    found = [state(tmp_path, f"sorted([1, 2], key={given})") for given in ("lambda *v: noise()", "None")]
    assert found == ["unseeded", "unused"]


@pytest.mark.parametrize(
    "statement",
    [
        "torch.func.functional_call({}(), {{}}, (x,))",
        "cp.checkpoint_sequential(nn.Sequential({}()), 1, x)",
        "torch.onnx.export({}(), x, 'model.onnx')",
        "parametrize.register_parametrization(nn.Identity(), 'weight', {}())",
        "torch.fx.symbolic_trace({}())(x)",
        "for layer in map(lambda made: made(x), [{}()]): pass",
        "nn.Sequential({}()).to('cpu')(x)",
        "nn.ModuleList([{}()]).to('cpu')[0](x)",
        "nn.DataParallel({}()).module(x)",
        "nn.DataParallel({}()).module.forward(x)",
        "nn.DataParallel(nn.Sequential({}())).module(x)",
        "model = nn.parallel.DistributedDataParallel({}())\nmodel.module.to('cpu')(x)",
        "torch.compile({}(), mode='max-autotune')._orig_mod(x)",
    ],
)
def test_a_module_that_is_handed_over_or_wrapped_is_called(tmp_path: Path, statement: str) -> None:
    found = [state(tmp_path, statement.format(module)) for module in ("Noise", "Same")]
    assert found == ["unseeded", "unused"]


def test_a_module_with_a_module_of_its_own_is_not_wrapped(tmp_path: Path) -> None:
    program = """
        class Holder(nn.Module):
            def __init__(self):
                super().__init__()
                self.module = Noise()

            def forward(self, x):
                return x


        Holder().module(x)
        """
    assert state(tmp_path, program.replace("\n        ", "\n")) == "unseeded"


# Hooks


@pytest.mark.parametrize(
    ("module", "registered"),
    [
        ("Same()", "register_forward_hook"),
        ("nn.Linear(1, 1)", "register_forward_hook"),
        ("nn.Sequential(Same())", "register_forward_hook"),
        ("Same()", "register_forward_pre_hook"),
    ],
)
def test_a_hook_is_called_with_its_module(tmp_path: Path, module: str, registered: str) -> None:
    found = [
        state(tmp_path, f"model = {module}\nmodel.{registered}({hook})\n{called}")
        for called, hook in (("model(x)", "noise"), ("", "noise"), ("model(x)", "quiet"))
    ]
    assert found == ["unseeded", "unused", "unused"]


@pytest.mark.parametrize(
    "registered",
    ["nn.Identity().register_full_backward_hook({})", "y = torch.ones(1)\ny.register_hook({})"],
)
@pytest.mark.parametrize(
    ("back", "hook", "expected"),
    [("x.sum().backward()", "noise", "unseeded"), ("", "noise", "unused"), ("x.backward()", "quiet", "unused")],
)
def test_a_hook_on_the_way_back_is_called_on_it(
    tmp_path: Path, registered: str, back: str, hook: str, expected: str
) -> None:
    assert state(tmp_path, f"{registered.format(hook)}\n{back}") == expected


# Functions of autograd


@pytest.mark.parametrize("applied", ["Add.apply(x, {})", "add = Add.apply\nadd(x, {})"])
@pytest.mark.parametrize(("draw", "expected"), [("noise", "unseeded"), ("quiet", "unused")])
def test_a_function_of_autograd_is_applied(tmp_path: Path, applied: str, draw: str, expected: str) -> None:
    assert state(tmp_path, applied.format(draw)) == expected


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("Add.apply(x).sum().backward()", "unseeded"),
        ("y = Add.apply(x)\nloss = y.sum()\nloss.backward()", "unseeded"),
        ("Add.apply(x)", "unused"),
        ("x.sum().backward()", "unused"),
        ("x.sum().backward()\nAdd.apply(x)", "unused"),
    ],
)
def test_a_function_of_autograd_runs_back_once_it_was_applied(tmp_path: Path, statements: str, expected: str) -> None:
    assert state(tmp_path, statements, "numpy") == expected


# What objects are given themselves


@pytest.mark.parametrize(
    "given",
    [
        "model.forward = noise",
        "model.forward = lambda x: noise()",
        "model.forward = functools.partial(noise, 1)",
        "model.forward = types.MethodType(noise, model)",
        "type(model).forward = noise",
    ],
)
def test_the_forward_that_a_module_was_given_is_called(tmp_path: Path, given: str) -> None:
    assert state(tmp_path, f"model = Same()\n{given}\nmodel(x)") == "unseeded"


def test_a_call_of_the_base_calls_forward(tmp_path: Path) -> None:
    program = "class Own(Noise):\n    def __call__(self, x):\n        return super().__call__(x)\n\n\nOwn()(x)"
    assert state(tmp_path, program) == "unseeded"


@pytest.mark.parametrize("given", ["call", "lambda function: function()"])
def test_a_function_that_an_object_was_given_is_no_method(tmp_path: Path, given: str) -> None:
    program = f"""
def call(function):
    function()


class Holder:
    def __init__(self, function):
        self.function = function

    def run(self):
        self.function(noise)


Holder({given}).run()
"""
    assert state(tmp_path, program) == "unseeded"


@pytest.mark.parametrize("seeded", ["random.seed(0)", "pass"])
def test_what_a_property_is_set_to_goes_to_its_setter(tmp_path: Path, seeded: str) -> None:
    program = f"""
class Settings:
    def __init__(self):
        self.seed = 1

    @property
    def seed(self):
        return noise()

    @seed.setter
    def seed(self, value):
        {seeded}

    @seed.deleter
    def seed(self):
        np.random.rand()


settings = Settings()
value = settings.seed
"""
    assert state(tmp_path, program) == ("seeded" if seeded != "pass" else "unseeded")
    assert state(tmp_path, program, "numpy") == "unused"
    assert state(tmp_path, program.replace("settings.seed", "1")) == ("unused" if seeded == "pass" else "seeded")


def test_an_object_tells_its_class(tmp_path: Path) -> None:
    program = """
class Draws:
    def copy(self):
        return self.__class__()

    def draw(self):
        return noise()


Draws().copy().draw()
"""
    assert state(tmp_path, program) == "unseeded"


def test_a_name_that_is_a_property_elsewhere_is_an_attribute(tmp_path: Path) -> None:
    program = """
class Settings:
    @property
    def layer(self):
        return 1

    @layer.setter
    def layer(self, value):
        np.random.rand()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Noise()


Net().layer(x)
"""
    assert state(tmp_path, program) == "unseeded"
    assert state(tmp_path, program, "numpy") == "unused"


@pytest.mark.parametrize("shown", ["print(made.value)", "print('made', made.value)", "print(f'made {made.value}')"])
@pytest.mark.parametrize(("drawn", "expected"), [("noise", "unseeded"), ("quiet", "unused")])
def test_a_property_that_is_printed_is_read(tmp_path: Path, shown: str, drawn: str, expected: str) -> None:
    program = f"""
class Made:
    @property
    def value(self):
        return {drawn}()


made = Made()
{shown}
"""
    assert state(tmp_path, program) == expected


def test_a_member_of_an_enumeration_has_the_value_that_it_stands_for(tmp_path: Path) -> None:
    program = """
import enum


class Mode(enum.Enum):
    SEEDED = "seeded"
    LEFT = "left"


if Mode.{}.value == "seeded":
    random.seed(0)
noise()
"""
    assert state(tmp_path, program.format("SEEDED")) == "seeded"
    assert state(tmp_path, program.format("LEFT")) == "unseeded"
