"""Both ways from a text to `syntax` tell the same of it, and libcst reads what the running Python does not."""

from __future__ import annotations

import ast
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from detlint import reading
from detlint.analyse import undisturbed
from detlint.reading import cst_tree
from detlint.reading.lowering import NotPythonError
from detlint.tree import syntax as s
from tests.readings import by_ast, by_libcst, told

SNIPPETS = {
    "empty": ["", "\n", "# c", "\n\n  # c\n", "pass", "x = 1  # c"],
    "newlines": ["x = 1\r\nif x:\r\n    y = '''a\r\nb'''\r\n", "x = 1\ry = (2,\r 3)", "a = 1\n\r\nb = f'{a}'\n"],
    "form feeds": ["x\n\f\ndef f(): pass\n\f\nclass A: a\n", "if x:\n\f  y\n"],
    "tabs": ["if 1:\n\tx = f(\n\t\ty,\n\t)\n"],
    "continuation": ["x = \\\n  1 + \\\n  f (a , b)\n", "with \\\n a: pass\n", "assert x, \\\n y\n", "del \\\n a\n"],
    "unicode": ["é = 'é€𝄞'; y = f(é, '𝄞', z)\n", "x = f'é{a}€{b!r}'; y = f('é', f'{x}')\n", "\ufb01 = \U0001d431 = 1\n", "# \uff08\uff11\uff09\nx\n"],
    "parentheses": ["x = ((1 + 2))\ny = (f(a, (b)))\n", "((a)).b((c))[(d)]\n", "(a)\n((yield))\n", "( # (\n a)()\n"],
    "tuples": ["()\n( )\n(a,)\na,\n(a, b , )\n((a), (b))\n(a), (b)\n((a), b)\n", "x = 1, (2, 3), # (\n", "(( (a) ,b))\n"],
    "displays": ["[*a, (b)]\n{*a}\n{**a, (b): (c), **(d)}\n[]\n{}\n", "(*a, b)\n*a, b\n*a\nx = *a\n", "{1}, {2: 3}\n"],
    "calls": ["f(a=(1), *b, c=(yield), **d)\n", "f(*a, (b))\n", "f( (a) , b=(c), )\n", "f(# (\n (a), # )\n (b))\n", "f()()\n"],
    "generators": ["f(x for x in y)\n", "f( ( x for x in (y) ) )\n", "f((x for x in y), z)\n", "(x for x in y if (z))\n", "(f)(x for x in y)\n"],
    "comprehensions": ["[a for b in c if d if (e) for f in (g)]\n", "{(a): (b) for c in d}\n", "{(a) for b in c}\n", "async def f(): return [a async for b in c]\n", "[(a, b) for a, (b, *c) in d]\n", "[y := f(x) for x in z]\n"],
    "subscripts": ["a[1]\na[1, 2]\na[(1, 2)]\na[1,]\na[(1), (2)]\na[(1, 2), 3]\na[()]\na[b := 1]\n", "a[:]\na[1 : ]\na[ : , 1 :2: ,]\na[(1):(2):(3)]\na[::(b)]\n", "a[(x for x in y), 1]\n"],
    "operators": ["a + b - c * d / e // f % g ** h @ i & j | k ^ l << m >> n\n", "-a; +a; ~a; not a\n", "a or b or (c)\na and b and c and d\n(a or b) or c\na or (b and c)\n(a) or (b)\n", "a < b <= c != d is not e not in f in g is h\n", "a if b else c if d else (e)\n", "(a := b)\n"],
    "lambdas": ["lambda: 0\nlambda a, /, b=(1), *c, d, e=2, **f: (a, b)\n", "(lambda *, a: (yield))\n", "lambda: (x)\n"],
    "constants": ["1; 0x1F; 1_000; 1.5e3; 2j; None; True; ...; b'a'; 'a' 'b'; u'x'; r'\\d'; ''\n", "('a'  # c\n 'b')\n", "b'a' b'b'\n", "'\\d'\n"],
    "f-strings": [
        "f''\nf'a'\nf'{a}'\nf'{{a}}b{c}{d!r:>{w}}{e = }'\n", "'a' f'b' 'c' 'd'\nf'a' f'b'\n('a'\n f'{b}' # c\n 'd' 'e')\n",
        "f'''a\n{b\n}\n{c:{d}}{e}'''\n", "rf'\\{a}\\d{b}'\nfr'\\n{a}'\nF'{a}'\nf'\\{a}\\n\\'{b}'\n", "f'\\N{DIGIT ONE}{a}'\n",
        "f'{a[\"b\"]}{f(x, y)!s:^{w}.{p}}'\n", "f'{(lambda: 1)()}{(b := 2)}'\n", "f'{a, b}{*c, d}{ e }'\n", "f'{a!=b}{a==b}{a<=b:=^5}'\n",
        "f'{x:%H:%M}{y:{z}}{d[\":\"]}{{{a}}}'\n", "f\"{f'{a}' 'b'}\"\n", "def f():\n  return f'{yield}{await x}'\n", "f'''{\n  f(a,\n   b)\n}'''\n",
        "x = f'{a}' % f\"{b}\"; y = f'''é{c}'''; z\n", "f'{[x for x in y]}{ {1: 2}[1] }'\n",
    ],
    "targets": ["a = b = c\n(a) = b\na, (b, *c) = [d, e] = f\na.b, c[d] = e\n", "a: int\na: int = 1\na.b: c = d\n", "a += 1; b.c @= 2; d[e] **= 3; f //= 4; g >>= 5\n"],
    "deletions": ["del a\ndel a,\ndel (a)\ndel (a, b)\ndel a, b\ndel (a), (b)\ndel [a, b], c.d\ndel a, ;x\n"],
    "statements": ["pass; break_; x;\n", "raise\nraise a\nraise a from b\n", "assert a\nassert (a), b\n", "def f():\n  return\n  return a, b\n  global x, y\n  x = 1\n", "def f():\n  def g():\n    nonlocal y\n    y = 2\n  y = 1\n", "while a:\n  break\nelse:\n  continue;\n"],
    "imports": ["import a\nimport a . b, c as d, e.f as g\n", "from a import b, c as d\nfrom . import e\nfrom .. f import (g,\n h as i,)\nfrom ... import j\n", "from a import *\nfrom .b import *\n"],
    "branches": ["if x:\n    a;\nelif y: pass\nelse: b ; \n", "if x: a\nelse:\n  if y: b\n", "if (x): a; b;\n", "for a in b: c\nelse: d;\n", "for a, *b in *c, d: e\n", "for (a) in (b):\n  for c in d: pass\n  # end\n"],
    "with": ["with (a): pass\nwith (a, b): pass\nwith (yield): pass\nwith ((yield)): pass\n", "with ((a) as b, c,): pass\nwith (a), b: pass\nwith a, (b): pass\n", "with (a, b) as c: pass\nwith (a for a in b): pass\nwith (a, *b): pass\n", "with a as (b): pass\nwith a as (b, c), d as [e]: pass\nwith ((a)): pass\nwith ((a), (b)): pass\n", "with (a := b): pass\nwith (a) as b, (c): pass\nwith (a, (b)): pass\nwith (# (\n a as b): pass\n", "with (a).b: pass\nwith (a)(b) as c: pass\nwith (a,): pass\n"],
    "try": ["try: a\nexcept: b\n", "try: a\nexcept (A) as e: b\nexcept (A, B)  as  e :\n  c;\nelse: d\nfinally: e\n", "try: a\nfinally: b;\n", "try: a\nexcept A \\\n as b: c\n"],
    "match": ["match (a):\n  case (b, *c) | {**d} as e if (f): pass\n  case _: x ;\n", "match a, b:\n case 1 | 'x' | None: a\n case A(b, c=[d, *_]): e\n case f: g\n", "match a:\n  case (  # case (\n   B.c): pass\n", "match = case = 1\nmatch(x)\n", "match *a, b:\n case {'x': y, **z}: pass\n case -1 | 1+2j: pass\n"],
    "functions": ["def f(a: (int), /, b: str = (1), *c: d, e, g: h = 2, **i: j) -> (k): pass\n", "@a\n@(b)\n@c.d(e)\nasync def f(* a, b = (1), ** c): await g()\n", "def f(a, b=lambda: 0, *, c=(x for x in y)): pass;\n", "async def f():\n  async with a as b, c: pass\n  async for d in e: pass\n  async  \\\n   with (g): pass\n", "def f(a, *\n  # *\n b, ** # **\n c): pass\n"],
    "classes": ["class A: pass\nclass B(): pass\nclass C((D), e=(F), **g): a = 1; b\n", "@a\nclass A(B, *C):\n  def f(self): return __class__\n  x: int\n", "class A(  # (\n (B),): pass\n"],
    "scopes": ["x = 1\ndef f():\n  global x\n  x = 2\n  class A:\n    x = 3\n    y = [x for x in x]\n  del x\n", "def f(a=[b := 1 for c in d]): return [(e := c) for c in a]\n"],
}  # fmt: skip
NEWER = {
    (3, 11): ["try: a\nexcept* (A) as e: b\nexcept* B: c\n", "def f(*args: *Ts): pass\n", "a[*b]\na[*b, c]\n"],
    (3, 12): [
        "type X[T] = list[T]\ndef f[T: (int, str), *U, **P](a: T) -> T: pass\nclass A[T](B, c=d): pass\nclass C[T: (x)]((D)): pass\n",
        "x = f'{a['b']}{f'{c}'}{\n  d  # e\n}'\n",
    ],
}
TEXTS = [(kind, text) for kind, texts in SNIPPETS.items() for text in texts]
TEXTS += [(f"from {version}", t) for version, ts in NEWER.items() if sys.version_info >= version for t in ts]


@pytest.mark.parametrize("text", [text for _, text in TEXTS], ids=[f"{kind}-{i}" for i, (kind, _) in enumerate(TEXTS)])
def test_both_ways_tell_the_same_of_a_snippet(text: str) -> None:
    if "\ufb01" in text:
        read = reading.read(text)
        assert by_libcst(text) == told(read.file, read.spans) != by_ast(text)
    else:
        assert by_ast(text) == by_libcst(text)


@pytest.mark.parametrize("version", [v for v in NEWER if v > sys.version_info], ids=str)
def test_what_only_a_newer_python_reads_is_read(version: tuple[int, int]) -> None:
    for text in NEWER[version]:
        with pytest.raises(SyntaxError):
            ast.parse(text)
        read = reading.read(text)
        assert told(read.file, read.spans) == by_libcst(text)


LIBRARY = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))


@pytest.mark.slow
def test_both_ways_tell_the_same_of_the_standard_library() -> None:
    differ, compared = [], 0
    for path in LIBRARY[:: len(LIBRARY) // 20]:
        text = path.read_text(encoding="utf-8")
        if cst_tree.parse(text).code == text:  # it drops the space before a colon behind `except (A)`
            compared += 1
            differ += [path.stem] if by_ast(text) != by_libcst(text) else []
    assert compared > 10 and differ == []


def test_libcst_is_imported_only_for_what_python_does_not_read() -> None:
    code = """
import sys
from detlint import analyse, reading
from detlint.semantics import model
reading.read("x = f'{y!r}'")
reading.check("x = 1")
print("libcst" in sys.modules)
try:
    reading.check("x = = 1")
except reading.NotPythonError:
    print("libcst" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


@pytest.mark.parametrize(
    "text", ["-" * 20_000 + "1", "+".join("a" * 20_000), "if a: pass\n" + "elif a: pass\n" * 20_000]
)
def test_what_is_nested_too_deeply_says_so_and_ends(text: str) -> None:
    with undisturbed(), pytest.raises(NotPythonError, match="it is nested too deeply"):
        reading.read(text)


def test_a_sum_of_two_thousand_terms_is_read() -> None:
    with undisturbed():
        file = reading.read("+".join("a" * 2_000)).file
        assert sum(isinstance(node, s.Name) for node in s.walk(file)) == 2_000


@pytest.mark.parametrize(
    "text", ["x = = 1\n", "print 'a'\n", "def f(:\n", "x = (\n", "a b", "x = '\ud800'", "if a:\nb", "'a' b'c'\n"]
)
def test_what_neither_way_reads_is_the_error_that_it_is_to_libcst(text: str) -> None:
    errors: list[tuple[str, int, int]] = []
    for read in (cst_tree.parse, reading.read, reading.check):
        with pytest.raises(NotPythonError) as caught:
            read(text)
        errors.append((str(caught.value), caught.value.line, caught.value.column))
    assert len(set(errors)) == 1
