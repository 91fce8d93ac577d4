"""Names, values, constants, types and arguments."""

from __future__ import annotations

import pytest

from detlint.semantics.values import UNKNOWN
from detlint.tree import syntax as s
from tests.support import expression, module

NAMES = [
    ("import torch\ntorch.rand(1)", "torch.rand"),
    ("import torch as t\nt.rand(1)", "torch.rand"),
    ("from torch import rand\nrand(1)", "torch.rand"),
    ("from torch import rand as r\nr(1)", "torch.rand"),
    ("import torch.nn.functional as F\nF.dropout(1)", "torch.nn.functional.dropout"),
    ("import torch.nn\ntorch.nn.Linear(1, 1)", "torch.nn.Linear"),
    ("from torch import nn\nnn.modules.linear.Linear(1, 1)", "torch.nn.Linear"),
    ("from torch.utils.data.dataloader import DataLoader\nDataLoader(1)", "torch.utils.data.DataLoader"),
    ("from torchvision.models.resnet import resnet50\nresnet50()", "torchvision.models.resnet50"),
    ("from sklearn.cluster._kmeans import KMeans\nKMeans.fit(1)", "sklearn.cluster.KMeans.fit"),
    ("from torchvision.transforms.v2._geometry import RandomCrop\nRandomCrop(1)", "torchvision.transforms.v2.RandomCrop"),
    ("from torchvision.models.quantization import resnet18\nresnet18()", "torchvision.models.quantization.resnet18"),
    ("import torch\ntorch.cuda.manual_seed(1)", "torch.cuda.manual_seed"),
    ("import torch\nrand = torch.rand\nrand(1)", "torch.rand"),
    ("from functools import partial\nimport torch\nr = partial(torch.rand, 2)\nr()", "torch.rand"),
    ("try:\n    import numpy as np\nexcept ImportError:\n    np = None\nnp.empty(1)", "numpy.empty"),
    ("if x:\n    import torch\ntorch.rand(1)", "torch.rand"),
    ("from torch import *\nrand(1)", "torch.rand"),
    ("def f():\n    import torch\n    return torch.rand(1)", "torch.rand"),
    ("import torch\nclass A:\n    def f(self):\n        return torch.rand(1)", "torch.rand"),
    ("import torch\nclass A:\n    def __init__(self):\n        self.r = torch.rand\n    def f(self):\n        self.r(1)",
     "torch.rand"),
    ("class A:\n    def f(self): ...\n    def g(self):\n        self.f()", "example.A.f"),
    ("class B:\n    def f(self): ...\nclass A(B):\n    def g(self):\n        self.f()", "example.B.f"),
    ("def f(): ...\nf()", "example.f"),
    ("len(x)", "builtins.len"),
    ("import torch\nx = torch.rand(2)\nx.cumsum(0)", "torch.Tensor.cumsum"),
    ("x.scatter_add_(0, i, s)", "torch.Tensor.scatter_add_"),
    ("import torch\ndef f(x: torch.Tensor):\n    x.cumsum(0)", "torch.Tensor.cumsum"),
    ("from typing import Optional\nfrom torch import Tensor\ndef f(x: Optional[Tensor] = None):\n    x.cumsum(0)",
     "torch.Tensor.cumsum"),
    ("from torch import nn\nclass M(nn.Module):\n    def forward(self, x):\n        x.cumsum(0)", "torch.Tensor.cumsum"),
    ("import numpy as np\nrng = np.random.default_rng(0)\nrng.integers(3)", "numpy.random.Generator.integers"),
    ("import torch\nfrom torch import nn\nclass M(nn.Module):\n    def __init__(self):\n        self.c = nn.Linear(1, 1)\n"
     "    def g(self, y):\n        self.c(y).cumsum(0)", "torch.Tensor.cumsum"),
    ("import torch\nvalues, order = torch.sort(x)\nvalues.median(0)", "torch.Tensor.median"),
    ("import torch\nfrom functools import partial as q\np = q(torch.rand, 3)\np()", "torch.rand"),
    ("import torch\nfrom functools import partial\npartial(torch.rand, 3)()", "torch.rand"),
    ("import torch\nr = torch.rand if torch else torch.rand\nr(3)", "torch.rand"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name"), NAMES, ids=[name + str(i) for i, (_, name) in enumerate(NAMES)])
def test_the_last_call_resolves(text: str, name: str) -> None:
    found = module(text)
    assert name in found.callee(found.calls[-1])
    assert len(found.callee(found.calls[-1])) == 1
    assert found.calls[-1] in found.calls_like((name,)), "rules that look for it look at it"


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ndef f(torch):\n    torch.rand(1)",
        "import torch\ntorch = 3\ntorch.rand(1)",
        "import torch\nfor torch in x:\n    torch.rand(1)",
        "import torch\nwith x as torch:\n    torch.rand(1)",
        "def f(rand):\n    rand(1)",
        "x.cumsum(0)",
        "import pandas as pd\nx = pd.Series([1])\nx.median()",
        "import numpy as np\nx = np.zeros(3)\nx.cumsum(0)",
        "x = [1]\nx.sort()",
        "self.rand(1)",
    ],
)
def test_what_is_shadowed_or_shared_is_no_torch_call(text: str) -> None:
    found = module(text)
    assert not any(name.startswith("torch.") for name in found.callee(found.calls[-1]))


def test_relative_imports_start_at_the_package() -> None:
    text = "from . import a\nfrom ..b import c\na.f()\nc()\n"
    inside = module(text, "p/q/m.py", "p.q.m")
    assert [sorted(inside.callee(call)) for call in inside.calls] == [["p.q.a.f"], ["p.b.c"]]
    package = module("from .m import f\nf()\n", "p/q/__init__.py", "p.q")
    assert package.callee(package.calls[0]) == {"p.q.m.f"}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("X = 1\nf(X)", [1]),
        ("X = 1\ndef g():\n    f(X)", [1]),
        ("x = 1\nx = 2\nf(x)", [2]),
        ("x = 1\nif c:\n    x = 2\nf(x)", [1, 2]),
        ("if c:\n    x = 1\nelse:\n    x = 2\nf(x)", [1, 2]),
        ("x = 1\nfor i in y:\n    f(x)\n    x = 2\n", [1, 2]),
        ("x = 1\nwith c:\n    x = 2\nf(x)", [2]),
        ("x = 1\ntry:\n    x = 2\nexcept E:\n    pass\nf(x)", [1, 2]),
        ("x = 1 if c else None\nf(x)", [1, None]),
        ("a, x = 3, 4\nf(x)", [4]),
        ("x = -1\nf(x)", [-1]),
        ("x = y = (1, 2)\nf(x)", [(1, 2)]),
        ("class A:\n    k = 5\n    def g(self):\n        f(self.k)", [5]),
        ("(x := 6)\nf(x)", [6]),
    ],
)
def test_constants_are_followed(text: str, values: list[object]) -> None:
    found = module(text)
    call = next(c for c in found.calls if isinstance(c.function, s.Name) and c.function.id == "f")
    constants = found.constants(call.arguments[0].value)
    assert constants is not None
    assert sorted(map(str, constants)) == sorted(map(str, values))


@pytest.mark.parametrize(
    "text",
    ["def g(x=1):\n    f(x)", "x = 1\nx += 1\nf(x)", "for x in y:\n    f(x)", "f(x)", "x = g()\nf(x)",
     "import m as x\nf(x)", "x, y = z\nf(x)"],
)  # fmt: skip
def test_what_may_be_anything_is_not_a_constant(text: str) -> None:
    found = module(text)
    call = next(c for c in found.calls if isinstance(c.function, s.Name) and c.function.id == "f")
    assert found.constants(call.arguments[0].value) is None


@pytest.mark.parametrize(
    ("call", "given", "possible"),
    [
        ("DataLoader(d, shuffle=True)", True, [True]),
        ("DataLoader(d, 8, True)", True, [True]),
        ("DataLoader(d)", False, [None]),
        ("DataLoader(d, **k)", None, [None, True]),
        ("DataLoader(d, **{'shuffle': True})", True, [True]),
        ("DataLoader(d, **unknown())", None, None),
        ("DataLoader(*a)", None, None),
        ("partial(DataLoader, shuffle=True)(d)", True, [True]),
        ("DataLoader(d, shuffle=g())", True, None),
    ],
)
def test_arguments(call: str, given: bool | None, possible: list[object] | None) -> None:
    found = module(
        f"""
        from functools import partial
        from torch.utils.data import DataLoader
        k = dict(batch_size=1)
        if c:
            k["shuffle"] = True
        {call}
        """
    )
    passed = found.argument(found.calls[-1], "shuffle")
    assert passed.given is given
    answer = found.possible(passed)
    assert answer is None if possible is None else sorted(map(str, answer or [])) == sorted(map(str, possible))


def test_an_unknown_default_is_not_a_constant() -> None:
    found = module("f(1)")
    assert found.argument(found.calls[0], "x").default is UNKNOWN


def test_within_sees_blocks_and_decorators() -> None:
    found = module(
        """
        import torch
        with torch.no_grad():
            a()
        @torch.no_grad()
        def f():
            b()
        c()
        """
    )
    marks = {"torch.no_grad"}
    assert [found.within(expression(found, text), marks) for text in ("a()", "b()", "c()")] == [True, True, False]
