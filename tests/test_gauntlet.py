"""Single files of tests/gauntlet: each as people write it, with the lines that must be reported marked, and no others."""

from __future__ import annotations

import pytest

from .support import Snippet, codes, snippets

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
KNOWN_MISS = pytest.mark.xfail(strict=True, reason="a known miss")
CASES = [
    pytest.param(rules, snippet, id=str(snippet), marks=[KNOWN_MISS] if snippet.missed else [])
    for file, rules in JUDGED_BY.items()
    for snippet in snippets(file)
]


@pytest.mark.parametrize(("rules", "snippet"), CASES)
def test_finds_what_is_marked_and_nothing_else(rules: str, snippet: Snippet) -> None:
    assert codes(snippet.text, rules, torch=snippet.torch) == snippet.marks
