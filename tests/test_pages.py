"""Every example of every rule's page is analysed with all rules on; its findings are its marks."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from packaging.version import Version

from detlint import catalogue, engine
from detlint.catalogue import Fence, Rule
from detlint.config import Config

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


def examples(rule: Rule) -> list[Example]:
    """The page's examples: fences with titles in a row make one project, until a title comes again."""
    found: list[Example] = []
    project: list[Fence] = []
    for fence in rule.fences:
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


def check(example: Example) -> dict[str, list[tuple[int, str]]]:
    names = {f"{fence.title or 'example.py'}": fence for fence in example.fences}
    sources = [
        engine.Source(path, path.removesuffix(".py").replace("/", ".").removesuffix(".__init__"), fence.text)
        for path, fence in names.items()
    ]
    report = engine.check_sources(sources, Config(select=("ALL",)), example.torch)
    found: dict[str, list[tuple[int, str]]] = {path: [] for path in names}
    for judged in report.findings:
        place = judged.finding.place
        found[place.path].append((place.line, judged.finding.code))
    return {path: sorted(rows) for path, rows in found.items()}


ALL = [example for rule in RULES.values() for example in examples(rule)]


@pytest.mark.parametrize("example", ALL, ids=[f"{e.rule.code}-line{e.fences[0].line}" for e in ALL])
def test_an_example_gives_its_marks(example: Example) -> None:
    wanted = {fence.title or "example.py": marks(fence) for fence in example.fences}
    assert check(example) == wanted


@pytest.mark.parametrize("rule", [r for r in RULES.values() if r.code[3] != "0"], ids=lambda rule: rule.code)
def test_a_page_has_a_bad_example_a_good_one_and_sources(rule: Rule) -> None:
    found = [[code for fence in e.fences for _, code in marks(fence)] for e in examples(rule)]
    assert any(rule.code in codes for codes in found), "no example that the rule reports"
    assert any(not codes for codes in found), "no example without a finding"
    assert rule.refs
    assert all(ref.startswith("https://") for ref in rule.refs)
