"""Every example of every rule's page is analysed with all rules on; its findings are its marks, its fixes are shown."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import pytest
from packaging.version import Version

from detlint import catalogue, engine
from detlint.analyse import Source
from detlint.applying import fixer
from detlint.applying.fixer import Outcome, Settings
from detlint.catalogue import Rule
from detlint.config import Config
from detlint.fences import Fence
from detlint.finding import Finding, Safety

RULES = catalogue.load().rules
MARK = re.compile(r"#\s*((?:DET\d{3}(?:,\s*)?)+)\s*$")


@dataclass(frozen=True)
class Example:
    rule: Rule
    fences: tuple[Fence, ...]

    @property
    def torch(self) -> Version:
        match = re.search(r'torch="([^"]+)"', self.fences[0].info)
        return Version(match.group(1)) if match else catalogue.load().newest_release()

    @property
    def fixed(self) -> bool:
        """Whether it shows what the fixes make of the example ahead of it."""
        return self.fences[0].info.startswith("fixed")

    @property
    def texts(self) -> dict[str, str]:
        """The files by path, without their marks."""
        return {f.title or "example.py": re.sub(r" *# *DET\d{3}[\w, ]*$", "", f.text, flags=re.M) for f in self.fences}


def examples(rule: Rule) -> list[Example]:
    """The page's examples: fences with titles in a row make one project, until a title comes again."""
    found: list[Example] = []
    project: list[Fence] = []
    for fence in sorted((*rule.fences, *rule.documents), key=lambda fence: fence.line):
        if project and fence.title in (None, *(other.title for other in project)):
            found.append(Example(rule, tuple(project)))
            project = []
        if fence.title is None:
            found.append(Example(rule, (fence,)))
        else:
            project.append(fence)
    return found + ([Example(rule, tuple(project))] if project else [])


def marks(fence: Fence) -> list[tuple[int, str]]:
    found = []
    for number, line in enumerate(fence.text.splitlines(), 1):
        match = MARK.search(line)
        if match:
            found += [(number, code) for code in re.findall(r"DET\d{3}", match.group(1))]
    return sorted(found)


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


ALL = [example for rule in RULES.values() for example in examples(rule)]
REPAIRS = [(ahead, after) for ahead, after in pairwise(ALL) if after.fixed]
FIXABLE = [rule for rule in RULES.values() if rule.fix in (Safety.SAFE, Safety.UNSAFE)]


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_the_examples_give_their_marks(rule: Rule) -> None:
    shown = {f"line {example.fences[0].line}": example for example in examples(rule)}
    wanted = {
        line: {fence.title or "example.py": marks(fence) for fence in example.fences} for line, example in shown.items()
    }
    assert {line: check(example) for line, example in shown.items()} == wanted


@pytest.mark.parametrize("ahead, after", REPAIRS, ids=[f"{e.rule.code}-line{e.fences[0].line}" for _, e in REPAIRS])
def test_the_fixes_make_of_an_example_what_the_page_shows(ahead: Example, after: Example) -> None:
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
    own = [f for e in examples(rule) for f in findings(e.texts, e.torch) if f.code == rule.code and f.fix is not None]
    safeties = list(Safety)
    assert min((f.fix.safety for f in own if f.fix is not None), key=safeties.index) is rule.fix
    shown = [example for _, example in REPAIRS if example.rule is rule]
    wanted = "fixed unsafe" if rule.fix is Safety.UNSAFE else "fixed"
    assert any(re.sub(r' (torch=|title=").*', "", example.fences[0].info) == wanted for example in shown)


def test_a_page_has_a_bad_example_a_good_one_and_sources() -> None:
    lacks: dict[str, list[str]] = {}
    for rule in (rule for rule in RULES.values() if rule.code[3] != "0"):
        found = [[code for fence in e.fences for _, code in marks(fence)] for e in examples(rule)]
        there = {
            "an example that the rule reports": any(rule.code in codes for codes in found),
            "an example without a finding": any(not codes for codes in found),
            "sources": bool(rule.refs) and all(ref.startswith("https://") for ref in rule.refs),
        }
        lacks[rule.code] = [what for what, is_there in there.items() if not is_there]
    assert {code: missing for code, missing in lacks.items() if missing} == {}
