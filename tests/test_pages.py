"""Every example of every rule is analysed with all rules on: its findings are its marks, its fixes what is shown."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from packaging.version import Version

from detlint import catalogue, engine
from detlint.analyse import Source
from detlint.applying import fixer
from detlint.applying.fixer import Outcome, Settings
from detlint.catalogue import Rule
from detlint.config import Config
from detlint.finding import Finding, Safety

from .examples import Example, examples, files, marks, title

RULES = catalogue.load().rules


def findings(texts: Mapping[str, str], torch: Version) -> list[Finding]:
    sources = [
        Source(path, path.removesuffix(".py").replace("/", ".").removesuffix(".__init__"), text)
        for path, text in texts.items()
        if path.endswith(".py")
    ]
    documents = {path: text for path, text in texts.items() if not path.endswith(".py")}
    report = engine.check_sources(sources, Config(select=("ALL",)), torch, documents)
    return [judged.finding for judged in report.findings]


def check(example: Example) -> dict[str, list[tuple[int, str]]]:
    found: dict[str, list[tuple[int, str]]] = {path: [] for path in example.texts}
    for finding in findings({f.title or "example.py": f.text for f in example.fences}, example.torch):
        found[finding.place.path].append((finding.place.line, finding.code))
    return {path: sorted(rows) for path, rows in found.items()}


def fix(texts: Mapping[str, str], torch: Version, unsafe: bool) -> Outcome:
    return fixer.fix_project(lambda new: findings({**texts, **new}, torch), texts.__getitem__, Settings(unsafe))


FILES = [(rule, file) for rule in RULES.values() for file in files(rule)]
REPAIRS = [(ahead, after) for rule, file in FILES for ahead, after in pairwise(examples(rule, file)) if after.fixed]
FIXABLE = [rule for rule in RULES.values() if rule.fix in (Safety.SAFE, Safety.UNSAFE)]


@pytest.mark.parametrize("rule, file", FILES, ids=[title(file) for _, file in FILES])
def test_the_examples_give_their_marks(rule: Rule, file: Path) -> None:
    shown = {f"line {example.fences[0].line}": example for example in examples(rule, file)}
    wanted = {
        line: {fence.title or "example.py": marks(fence) for fence in example.fences} for line, example in shown.items()
    }
    assert {line: check(example) for line, example in shown.items()} == wanted


@pytest.mark.parametrize("ahead, after", REPAIRS, ids=[f"{title(e.file)}-line{e.fences[0].line}" for _, e in REPAIRS])
def test_the_fixes_make_of_an_example_what_is_shown(ahead: Example, after: Example) -> None:
    unsafe = after.fences[0].info.startswith("fixed unsafe")
    outcome = fix(ahead.texts, ahead.torch, unsafe)
    new = {**ahead.texts, **{change.path: change.new for change in outcome.changes}}
    assert new == {**ahead.texts, **after.texts}
    assert new != ahead.texts
    assert outcome.converged
    for text in new.values():
        ast.parse(text)
    before, left = (Counter(f.code for f in findings(texts, ahead.torch)) for texts in (ahead.texts, new))
    assert left <= before
    assert fix(new, ahead.torch, unsafe).changes == ()


@pytest.mark.parametrize("rule", FIXABLE, ids=lambda rule: rule.code)
def test_a_page_shows_the_fix_that_its_header_names(rule: Rule) -> None:
    known = [example for file in files(rule) for example in examples(rule, file)]
    own = [f for e in known for f in findings(e.texts, e.torch) if f.code == rule.code and f.fix is not None]
    safeties = list(Safety)
    assert min((f.fix.safety for f in own if f.fix is not None), key=safeties.index) is rule.fix
    wanted = "fixed unsafe" if rule.fix is Safety.UNSAFE else "fixed"
    shown = [re.sub(r' (torch=|title=").*', "", e.fences[0].info) for e in examples(rule, rule.page) if e.fixed]
    assert wanted in shown


def test_a_page_has_a_bad_example_a_good_one_and_sources() -> None:
    lacks: dict[str, list[str]] = {}
    for rule in (rule for rule in RULES.values() if rule.code[3] != "0"):
        found = [[code for fence in e.fences for _, code in marks(fence)] for e in examples(rule, rule.page)]
        there = {
            "an example that the rule reports": any(rule.code in codes for codes in found),
            "an example without a finding": any(not codes for codes in found),
            "sources": bool(rule.refs) and all(ref.startswith("https://") for ref in rule.refs),
        }
        lacks[rule.code] = [what for what, is_there in there.items() if not is_there]
    assert {code: missing for code, missing in lacks.items() if missing} == {}
