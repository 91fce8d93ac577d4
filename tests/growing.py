"""Texts and projects of any size, each with one thing in it that is many: for tests of what work grows with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Files = dict[str, str]
HEAD = "import os\nimport random\n\nimport numpy as np\nimport torch\nfrom torch import nn\n\n\n"
_MAIN = "\n\nif __name__ == '__main__':\n    main(torch.rand(3))\n"


def _file(before: str, line: str, after: str = "", joined: str = "") -> Callable[[int], Files]:
    """One file: `line` for each number from 0, between what is `before` and `after` it."""
    return lambda n: {"a.py": HEAD + before + joined.join(line.format(i=i, next=i + 1) for i in range(n)) + after}


def _modules(line: str, main: str) -> Callable[[int], Files]:
    """A package of n modules that import each other in a ring, and a script."""
    package = {"p/__init__.py": "", "main.py": main}
    return lambda n: package | {f"p/m{i}.py": line.format(i=i, next=(i + 1) % n) for i in range(n)}


def _scripts(line: str, library: str) -> Callable[[int], Files]:
    """Scripts beside a library."""
    return lambda n: {f"s{i}.py": line.format(i=i) for i in range(n)} | {"lib.py": library}


_FUNCTION = "def main(x, y=1):\n"

# By what there is many of: what makes so many of them, and how many there are in a small text.
SHAPES: Mapping[str, tuple[Callable[[int], Files], int]] = {
    "statements that interpolate": (
        _file(_FUNCTION, "    x{i} = nn.functional.interpolate(x, scale_factor=2, mode='bilinear')\n    x{i}.sum()\n"), 25,
    ),
    "calls with loops": (
        _file(_FUNCTION, "    a{i} = y.run(x, k={i})\n    for j{i} in range(3):\n        y.append(a{i} + j{i})\n", _MAIN), 20,
    ),
    "functions": (_file("", "def f{i}(a, b=1):\n    c = a + b\n    return np.random.rand(torch.rand(c))\n\n\n"), 30),
    "statements of a module": (_file("", "x{i} = torch.rand({i})\nprint(x{i}.sum())\n"), 25),
    "methods": (_file("class A(nn.Module):\n", "    def m{i}(self, x):\n        return self.l{i}(x) + torch.rand(3)\n\n"), 30),
    "attributes": (
        _file("class A:\n    def __init__(self):\n", "        self.a{i} = {i}\n        print(self.a{i})\n", "\n\nA()\n"), 40,
    ),
    "entries of a dict": (_file("D = {\n", "    'k{i}': {i},\n", "}\n"), 300),
    "calls in a list": (_file("D = [\n", "    torch.rand({i}),\n", "]\n"), 80),
    "terms of a sum": (_file(_FUNCTION + "    return ", "x", "\n", joined=" + "), 60),
    "arguments of a call": (_file(_FUNCTION + "    return y(", "y(x, {i})", ")\n", joined=", "), 60),
    "calls in a chain": (_file(_FUNCTION + "    return x", ".m({i})", "\n"), 30),
    "calls in a call": (lambda n: {"a.py": f"{HEAD}{_FUNCTION}    return {'y(' * n}x{')' * n}\n"}, 30),
    "arms of an if": (
        _file(_FUNCTION + "    if x == 0:\n        y = 1\n", "    elif x == {i}:\n        y = torch.rand({i})\n", _MAIN), 60,
    ),
    "assignments to a name": (_file(_FUNCTION, "    y = torch.relu(y + x)\n    print(y)\n"), 60),
    "assignments to a name of a module": (_file("x = 0\n", "x = x + {i}\nprint(x)\n"), 80),
    "assignments of sets": (_file(_FUNCTION, "    y = y | set(x)\n    for z in y:\n        print(z)\n"), 30),
    "tensors without values": (_file(_FUNCTION, "    y = torch.empty({i})\n    y[0] = x\n"), 40),
    "tensors in a list": (_file(_FUNCTION, "    y.append(torch.empty({i}))\n"), 40),
    "imports": (_file("", "import p{i}\nfrom q{i} import z{i}\nz{i}(p{i}.a)\n"), 40),
    "suppressions": (_file("", "x = torch.rand(1)  # noqa: DET101\n"), 40),
    "comments": (_file("", "# a comment\nx = {i}\n"), 80),
    "lines of a string": (_file('D = """', "line {i} (a\n", '"""\n'), 300),
    "contexts": (_file(_FUNCTION, "    with torch.no_grad():\n        y = torch.rand(2)\n", _MAIN), 15),
    "handlers": (_file(_FUNCTION, "    try:\n        y = torch.rand(2)\n    except OSError:\n        y = 1\n", _MAIN), 15),
    "loaders": (
        _file(
            _FUNCTION,
            "    l{i} = torch.utils.data.DataLoader(y, shuffle=True, num_workers=2)\n    for z in l{i}:\n        pass\n",
            _MAIN,
        ), 15,
    ),
    "generators": (
        _file(_FUNCTION, "    g{i} = torch.Generator()\n    g{i}.manual_seed({i})\n    torch.rand(1, generator=g{i})\n", _MAIN), 12,
    ),
    "seeds of a generator": (
        _file(_FUNCTION + "    g = torch.Generator()\n", "    g.manual_seed({i})\n    torch.rand(1, generator=g)\n", _MAIN), 15,
    ),
    "seeds": (_file(_FUNCTION, "    torch.manual_seed({i})\n    np.random.rand(1)\n", _MAIN), 20),
    "loops over a tensor": (_file(_FUNCTION, "    for i in x:\n        y[i] += torch.rand(1)\n", _MAIN), 15),
    "sets": (_file(_FUNCTION, "    s{i} = set(x)\n    for z in s{i}:\n        print(z)\n"), 30),
    "folders": (_file(_FUNCTION, "    s{i} = os.listdir(x)\n    for z in s{i}:\n        print(z)\n"), 30),
    "checkpoints": (
        _file(_FUNCTION, "    torch.save({{'model': x.state_dict(), 'optimizer': y.state_dict(), 'epoch': {i}}}, 'a')\n", _MAIN), 12,
    ),
    "functions in a chain": (
        _file("def main(x):\n    return f0(x)\n\n\n", "def f{i}(x):\n    torch.rand(1)\n    return f{next}(x)\n\n\n", _MAIN), 20,
    ),
    "methods in a chain": (
        _file("class A:\n", "    def m{i}(self, x):\n        return self.m{next}(x)\n\n", "\ndef main(x):\n    A().m0(x)\n" + _MAIN), 20,
    ),
    "classes in a chain": (
        _file(
            "class C0:\n    def m(self):\n        return torch.rand(1)\n",
            "\n\nclass C{next}(C{i}):\n    def m(self):\n        return super().m()\n",
            "\n\ndef main(x):\n    C9().m()\n" + _MAIN,
        ), 12,
    ),
    "calls of a function": (
        _file("def draw(x):\n    return torch.rand(x)\n\n\ndef main(x):\n", "    draw({i})\n", _MAIN), 40,
    ),
    "registered classes": (
        _file(
            "R = {}\n\n\ndef add(c):\n    R[c.__name__] = c\n    return c\n\n\ndef main(x):\n    R[x]()(1)\n\n\n",
            "@add\nclass C{i}(nn.Module):\n    def forward(self, x):\n        return torch.rand(x)\n\n\n",
            _MAIN,
        ), 12,
    ),
    "functions that a name may be": (
        _file(
            "def draw(x):\n    return torch.rand(1)\n\n\ndef main(x):\n    y = draw\n",
            "    if x > {i}:\n        y = lambda: draw({i})\n", "    return y()\n" + _MAIN,
        ), 20,
    ),
    "modules in a ring": (
        _modules(
            "import torch\nfrom p import m{next}\n\n\ndef f(x):\n    return m{next}.f(x) + torch.rand(1)\n",
            "from p import m0\n\nif __name__ == '__main__':\n    m0.f(1)\n",
        ), 4,
    ),
    "modules with everything from the next": (
        _modules(
            "import torch\nfrom p.m{next} import *\n\n\ndef f{i}(x):\n    return f{next}(x)\n",
            "from p.m0 import *\n\nif __name__ == '__main__':\n    f0(1)\n",
        ), 4,
    ),
    "scripts": (
        _scripts("import lib\n\nif __name__ == '__main__':\n    lib.run()\n", "import torch\n\n\ndef run():\n    return torch.rand(1)\n"), 5,
    ),
    "files that are broken": (_scripts("def f(:\n", ""), 60),
}  # fmt: skip
