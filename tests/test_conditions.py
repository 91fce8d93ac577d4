"""Conditions of the tables on a call, and what can be told of tensors, indices and surroundings."""

from __future__ import annotations

import textwrap

import pytest

from detlint import catalogue
from detlint.analysis.training import constants, contexts, gradients, learning
from detlint.analysis.values import indices, tensors
from detlint.analysis.values.conditions import holds
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from tests.support import module

HEADER = """
import torch
import torch.nn.functional as F
from functools import partial
from torch import nn
SIZES = (2, 3)


class Own:
    def __init__(self, kind): ...
"""


def last(text: str, head: str = "def f(self, x, y, flag, mode=None, **kwargs):") -> tuple[Module, s.Call]:
    """The last statement's call, in a function where `x` and `y` are not known."""
    read = module(HEADER + head + "\n" + textwrap.indent(textwrap.dedent(text).strip(), "    "))
    return read, next(call for call in reversed(read.calls) if isinstance(call.parent, s.Statement))


@pytest.mark.parametrize(
    ("text", "condition", "answer"),
    [
        ("F.interpolate(x, mode='area')", "mode=area", True),
        ("F.interpolate(x, mode='area')", "mode=bilinear|area", True),
        ("F.interpolate(x, mode='area')", "mode!=area", False),
        ("F.interpolate(x)", "mode=nearest", True),
        ("F.interpolate(x, None, 2, 'linear')", "mode=linear", True),
        ("F.interpolate(x, mode=mode)", "mode=area", None),
        ("F.interpolate(x, mode=mode)", "mode!=area", None),
        ("F.interpolate(x, **kwargs)", "mode=area", None),
        ("F.interpolate(x, **{'mode': 'area'})", "mode=area", True),
        ("F.interpolate(x, mode='area' if flag else 'linear')", "mode=area", None),
        ("F.interpolate(x, mode='area' if flag else 'linear')", "mode=area|linear", True),
        ("how = 'area'\nF.interpolate(x, mode=how)", "mode=area", True),
        ("make = partial(F.interpolate, mode='area')\nmake(x)", "mode=area", True),
        ("nn.AdaptiveAvgPool2d((1, 1))", "output_size=1", True),
        ("nn.AdaptiveAvgPool2d([7, 7])", "output_size!=1|None", True),
        ("nn.AdaptiveAvgPool2d(SIZES)", "output_size=(2, 3)", True),
        ("nn.AdaptiveAvgPool2d(x)", "output_size!=1", None),
        ("torch.bincount(x)", "weights", False),
        ("torch.bincount(x, None)", "weights", False),
        ("torch.bincount(x, y)", "weights", True),
        ("torch.bincount(x, y)", "!weights", False),
        ("torch.bincount(x)", "!weights", True),
        ("torch.bincount(x, **kwargs)", "!weights", None),
        ("torch.scatter(x, 0, y, torch.ones(3))", "src:Tensor", True),
        ("torch.scatter(x, 0, y, x)", "src:Tensor", None),
        ("torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH)", "backends=torch.nn.attention.SDPBackend.MATH", True),
        ("torch.nn.attention.sdpa_kernel([torch.nn.attention.SDPBackend.MATH])", "backends=torch.nn.attention.SDPBackend.MATH", True),
        ("g(options={'seed': 0})", "options.seed", True),
        ("g(options={'seed': 0})", "!options.seed", False),
        ("g(options={'seed': None})", "!options.seed", True),
        ("g(options={'kind': 'a'})", "!options.seed", True),
        ("g(options={'kind': 'a'})", "options.kind=a|b", True),
        ("g(options={'kind': 'a'})", "options.kind!=a|b", False),
        ("g(options={'kind': x})", "options.kind=a", None),
        ("g(options={'kind': 'a', **kwargs})", "!options.seed", None),
        ("g(options=dict(kind='a'))", "options.kind=a", True),
        ("g(options={'kind': {'deep': 'a'}})", "options.kind.deep=a", True),
        ("g()", "!options.seed", True),
        ("g(options=None)", "!options.seed", True),
        ("g(options=x)", "!options.seed", None),
        ("g(**kwargs)", "!options.seed", None),
        ("o = {'kind': 'a'}\nif flag:\n    o['seed'] = 1\ng(options=o)", "!options.seed", None),
        ("o = {'kind': 'a'}\nF.relu(o)\ntorch.g(options=o)", "!options.seed", True),
        ("o = {'kind': 'a'}\nimport lib\nlib.fill(o)\nlib.g(options=o)", "!options.seed", None),
        ("o = {'kind': 'a'}\nimport lib\nlib.g(options=o)", "!options.seed", True),
        ("import lib\ng(given=lib.Config(kind='a'))", "given.kind=a", True),
        ("import lib\nc = lib.Config(kind='a')\ng(given=c)", "given.kind=b", False),
        ("import lib\ng(given=lib.Config(kind='a'))", "!given.seed", None),
        ("import lib\ng(given=lib.Config(**kwargs))", "given.kind=a", None),
        ("import lib\ng(given=lib.config(kind='a'))", "given.kind=a", None),
        ("import lib\nc = lib.Config(kind='a')\nc.kind = y\ng(given=c)", "given.kind=a", None),
        ("g(given=Own(kind='a'))", "given.kind=a", None),
        ("g(given=nn.LSTM(2, 3, dropout=0.5))", "given.dropout!=0.0", True),
        ("g(given=nn.LSTM(2, 3))", "given.dropout=0.0", True),
        ("import lib\ng(given=lib.Config())", "given:lib.Config|lib.Other", True),
        ("import lib\ng(given=lib.Third())", "given:lib.Config|lib.Other", False),
        ("import lib\ng(given=lib.make())", "given:lib.Config|lib.Other", None),
        ("import lib\ng(given=lib.make('a'))", "given:lib.make", True),
        ("import lib\nc = lib.Config() if flag else lib.Third()\ng(given=c)", "given:lib.Config", None),
        ("g(given='a')", "given:lib.Config", False),
        ("g(given=x)", "given:lib.Config", None),
        ("g()", "given:lib.Config", False),
        ("g(device=torch.device('cuda'))", "device!=cpu", True),
        ("g(device=torch.device('cpu'))", "device!=cpu", False),
        ("g(device=torch.device(x))", "device!=cpu", None),
        ("F.pad(x, (1, 2, 3, 4))", "@length:pad=4", True),
        ("F.pad(x, [1, 2])", "@length:pad=4", False),
        ("F.pad(x, y)", "@length:pad=4", None),
        ("F.pad(x, [*y, 1, 2, 3])", "@length:pad=4", None),
        ("torch.cumsum(x.view(-1), 0)", "@rank=1", True),
        ("torch.cumsum(x, 0)", "@rank=1", None),
        ("torch.cumsum(x.view(3, 4), 0)", "@rank=1", False),
        ("F.cross_entropy(x.transpose(1, 2), y)", "@rank>=3", True),
        ("F.cross_entropy(x.flatten(0, 1), y)", "@rank>=3", None),
        ("F.cross_entropy(x.view(-1, 10), y)", "@rank>=3", False),
        ("torch.cumsum(x, 0)", "@float", True),
        ("torch.cumsum(x > 0, 0)", "@float", False),
        ("torch.zeros(3).index_add_(0, x, y)", "@zeros", True),
        ("x.index_add_(0, x, y)", "@zeros", None),
        ("out = x.new_zeros(3)\nout.index_add_(0, x, y)", "@zeros", True),
        ("x.scatter_add_(0, y, torch.ones(3))", "@inexact:src", False),
        ("x.scatter_add_(0, y, (x > 0).float())", "@inexact:src", False),
        ("x.scatter_add_(0, y, x)", "@inexact:src", True),
        ("x.index_add_(0, torch.randperm(3), x)", "@!unique:index", False),
        ("x.index_add_(0, torch.randperm(9)[:3], x)", "@!unique:index", False),
        ("x.index_add_(0, y, x)", "@!unique:index", True),
        ("x.index_add_(0, y, x)", "@unique:index", None),
        ("x.index_add_(0, torch.randint(3, (4,)), x)", "@repeats:index", True),
    ],
)  # fmt: skip
def test_a_condition_is_known_to_hold_or_not_or_open(text: str, condition: str, answer: bool | None) -> None:
    assert holds(*last(text), condition) is answer


@pytest.mark.parametrize("condition", ["", "@", "@size=3"])
def test_what_is_no_condition_is_refused(condition: str) -> None:
    with pytest.raises(ValueError, match="not a condition"):
        holds(*last("torch.cumsum(x, 0)"), condition)


def value(text: str) -> tuple[Module, s.Expression]:
    """What the last statement's call is given first."""
    read, call = last(text)
    return read, call.arguments[0].value


@pytest.mark.parametrize(
    ("text", "rank"),
    [
        ("g(x)", None),
        ("g(torch.zeros(3))", (1, 1)),
        ("g(torch.zeros((3, 4)))", (2, 2)),
        ("g(torch.zeros(*y))", None),
        ("g(torch.reshape(x, (3, 4)))", (2, 2)),
        ("g(torch.ones(3, 4).unsqueeze(0))", (3, 3)),
        ("g(x.unsqueeze(3))", (None, 4)),
        ("g(x.transpose(1, 2))", (None, 3)),
        ("g(x.flatten())", (1, 1)),
        ("g(x.flatten(1))", (2, 2)),
        ("g(torch.linspace(0, 1, 5) * 2 - 1)", (1, 1)),
        ("g(torch.ones(3) * x)", (None, 1)),
        ("g(torch.tensor([[1, 2], [3, 4]]))", (2, 2)),
        ("g(F.softmax(torch.ones(3, 4), 1))", (2, 2)),
        ("z = torch.ones(3, 4)\nif flag:\n    z = torch.ones(3)\ng(z)", (None, 1)),
    ],
)
def test_rank(text: str, rank: tuple[int | None, int] | None) -> None:
    assert tensors.rank(*value(text)) == rank


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("g(x)", False),
        ("g(x.long())", True),
        ("g(x.to(torch.int64))", True),
        ("g(x.long().to(torch.float32))", False),
        ("g(x.long().to(y))", True),
        ("g(x == y)", True),
        ("g((x == y) * 2)", True),
        ("g((x == y) * 0.5)", False),
        ("g((x == y) / 2)", False),
        ("g(torch.arange(y))", True),
        ("g(torch.arange(0, 1, 0.1))", False),
        ("g(torch.arange(3, dtype=torch.float))", False),
        ("g(torch.zeros(3))", False),
        ("g(torch.zeros(3, dtype=torch.long))", True),
        ("g(torch.tensor([1, 2]))", True),
        ("g(torch.tensor([1, 2.5]))", False),
        ("a, b = torch.ones(3).max(0)\ng(b)", True),
        ("a, b = torch.ones(3).max(0)\ng(a)", False),
        ("a, b = x\ng(b)", False),
        ("a, b = y(x)\ng(b)", False),
        ("z: torch.LongTensor = x\ng(z)", True),
    ],
)
def test_integers(text: str, answer: bool) -> None:
    assert tensors.is_integer(*value(text)) is answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("g(x)", False),
        ("g(x.cpu())", True),
        ("g(x.to('cpu'))", True),
        ("g(x.to(torch.device('cpu')))", True),
        ("g(x.to(y))", False),
        ("g(x.cpu().float() + 1)", True),
        ("g(x.cpu().to(torch.float16))", True),
        ("g(x.cpu().cuda())", False),
        ("g(torch.ones(3))", True),
        ("g(torch.ones(3, **kwargs))", False),
        ("g(torch.ones(3, device=y))", False),
        ("g(torch.ones(3, device='cpu'))", True),
        ("g(torch.ones(3)[None].T)", True),
        ("with torch.device('cuda'):\n    z = torch.ones(3)\ng(z)", False),
        ("torch.set_default_device('cuda')\ng(torch.ones(3))", False),
        ("g(torch.exp(torch.ones(3)))", True),
        ("z = torch.ones(3)\nif flag:\n    z = z.cuda()\ng(z)", False),
    ],
)
def test_the_cpu(text: str, answer: bool) -> None:
    assert tensors.is_on_cpu(*value(text)) is answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("g(x)", False),
        ("g(x.detach())", True),
        ("g(x.data)", True),
        ("g(x.detach().float()[None])", True),
        ("g(x.detach() + x)", False),
        ("g(torch.ones(3, device=y))", True),
        ("g(torch.ones(3, requires_grad=True))", False),
        ("g(nn.Parameter(torch.ones(3)))", False),
        ("z = torch.ones(3)\nz[0] = x\ng(z)", False),
        ("z = torch.ones(3)\nz.index_add_(0, x, y)\ng(z)", False),
        ("z = torch.ones(3)\nfor i in x:\n    z = z + i\ng(z)", False),
        ("g(torch.cat([torch.ones(3), x]))", False),
        ("g(torch.cat([torch.ones(3), x.detach()]))", True),
    ],
)
def test_values_without_gradient(text: str, answer: bool) -> None:
    assert constants.is_constant(*value(text)) is answer


@pytest.mark.parametrize(
    ("text", "dim", "kind"),
    [
        ("g(x)", 1, None),
        ("g(x.unsqueeze(1))", 1, "unique"),
        ("g(x.unsqueeze(1))", 2, None),
        ("g(x.unsqueeze(-1))", 1, None),
        ("g(x[:, None])", 1, "unique"),
        ("g(x.unsqueeze(1).expand(-1, 4))", 1, "repeats"),
        ("g(x.unsqueeze(1).expand(-1, y))", 1, "repeats"),
        ("g(x.unsqueeze(-1).expand(-1, -1, 4))", 1, None),
        ("g(x.repeat(1, 4))", 1, "repeats"),
        ("g(x.view(-1, 1))", 1, "unique"),
        ("g(torch.randint(9, (3, 4)))", 1, "repeats"),
        ("g(torch.randint(9, (3, 1)))", 1, "unique"),
        ("g(torch.argsort(x, 1)[:, :3])", 1, "unique"),
        ("g(torch.multinomial(x, 3))", 1, "unique"),
        ("g(torch.multinomial(x, 3, replacement=True))", 1, "repeats"),
        ("g(torch.multinomial(x, 3, flag))", 1, None),
        ("a, b = torch.topk(x, 3)\ng(b)", 1, "unique"),
        ("(z,) = torch.where(x > 0)\ng(z)", None, "unique"),
        ("g((torch.randperm(3),))", None, "unique"),
    ],
)
def test_indices(text: str, dim: int | None, kind: str | None) -> None:
    assert indices.index_values(*value(text), dim) == kind


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("self.y = F.relu(x)", True),
        ("self.y = F.relu(x.detach())", False),
        ("self.y = F.relu(x > 0)", False),
        ("with torch.no_grad():\n    self.y = F.relu(x)", False),
        ("with torch.enable_grad():\n    self.y = F.relu(x)", True),
        ("with torch.inference_mode():\n    self.y = F.relu(x)", False),
        ("with torch.inference_mode(False):\n    self.y = F.relu(x)", True),
        ("with torch.inference_mode(flag):\n    self.y = F.relu(x)", True),
        ("with torch.set_grad_enabled(False):\n    self.y = F.relu(x)", False),
        ("with torch.set_grad_enabled(flag):\n    self.y = F.relu(x)", True),
        ("off = torch.no_grad()\nwith off:\n    self.y = F.relu(x)", False),
        ("torch.set_grad_enabled(False)\nself.y = F.relu(x)", False),
        ("if flag:\n    torch.set_grad_enabled(False)\nself.y = F.relu(x)", True),
        ("if self.training:\n    self.y = F.relu(x)", True),
        ("if not self.training:\n    self.y = F.relu(x)", False),
        ("if self.training:\n    pass\nelse:\n    self.y = F.relu(x)", False),
    ],
)
def test_gradients(text: str, answer: bool) -> None:
    assert gradients.may_have_gradient(*last(text)) is answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("F.relu(x).argmax(1)", False),
        ("F.relu(x)[0].squeeze().cpu().numpy()", False),
        ("F.relu(x).sum().argmax()", False),
        ("print(F.relu(x))", False),
        ("y = []\ny.append(F.relu(x))\nsum(y).backward()", True),
        ("z = F.relu(x) > 0\ng(z)", False),
    ],
)
def test_results_without_gradient(text: str, answer: bool) -> None:
    read, _ = last(text)
    call = next(read.calls_to(("torch.nn.functional.relu",)))
    assert gradients.may_have_gradient(read, call) is answer


@pytest.mark.parametrize(
    ("head", "answer"),
    [
        ("def f(x, y):", True),
        ("def f(state_dict, x):", False),
        ("def f(checkpoint_model, x):", False),
        ("@torch.no_grad()\ndef f(x):", False),
        ("@torch.no_grad\ndef f(x):", False),
        ("def validation_step(x):", False),
    ],
)
def test_functions_without_gradient(head: str, answer: bool) -> None:
    assert gradients.may_have_gradient(*last("self.y = F.relu(x)", head)) is answer


def test_a_module_learns_and_so_does_what_it_calls() -> None:
    read = module(
        """
        import torch.nn.functional as F
        from torch import nn
        from project import Base

        def inner(x):
            return F.relu(x)

        def helper(x):
            return inner(F.gelu(x))

        def other(x):
            return F.silu(x)

        class Layer(nn.Module):
            def forward(self, x):
                return helper(x)

            def inference(self, x):
                return F.elu(x)

        class Loss(Base):
            def forward(self, x):
                return self.sum(x)

            def sum(self, x):
                return F.selu(x)

        class Plain(Base):
            def resize(self, x):
                return F.celu(x)
        """
    )
    names = ("relu", "gelu", "silu", "elu", "selu", "celu")
    found = {n for n in names if learning.is_learning(read, next(read.calls_to((f"torch.nn.functional.{n}",))))}
    assert found == {"relu", "gelu", "selu"}


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("torch.use_deterministic_algorithms(True)", "deterministic"),
        ("torch.use_deterministic_algorithms(True, warn_only=True)", "deterministic-warn"),
        ("torch.use_deterministic_algorithms(False)", None),
        ("torch.use_deterministic_algorithms(flag)", None),
        ("torch.set_deterministic_debug_mode('error')", "deterministic"),
        ("torch.set_deterministic_debug_mode(1)", "deterministic-warn"),
        ("torch.set_deterministic_debug_mode('default')", None),
        ("import transformers\ntransformers.enable_full_determinism(3)", "deterministic"),
        ("import lightning.pytorch as L\nL.Trainer(deterministic=True)", "deterministic"),
        ("import lightning.pytorch as L\nL.Trainer(deterministic='warn')", "deterministic-warn"),
        ("import lightning.pytorch as L\nL.Trainer()", None),
    ],
)
def test_switches_of_the_program(text: str, effect: str | None) -> None:
    read, _ = last(text)
    found = [e for e in ("deterministic", "deterministic-warn") if contexts.in_program(read, e)]
    assert found == ([] if effect is None else [effect])


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("class A(nn.Module):", True),
        ("class A:", True),
        ("class A(torch.utils.data.Dataset):", False),
        ("class A:\n    def __getitem__(self, i): ...", False),
        ("class A(nn.Module):\n    def __getitem__(self, i): ...", True),
        ("from torch_geometric.transforms import BaseTransform\nclass A(BaseTransform):", False),
    ],
)
def test_classes_that_prepare_data(text: str, answer: bool) -> None:
    read = module(HEADER + text + "\n    def run(self, x):\n        return F.relu(x)")
    assert contexts.may_be_on_gpu(read, next(read.calls_to(("torch.nn.functional.relu",)))) is answer


@pytest.mark.parametrize(("path", "answer"), [("tests/test_model.py", False), ("model.py", True)])
def test_a_test_that_only_applies_a_model_takes_no_gradient(path: str, answer: bool) -> None:
    text = """
        class Net(nn.Module):
            def forward(self, x):
                return F.relu(x)

        @torch.no_grad()
        def test_forward():
            assert Net()(torch.ones(3)).sum() == 3
        """
    read = module(HEADER + textwrap.dedent(text), path)
    call = next(read.calls_to(("torch.nn.functional.relu",)))
    assert gradients.may_have_gradient(read, call) is answer


def test_every_condition_of_the_tables_is_one() -> None:
    read, call = last("F.interpolate(x)")
    keys = ("when", "unless", "made_when", "made_unless", "noted", "read_when", "read_unless")
    written = {
        condition
        for file, tables in catalogue.load().tables.items()
        for rows in tables.values()
        for row in rows
        for key in keys
        for condition in row.list(key)
        if "self." not in condition and not (file == "switches" and key == "read_when")  # of programs alone; a moment
    }
    assert len(written) > 200
    for condition in written:
        holds(read, call, condition)  # raises where it is none
