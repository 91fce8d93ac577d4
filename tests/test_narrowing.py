"""Rules look only at calls that, by their spelling, may be what they look for: no finding is lost by that."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from detlint import catalogue
from detlint.analyse import Collected, Source, analyse
from detlint.semantics.index import Index
from tests.examples import files, python
from tests.support import expression, module

RULES = catalogue.load().rules
FILES = sorted((Path(__file__).parent / "gauntlet").glob("*.md"))
BLOCK = re.compile(r"^```py\b[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)

GAUNTLET = {  # the projects among them are there for rules that look at no single file
    path.name: texts
    for path in FILES
    if path.name != "projects.md" and (texts := BLOCK.findall(path.read_text(encoding="utf-8")))
}


def collected(text: str) -> Collected:
    return analyse(Source("example.py", "example", text), frozenset(RULES), catalogue.load().newest_release())


def assert_nothing_is_lost(texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for text in texts:
        narrow = collected(text)
        with monkeypatch.context() as patch:
            patch.setattr(Index, "narrows", False)
            assert collected(text) == narrow, text


@pytest.mark.slow
@pytest.mark.parametrize("name", GAUNTLET)
def test_the_gauntlet_has_the_same_findings_when_every_call_is_looked_at(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_nothing_is_lost(GAUNTLET[name], monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("family", sorted({code[3] for code in RULES}))
def test_the_pages_have_the_same_findings_when_every_call_is_looked_at(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = (rule for code, rule in RULES.items() if code[3] == family)
    fences = [fence for rule in rules for file in files(rule) for fence in python(file)]
    if fences:
        assert_nothing_is_lost([fence.text for fence in fences], monkeypatch)


@pytest.mark.parametrize(
    "call",
    [
        "import torch\na, b = torch.rand, 1\nc = b or a\nfrom functools import partial\np = partial(c, 3)\np(3)",
        "import torch\nclass A:\n    r = torch.rand\n    def f(self):\n        self.r(3)",
        "import torch\nclass A:\n    def f(self):\n        self.a = self.b\n        self.b = self.a\n"
        "        self.b = torch.rand\n        self.a(3)",
    ],
)
def test_a_call_is_looked_at_that_may_be_another_too(call: str) -> None:
    made = module(call)
    assert expression(made, call.rpartition("\n")[2].strip()) in made.calls_like(("torch.rand",))


def test_a_call_that_is_written_as_something_else_is_not_looked_at() -> None:
    made = module("import torch\ntorch.zeros(3)\nprint(torch.rand)")
    assert not made.calls_like(("torch.rand",))
    assert [made.source(call) for call in made.calls_like(("torch.zeros",))] == ["torch.zeros(3)"]


def test_an_alias_that_ends_otherwise_is_looked_at() -> None:
    aliases = catalogue.load().rows("names", "alias")
    ends = [
        (prefix, row.text("canonical"))
        for row in aliases
        for prefix in row.list("prefixes")
        if prefix.rpartition(".")[2] != row.text("canonical").rpartition(".")[2]
        and catalogue.load().canonical(prefix) == row.text("canonical")
    ]
    assert ends
    for prefix, name in ends:
        head, _, last = prefix.rpartition(".")
        made = module(f"from {head} import {last} as other\nother()" if head else f"import {last} as other\nother()")
        assert made.calls_like((name,)), prefix
