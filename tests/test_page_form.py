"""The pages of rules have one form, and fit on two screens; what a check reads says what it is for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from detlint import catalogue, rulebook
from detlint.catalogue import Rule
from detlint.cli import cli
from detlint.support import toml

RULES = catalogue.load().rules
HEADINGS = ("Why runs differ", "How to fix it", "What is reported", "When to ignore it")
LAST = "Configuration"  # only pages that speak of settings have it
LONGEST = 120  # lines, of a page's text and of what `detlint rule` prints
FIRST = 45  # the line by which the first example begins


def headings(text: str) -> list[str]:
    """The headings outside of examples."""
    return re.findall(r"^#+ .*$", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), flags=re.MULTILINE)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_a_page_has_the_headings_of_all_pages_in_their_order(rule: Rule) -> None:
    wanted = [f"## {heading}" for heading in HEADINGS]
    assert headings(rule.prose) in (wanted, [*wanted, f"## {LAST}"])
    assert not re.findall(r"^## .*\n\n(?:#|$)|^## .*\n*\Z", rule.prose, flags=re.MULTILINE), "nothing stands below one"


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_a_page_is_short_and_begins_with_prose_and_an_example(rule: Rule) -> None:
    lines = rule.prose.splitlines()
    assert len(lines) <= LONGEST
    assert not lines[0].startswith(("#", "```"))
    examples = [number for number, line in enumerate(lines, 1) if line.startswith("```py")]
    assert rule.code == "DET000" or examples[0] <= FIRST  # a file that cannot be read is no example


def test_a_rule_is_shown_on_two_screens_with_its_sources() -> None:
    shown = {code: CliRunner().invoke(cli, ["rule", code]).stdout.splitlines() for code in RULES}
    assert {code: len(lines) for code, lines in shown.items() if len(lines) > LONGEST} == {}
    assert [code for code, lines in shown.items() if "## Sources" not in lines] == []


@pytest.mark.parametrize("path", rulebook.checks(), ids=lambda path: path.stem)
def test_what_a_check_reads_says_what_it_is_for(path: Path) -> None:
    assert path.stem in RULES
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# ")
    for key, value in toml.loads(text).items():
        names = isinstance(value, list) and len(value) > 1
        assert not names or re.search(rf"^# .+\n{key} = ", text, flags=re.MULTILINE), key
