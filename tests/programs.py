"""Programs made up by hypothesis: the whole grammar in odd layouts, and in between what rules look for."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence

from hypothesis import strategies as st

Lines = list[str]
NAMES = st.sampled_from("a b c x y é self torch np random loader dataset model seed T".split())
DOTTED = st.sampled_from(
    """torch.nn.functional.relu torch.backends.cudnn.benchmark np.random a.b.c self.x random.random F.relu nn.Module
    os.environ torch.Tensor x.grad torch.utils.data.Dataset""".split()
)
CONSTANTS = st.sampled_from(
    """0 1 42 0x1F 1_000 1.5e3 2j None True False ... 'a' "b" '' b'c' r'\\d' '''d''' 'é€𝄞' 'a' 'b' u'x' -1""".split(" ")
)
HEADS = (
    "import torch",
    "import torch as T",
    "import numpy as np",
    "import random, os, glob, time",
    "from torch import nn",
    "from torch.utils.data import DataLoader, random_split",
    "import torch.nn.functional as F",
    "from torch import *",
    "from . import other",
    '"""A docstring."""',
    "from __future__ import annotations",
    "# a comment",
)
ALL_HEADS = [*HEADS[:4], "from torch.utils.data import DataLoader, random_split", "import torch.nn.functional as F"]
DRAWS = (  # expressions that rules look for, with a hole
    "torch.rand({})", "torch.randn(3, generator={})", "np.random.rand({})", "random.random()", "random.shuffle({})",
    "torch.empty({}) + 1", "torch.empty({}, 3).sum()", "np.empty({}) * 2", "torch.Tensor(2, 3) + {}",
    "x.index_add_(0, a, {})", "x.scatter_add_(0, a, {})", "torch.bincount({}, weights=y)", "torch.cumsum({}, 0)",
    "x.index_put_((a,), {}, accumulate=True)", "F.interpolate({}, scale_factor=2, mode='bilinear')",
    "DataLoader({}, shuffle=True, num_workers=2)", "torch.utils.data.DataLoader(dataset, shuffle=True)",
    "DataLoader(dataset, {}, worker_init_fn=lambda i: np.random.seed(0))", "random_split({}, [1, 2])",
    "np.random.default_rng()", "torch.Generator()", "np.random.RandomState()", "list({{'a', 'b', {}}})",
    "[y for y in {{a, b}}]", "os.listdir({})", "[f for f in os.listdir('.')]", "glob.glob({})", "hash({})", "id({})",
    "sorted(os.listdir({}))", "', '.join(set({}))", "max({{a, b}})", "torch.sort({})", "x.topk(2)", "F.dropout({})",
    "torch.compile({}, mode='max-autotune')", "torch.median({}, 0)", "torch.unique({})", "x.argmax()",
    "torch.get_rng_state()", "torch.save({{'model': {}}}, 'a.pt')", "torch.utils.checkpoint.checkpoint({}, x)",
    "next(iter({{1, 2}}))", "tuple(set(x))", "torch.initial_seed()", "hash('a') % 7",
)  # fmt: skip
SWITCHES = (  # statements that rules look for, with a hole
    "torch.manual_seed({})", "torch.manual_seed(int(time.time()))", "random.seed()", "np.random.seed({})",
    "torch.cuda.manual_seed_all({})", "torch.backends.cudnn.benchmark = True", "torch.backends.cudnn.benchmark = {}",
    "torch.backends.cudnn.deterministic = False", "torch.use_deterministic_algorithms(True, warn_only=True)",
    "torch.use_deterministic_algorithms({})", "os.environ['CUBLAS_WORKSPACE_CONFIG'] = ':4096:8'",
    "os.environ['PYTHONHASHSEED'] = '0'", "loader = DataLoader({}, shuffle=True)", "rng = np.random.default_rng({})",
    "out = torch.empty({})", "torch.set_deterministic_debug_mode(0)", "x[a] += {}", "torch.utils.deterministic.fill_uninitialized_memory = False",
)  # fmt: skip
OPERATORS = [*"+ - * / // % ** @ & | ^ << >> and or < == != is in".split(), "not in", "is not"]
NOQA = (
    "",
    "",
    "",
    "  # noqa",
    "  # noqa: DET101",
    "  # é # noqa: DET501, E501 - why",
    "  # detlint: off",
    "# detlint: on",
)


def _filled(templates: Sequence[str], inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(lambda template, value: template.format(value), st.sampled_from(templates), inner)


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Expressions with others in them."""
    operator = st.sampled_from(OPERATORS)
    space = st.sampled_from(("", " ", "  "))
    broken = st.sampled_from(("", " ", "\n  ", "  # (\n", "\\\n"))
    return st.one_of(
        st.builds("({} {} {})".format, inner, operator, inner),
        st.builds("({}{}{})".format, broken, inner, broken.filter(lambda gap: "\\" not in gap)),
        st.builds("{}({}{})".format, st.one_of(NAMES, DOTTED), space, inner),
        st.builds("{}({}, *{}, k={}, **{})".format, NAMES, inner, inner, inner, NAMES),
        st.builds("f({},{}{})".format, inner, broken.filter(lambda gap: "\\" not in gap), inner),
        st.builds("({}).{}{}({})".format, inner, NAMES, space, inner),
        st.builds("{}[{}]".format, NAMES, inner),
        st.builds("x[{}:{}, ::{}]".format, inner, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("(lambda {}, *b, k={}: {})".format, NAMES, inner, inner),
        st.builds("[{} for {} in {} if {}]".format, inner, NAMES, inner, inner),
        st.builds("({} for a, (b, *c) in {})".format, inner, inner),
        st.builds("{{{}: {} for {} in {}}}".format, inner, inner, NAMES, inner),
        st.builds("{{{}, {}}}".format, inner, inner),
        st.builds("{{{}: {}, **{}}}".format, inner, inner, NAMES),
        st.builds("[{}, *{}]".format, inner, NAMES),
        st.builds("({}, {},)".format, inner, inner),
        st.builds("({} := {})".format, st.sampled_from(("a", "x")), inner),
        st.builds("(not {})".format, inner),
        st.builds("f'é{{{}!r:>{{{}}}}}'".format, NAMES, NAMES),
        st.builds("f\"{{{} }}{{x=}}\"  'é' f'{{{}}}'".format, DOTTED, NAMES).map(lambda text: f"({text})"),
        _filled(DRAWS, inner),
    )


EXPRESSIONS = st.recursive(st.one_of(NAMES, DOTTED, CONSTANTS), _compound, max_leaves=6)
TARGETS = st.sampled_from(("a", "x", "x.y", "a[0]", "a, b", "(a, *b)", "[a, b]", "é", "self.x"))
SIMPLE = st.one_of(
    EXPRESSIONS,
    _filled(SWITCHES, EXPRESSIONS),
    st.builds("{} = {}".format, TARGETS, EXPRESSIONS),
    st.builds("a = {} = {}".format, TARGETS, EXPRESSIONS),
    st.builds("x {}= {}".format, st.sampled_from(("+", "@", "**", "//")), EXPRESSIONS),
    st.builds("a: {} = {}".format, EXPRESSIONS, EXPRESSIONS),
    st.builds("del {}".format, st.sampled_from(("a", "(a, b)", "x[0], x.y", "[a]"))),
    st.builds("assert {}, {}".format, EXPRESSIONS, EXPRESSIONS),
    st.builds("raise {} from {}".format, EXPRESSIONS, EXPRESSIONS),
    st.builds("return {}".format, EXPRESSIONS),
    st.builds("yield {}".format, EXPRESSIONS),
    st.builds("await {}".format, EXPRESSIONS),
    st.sampled_from(
        ("pass", "break", "continue", "global seed", "return", "import a.b as c", "from a import (b, c as d,)")
    ),
)


@st.composite
def _suite(draw: st.DrawFn, depth: int) -> Lines:
    """What stands below a colon: the rest of its line and the lines that follow."""
    if draw(st.integers(0, 3)) == 0:
        return [" " + "; ".join(draw(st.lists(SIMPLE, min_size=1, max_size=2))) + draw(st.sampled_from(("", ";")))]
    indent = draw(st.sampled_from(("    ", " ", "\t")))
    inner = draw(st.lists(_statement(depth - 1), min_size=1, max_size=3))
    return [draw(st.sampled_from(("", "  # :"))), *(indent + line for lines in inner for line in lines)]


def _headed(head: str, suite: Lines) -> Lines:
    return [head + suite[0], *suite[1:]]


@st.composite
def _statement(draw: st.DrawFn, depth: int) -> Lines:
    kind = draw(st.integers(0, 11 if depth > 0 else 2))
    if kind <= 2:
        text = draw(SIMPLE)
        noqa: str = "" if "\n" in text else draw(st.sampled_from(NOQA))
        return f"{text}{noqa}".split("\n")

    def expression() -> str:
        return draw(EXPRESSIONS)

    def suite() -> Lines:
        return draw(_suite(depth))

    if kind == 3:
        lines = _headed(f"if ({expression()}):", suite())
        if draw(st.booleans()):
            lines += _headed(f"elif ({expression()}):", suite())
        return lines + (_headed("else:", suite()) if draw(st.booleans()) else [])
    if kind == 4:
        lines = _headed(f"for {draw(TARGETS)} in ({expression()}):", suite())
        return lines + (_headed("else:", suite()) if draw(st.booleans()) else [])
    if kind == 5:
        return _headed(f"while ({expression()}):", suite())
    if kind == 6:
        lines = _headed("try:", suite())
        for _ in range(draw(st.integers(0, 2))):
            lines += _headed(f"except ({expression()}) as e:", suite())
        return lines + _headed("finally:", suite())
    if kind == 7:
        return _headed(f"with ({expression()}) as {draw(NAMES)}, ({expression()}):", suite())
    if kind == 8:
        return _headed(f"with ({expression()} as x, y):", suite())
    if kind == 9:
        head = draw(
            st.sampled_from(
                ("def f(a, /, b=({0}), *c, k: ({0}) = 1, **d) -> ({0}):", "async def f(self, x):", "def main():")
            )
        )
        decorated = [f"@{draw(NAMES)}({expression()})"] if draw(st.booleans()) else []
        return [*decorated, *_headed(head.format(expression()), suite())]
    if kind == 10:
        head = draw(st.sampled_from(("class A(nn.Module, k=({0})):", "class A:", "class D(torch.utils.data.Dataset):")))
        return _headed(head.format(expression()), suite())
    pattern = draw(st.sampled_from(("1 | 'x'", "A(b, c=[d, *_])", "{'x': y, **z}", "[a, *b]", "_", "(a as b)", "a.b")))
    return [
        f"match ({expression()}):",
        *(" " + line for line in _headed(f"case {pattern} if ({expression()}):", suite())),
    ]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The text of a program that the running Python reads."""
    heads = draw(st.lists(st.sampled_from(HEADS), max_size=6, unique=True))
    heads += draw(st.sampled_from((ALL_HEADS, ALL_HEADS, [])))
    blocks = draw(st.lists(_statement(2), min_size=1, max_size=6))
    gap = draw(st.sampled_from(([], [""], ["", "\f"], ["  # c"])))
    lines = [*heads, *(line for block in blocks for line in (*block, *gap))]
    if draw(st.integers(0, 3)) == 0:
        lines += ["if __name__ == '__main__':", "    main()"]
    text = "\n".join(lines) + draw(st.sampled_from(("", "\n", "\n\n")))
    return text.replace("\n", draw(st.sampled_from(("\n", "\n", "\r\n", "\r"))))


def is_python(text: str) -> bool:
    """Whether the running Python reads a text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError):
            return False
    return True
