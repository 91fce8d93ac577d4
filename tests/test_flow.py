"""The flow analysis on its own, and what the rules about uninitialised memory say of many small functions."""

from __future__ import annotations

import textwrap

import pytest

from detlint import catalogue, engine
from detlint.analyse import Source
from detlint.analysis.memory.flow import Flow
from detlint.config import Config
from detlint.semantics.model import Module
from detlint.tree import syntax as s

NEWEST = catalogue.load().newest_release()


def states(body: str, *, loops_run: bool = False) -> set[str]:
    """The paths through `body` to its end, each as the names that are called on it, once each, sorted."""
    module = Module(textwrap.dedent(body), "example.py", "example", catalogue.load(), NEWEST)

    def visit(state: frozenset[str], node: s.Node) -> frozenset[str] | None:
        if not isinstance(node, s.Call) or not isinstance(node.function, s.Name):
            return state
        if node.function.id == "stop":
            return None
        return frozenset("".join(sorted({*path, node.function.id})) for path in state)

    found = Flow[frozenset[str]](visit, frozenset.union, loops_run=loops_run).run(module.file.body, frozenset({""}))
    return set(found or ())


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ("a()\nb()", {"ab"}),
        ("if x:\n  a()", {"a", ""}),
        ("if x:\n  a()\nelse:\n  b()\nc()", {"ac", "bc"}),
        ("if a():\n  pass\nelif b():\n  c()", {"a", "ab", "abc"}),
        ("if x:\n  a()\n  raise E\nb()", {"b"}),
        ("if x:\n  stop()\nb()", {"b"}),
        ("assert False\na()", set()),
        ("for i in x:\n  a()", {"a", ""}),
        ("for i in a():\n  pass", {"a"}),
        ("for i in x:\n  if y:\n    break\n  a()\nelse:\n  b()", {"", "a", "b", "ab"}),
        ("for i in x:\n  if y:\n    continue\n  a()\nb()", {"b", "ab"}),
        ("for i in x:\n  for j in y:\n    a()\n    break\n  b()", {"", "b", "ab"}),
        ("while a():\n  b()", {"a", "ab"}),
        ("while True:\n  a()\n  if x:\n    break\nb()", {"ab"}),
        ("while True:\n  a()\nb()", set()),
        ("try:\n  a()\nexcept E:\n  b()", {"a", "b"}),
        ("try:\n  a()\n  c()\nexcept E:\n  raise\nelse:\n  b()", {"abc"}),
        ("try:\n  a()\n  c()\nexcept E:\n  b()", {"ac", "b", "ab"}),
        ("try:\n  a()\nfinally:\n  b()\nc()", {"abc"}),
        ("for i in x:\n  try:\n    a()\n    break\n  finally:\n    b()\nc()", {"c", "abc"}),
        ("try:\n  raise E\nexcept E:\n  a()\nb()", {"ab"}),
        ("try:\n  try:\n    raise E\n  finally:\n    a()\nexcept E:\n  b()", {"b", "ab"}),
        ("with a() as x:\n  b()", {"ab"}),
        ("match x:\n  case 1:\n    a()\n  case 2:\n    b()", {"", "a", "b"}),
        ("match x:\n  case 1:\n    a()\n  case _:\n    b()", {"a", "b"}),
        ("match x:\n  case 1:\n    a()\n  case y if b():\n    c()", {"", "a", "bc"}),
        ("a() and b()", {"a", "ab"}),
        ("a() or (b() or c())", {"a", "ab", "abc"}),
        ("x = a() if b() else c()", {"ab", "bc"}),
        ("[a() for i in b()]", {"b", "ab"}),
        ("f = lambda x=a(): b()", {"a"}),
        ("def f(x=a()):\n  b()", {"a"}),
        ("class C(a()):\n  b()", {"ab"}),
    ],
)
def test_every_path_is_followed(body: str, paths: set[str]) -> None:
    assert states(body) == paths


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ("for i in x:\n  a()", {"a"}),
        ("for i in x:\n  if y:\n    a()", {"", "a"}),
        ("for i in x:\n  a()\n  break\nb()", {"ab"}),
        ("for i in x:\n  a()\n  stop()\nb()", {"b"}),
        ("while a():\n  b()", {"ab"}),
        ("[a() for i in b()]", {"ab"}),
    ],
)
def test_loops_can_be_taken_to_run(body: str, paths: set[str]) -> None:
    assert states(body, loops_run=True) == paths


def found(body: str) -> list[str]:
    """The findings, as code and severity, in a function of this body."""
    head = "import sys\nimport torch\nimport numpy as np\nimport torch.distributed as dist\nimport torch.nn.functional as F\n"
    head += "from torch import nn\n\n\ndef function(n: int, t: torch.Tensor, data, flag, f):\n"
    text = head + textwrap.indent(textwrap.dedent(body), "    ")
    report = engine.check_sources([Source("example.py", "example", text)], Config(select=("DET401", "DET402")), NEWEST)
    return [f"{judged.finding.code} {judged.severity.value}" for judged in report.findings]


SURE = ["DET401 error"]
SOME = ["DET401 warning"]
ARRAY = ["DET402 error"]


@pytest.mark.parametrize(
    ("body", "findings"),
    [
        ("x = torch.empty(3)\nx += 1", SURE),
        ("x = torch.empty(3)\n[x[i].fill_(0) for i in data]\nreturn x * 2", SOME),
        ("return torch.cat([torch.empty(3), t]) + 1", SURE),
        ("x = np.empty(3)\nreturn np.concatenate([x, data]).sum()", ARRAY),
        ("x = torch.empty(3)\nx[0] += 1", SURE),
        ("x = torch.empty(3)\nreturn x @ t", SURE),
        ("x = torch.empty(3)\nreturn x.view(-1)[0] > 2", SURE),
        ("x = torch.empty(3)\nx.add_(t)", SURE),
        ("x = torch.empty(3)\nreturn F.linear(t, x)", SURE),
        ("x = torch.empty(3)\nprint(x)", SURE),
        ("x = torch.empty(3)\nreturn f'{x}'", SURE),
        ("x = torch.empty(3)\nif x.sum() > 0:\n  return 1", SURE),
        ("x = torch.empty(3)\nwhile x < 3:\n  f()", SURE),
        ("x = torch.empty(3, dtype=torch.long)\nreturn t[x]", SURE),
        ("x: torch.Tensor = torch.empty(3)\nreturn -x", SURE),
        ("x = torch.empty(3)\ny = x.shape\nreturn x * 2", SURE),
        ("x = torch.empty(3)\nx = x.cuda()\nreturn x * 2", SURE),
        ("x = torch.empty(3)\nreturn [x * i for i in data]", SURE),
        ("x = torch.empty(3)\ndist.all_reduce(x)\nreturn x", SURE),
        ("x = torch.empty(3)\nx.copy_(x + 1)", SURE),
        ("x = torch.empty(3)\ntorch.add(x, 1, out=x)", SURE),
        ("x = nn.Parameter(torch.empty(3))\nreturn x * 2", SURE),
        ("x, y = torch.empty(3), torch.zeros(3)\nreturn x + y", SURE),
        ("for i in data:\n  x = torch.empty(3)\n  t += x", SURE),
        ("x = torch.empty(3)\nif flag:\n  return x * 2\nx.fill_(0)\nreturn x", SURE),
        ("x = torch.empty(3)\nif flag:\n  x.fill_(0)\nreturn x * 2", SOME),
        ("x = torch.empty(3)\nif flag:\n  f(x)\nreturn x * 2", SOME),
        ("x = torch.empty(3)\nflag and x.fill_(0)\nreturn x * 2", SOME),
        ("x = torch.empty(3)\ntry:\n  x.copy_(t)\nexcept RuntimeError:\n  print('no')\nreturn x * 2", SOME),
        ("x = torch.empty(3)\nmatch n:\n  case 1:\n    x.fill_(1)\n  case 2:\n    x.fill_(2)\nreturn x * 2", SOME),
        ("x = torch.empty(3)\nif flag:\n  x = x + 1\nreturn x", SURE),
        ("x = torch.empty(3)\nx.view(-1)[0] = 1\nreturn x * 2", SOME),
        ("x = torch.empty(3)\nx[0].copy_(t)\nreturn x * 2", SOME),
        ("x = torch.empty(3)\nfor i in data:\n  x[i] = 1\nreturn x * 2", SOME),
        ("x = torch.empty(3)\nfor i in data:\n  if i:\n    x[i] = 1\nreturn x * 2", SOME),
        ("x = torch.empty(3)\nwhile data:\n  x[data.pop()] = 1\nreturn x * 2", SOME),
        ("if data is None:\n  data = torch.empty(3)\n  data += 1\nreturn data", SURE),
        ("return torch.empty(n).sum()", SURE),
        ("return t.new_empty(3) + 1", SURE),
        ("return torch.Tensor(2, 3) + 1", SURE),
        ("return torch.Tensor(n) + 1", SURE),
        ("return torch.Tensor(t.size()) + 1", SURE),
        ("return torch.FloatTensor(t.shape[0] * 2) + 1", SURE),
        ("return t.new(n, 3) + 1", SURE),
        ("return torch.FloatStorage(3).tolist()", SURE),
        ("x = torch.zeros(2)\nx.resize_(4)\nreturn x * 2", SURE),
        ("x = torch.Tensor().resize_(4)\nreturn x * 2", SURE),
        ("m = nn.utils.skip_init(nn.Linear, 2, 2)\nreturn m(t)", SURE),
        ("m = nn.Linear(2, 2).to_empty(device='cpu')\nreturn m(t)", SURE),
        ("x = np.empty(3)\nx += 1", ARRAY),
        ("x = np.empty((n, 3), dtype=np.float32)\nreturn x.mean()", ARRAY),
        ("x = np.empty_like(data)\nreturn np.sum(x)", ARRAY),
        ("return np.ndarray((2, 2)) * 2", ARRAY),
        ("x = np.empty(3)\nx.T[0] -= 1", ARRAY),
    ],
)
def test_a_read_of_what_nothing_has_written(body: str, findings: list[str]) -> None:
    assert found(body) == findings


@pytest.mark.parametrize(
    "body",
    [
        "x = torch.empty(3)\nx.zero_()\nreturn x * 2",
        "x = torch.empty(3)\nx[...] = 1\nreturn x * 2",
        "x = torch.empty(3)\nx[:] = t\nreturn x * 2",
        "x = torch.empty(3)\nx.data.normal_()\nreturn x * 2",
        "x = torch.empty(3)\nx.data = t\nreturn x * 2",
        "x = torch.empty(3)\n[x[i].copy_(t) for i in data]\nreturn x * 2",
        "return torch.cat([torch.empty(3), t])[3:] + 1",
        "x = torch.empty(3)\nnn.init.xavier_uniform_(x)\nreturn x * 2",
        "x = torch.empty(3)\ntorch.mm(t, t, out=x)\nreturn x * 2",
        "x = torch.empty(3)\ndist.all_gather_into_tensor(x, t)\nreturn x * 2",
        "x = torch.empty(3)\nout = [x]\ndist.all_gather(out, t)\nreturn x * 2",
        "x = torch.empty(3)\nf(x)\nreturn x * 2",
        "x = torch.empty(3)\nf.kernel[(1,)](x, n)\nreturn x * 2",
        "x = torch.empty(3)\ny = x\ny.fill_(0)\nreturn x * 2",
        "x = torch.empty(3)\ny = x.view(-1)\ny.fill_(0)\nreturn x * 2",
        "x = torch.empty(3)\nf.x = x\nf.fill()\nreturn x * 2",
        "x = torch.empty(3)\ndef g():\n  x.fill_(0)\ng()\nreturn x * 2",
        "x = torch.empty(3)\ng = lambda: x.fill_(0)\ng()\nreturn x * 2",
        "x = torch.empty(3)\nfor row in x:\n  row.fill_(0)\nreturn x * 2",
        "x = torch.empty(3)\nx = t\nreturn x * 2",
        "x = torch.empty(3)\ndel x\nx = t\nreturn x * 2",
        "x = torch.empty(3)\nwith f as x:\n  return x * 2",
        "x = torch.empty(3)\nfor x in data:\n  f(x * 2)",
        "x = torch.empty(3)\nif flag:\n  x.fill_(0)\nelse:\n  x.fill_(1)\nreturn x * 2",
        "x = torch.empty(3)\nif flag:\n  x.fill_(0)\nelse:\n  raise ValueError\nreturn x * 2",
        "x = torch.empty(3)\nif flag:\n  x.fill_(0)\nelse:\n  sys.exit()\nreturn x * 2",
        "x = torch.empty(3)\nif flag:\n  x.fill_(0)\nif flag:\n  return x * 2",
        "x = torch.empty(n, 3)\nif n > 0:\n  x[:] = 0\nreturn x * 2",
        "x = torch.empty(3)\ntry:\n  x.copy_(t)\nexcept RuntimeError:\n  raise\nreturn x * 2",
        "x = torch.empty(3)\ntry:\n  f()\nfinally:\n  x.fill_(0)\nreturn x * 2",
        "x = torch.empty(3)\nmatch n:\n  case 1:\n    x.fill_(1)\n  case _:\n    x.fill_(2)\nreturn x * 2",
        "x = torch.empty(3)\nwhile True:\n  x.fill_(0)\n  break\nreturn x * 2",
        "x = None\nif flag:\n  x = torch.empty(3)\nif flag:\n  x.fill_(0)\nreturn x",
        "if flag:\n  x = torch.empty(3)\nelse:\n  x = t\nif not flag:\n  return x + 1",
        "s = list(t.shape)\ns[-1] = 0\nx = torch.empty(s)\nreturn x + 1",
        "x = torch.empty(3)\nreturn x.shape[0] * 2, x.dtype, x.size(0) + 1, len(x) + 1, x.numel() > 2",
        "x = torch.empty(3)\nif x is None:\n  return 1\nreturn torch.zeros_like(x) + 1",
        "x = torch.empty(3)\nreturn (x + t).dtype",
        "x = torch.empty(3)\nx.sum()",
        "return (torch.empty(3) + 1).shape",
        "return torch.empty(3)",
        "yield torch.empty(3)",
        "return f(torch.empty(3)) + 1",
        "return torch.empty(0).sum(), torch.empty((0, 3)) + 1, torch.empty(n, 0) + 1, torch.empty(size=(0,)) + 1",
        "return torch.empty(3, device='meta') + 1",
        "return torch.empty(3, device=torch.device('meta')) + 1",
        "with torch.device('meta'):\n  x = torch.empty(3)\nreturn x + 1",
        "return torch.Tensor(data) + 1, torch.Tensor([1.0]) + 1, torch.LongTensor(data[0]) + 1, torch.Tensor() + 1",
        "x = torch.zeros(4)\nx.resize_(2)\nreturn x * 2",
        "x = torch.zeros(2)\nx.resize_(n)\nreturn x * 2",
        "return torch.addmm(torch.empty(2, 2), t, t, beta=0)",
        "x = torch.empty(2, 2)\nx.addmm_(t, t, beta=0)\nreturn x * 2",
        "m = nn.utils.skip_init(nn.Linear, 2, 2)\nnn.init.ones_(m.weight)\nreturn m(t)",
        "torch.use_deterministic_algorithms(True)\nreturn torch.empty(3) + 1",
        "x = np.empty(3)\nx[0], x[1], x[2] = data\nreturn x + 1",
        "x = np.empty(3)\nfor i, v in enumerate(data):\n  x[i] = v\nreturn x.sum()",
        "x = np.empty(3)\nfor i, x[i] in enumerate(data):\n  pass\nreturn x.sum()",
        "x = np.empty(3)\nnp.multiply(data, data, x)\nreturn x.sum()",
        "x = np.empty(3)\nnp.sqrt(data, out=x)\nreturn x.sum()",
        "x = np.empty(3)\nx.fill(0)\nreturn x.sum()",
        "x = np.empty(3)\nx.flat = 0\nreturn x.sum()",
        "x = np.empty(3, dtype='O')\nreturn x == None",
        "return np.empty(0) + 1, np.empty(shape=(0, 2)) + 1, np.empty((n, 0)) + 1",
    ],
)
def test_no_read_or_no_certain_one(body: str) -> None:
    assert found(body) == []


def module(init: str, *rest: str, base: str = "nn.Module") -> str:
    parts = [f"class Net({base}):", "  def __init__(self, n):", "    super().__init__()", f"    {init}", *rest]
    return "import torch\nfrom torch import nn\n\n\n" + "\n".join(parts) + "\n"


READ = "  def forward(self, x):\n    return x * self.w"
PARAMETER = "self.w = nn.Parameter(torch.empty(n))"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (module(PARAMETER, READ), 1),
        (module("self.w = torch.empty(n)", READ), 1),
        (module("self.register_buffer('w', torch.empty(n), persistent=False)", READ), 1),
        (module("self.w = None\n    self.w = nn.Parameter(torch.empty(n))", READ), 1),
        (module(PARAMETER, READ, "opt = torch.optim.SGD(Net(1).parameters(), 0.1)"), 1),
        (module(PARAMETER, "  def forward(self, x):\n    w = self.w.view(1, -1)\n    return x * w"), 1),
        (module(PARAMETER, READ, "  def reset(self):\n    w = self.w.data\n    w.zero_()"), 1),
        (module(PARAMETER, READ, "  def reset(self):\n    w = self.w\n    init(w)"), 1),
        (module(PARAMETER, READ, "  def reset(self):\n    w = self.w\n    w[0] = 1"), 1),
        (module(PARAMETER, READ, "class Other:\n  def show(self, net):\n    return net.w + 1"), 1),
        (module(PARAMETER), 0),
        (module(PARAMETER + "\n    nn.init.ones_(self.w)", READ), 0),
        (module(PARAMETER + "\n    init(self.w)", READ), 0),
        (module(PARAMETER + "\n    init(self)", READ), 0),
        (module(PARAMETER + "\n    self.apply(init)", READ), 0),
        (module(PARAMETER + "\n    for p in self.parameters():\n      p.data.zero_()", READ), 0),
        (module(PARAMETER, READ, "  def reset(self):\n    self.w.data.uniform_(-1, 1)"), 1),
        (module(PARAMETER + "\n    self.reset()", READ, "  def reset(self):\n    w = self.w\n    w[0] = 1"), 0),
        (module(PARAMETER, READ, "  def set(self, w):\n    self.w = w"), 0),
        (module(PARAMETER, READ, "  def set(self, i, v):\n    self.w[i] = v"), 0),
        (module(PARAMETER, READ, "def load(net, state):\n  net.load_state_dict(state)"), 0),
        (module(PARAMETER, READ, "def fill(net):\n  net.w.data.zero_()"), 0),
        (module(PARAMETER, READ, "def fill(net):\n  setattr(net, 'w', 0)"), 0),
        (module(PARAMETER, READ, "def fill(net, name):\n  getattr(net, name).zero_()"), 0),
        (module(PARAMETER, READ, "NAMES = ['w']"), 1),
        (module(PARAMETER, READ, base="Base"), 0),
        (module(PARAMETER, READ, base="nn.Linear"), 1),
        (module(PARAMETER, READ, base="nn.RNN"), 0),
        (module("self.w = nn.Parameter(torch.zeros(n))", READ), 0),
    ],
)
def test_an_attribute_that_nothing_in_the_file_fills(text: str, count: int) -> None:
    report = engine.check_sources([Source("example.py", "example", text)], Config(select=("DET401",)), NEWEST)
    assert [judged.severity.value for judged in report.findings] == ["warning"] * count
