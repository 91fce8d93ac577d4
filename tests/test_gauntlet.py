"""Single files of tests/gauntlet: each as people write it, with the lines that must be reported marked, and no others."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from .support import Snippet, by_section, codes, snippets

JUDGED_BY = {  # the rules whose findings a file's marks are: all, one or a family
    "DET301": "ALL",
    "DET302": "ALL",
    "DET303": "ALL",
    "DET304": "ALL",
    "DET401": "ALL",
    "DET402": "ALL",
    "DET403": "ALL",
    "completion": "DET603",
    "dropout": "DET110",
    "epochs": "DET2",
    "loading": "DET2",
    "order": "DET6",
    "ranks": "DET702",
    "recomputation": "DET703",
    "resume": "DET7",
    "seeds": "DET1",
    "switches": "DET5",
    "third_party": "DET107",
    "ties": "DET305",
}
SECTIONS = [
    pytest.param(rules, cases, id=file if file == section else f"{file}: {section}")
    for file, rules in JUDGED_BY.items()
    for section, cases in by_section(snippets(file)).items()
]
MISSED = [each for each in SECTIONS if str(each.id).endswith("missed")]


@pytest.mark.parametrize(("rules", "cases"), [each for each in SECTIONS if each not in MISSED])
def test_finds_what_is_marked_and_nothing_else(rules: str, cases: Mapping[str, Snippet]) -> None:
    assert found(rules, cases) == {name: each.marks for name, each in cases.items()}


@pytest.mark.parametrize(("rules", "cases"), MISSED)
def test_a_known_miss_that_is_found_moves_to_where_the_others_are(rules: str, cases: Mapping[str, Snippet]) -> None:
    assert [name for name, codes in found(rules, cases).items() if codes == cases[name].marks] == []


def found(rules: str, cases: Mapping[str, Snippet]) -> dict[str, list[tuple[int, str]]]:
    return {name: codes(each.text, rules, torch=each.torch) for name, each in cases.items()}
