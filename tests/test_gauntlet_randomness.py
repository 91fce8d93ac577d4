"""Code as people write it, about random numbers, data loading and switches, judged by the families of rules on these."""

from __future__ import annotations

import pytest

from .support import Snippet, codes, snippets

FAMILIES = {"seeds": "DET1", "third_party": "DET107", "loading": "DET2", "switches": "DET5"}
KNOWN_MISS = pytest.mark.xfail(strict=True, reason="a known miss")
CASES = [
    pytest.param(family, snippet, id=str(snippet), marks=[KNOWN_MISS] if snippet.missed else [])
    for file, family in FAMILIES.items()
    for snippet in snippets(file)
]


@pytest.mark.parametrize(("family", "snippet"), CASES)
def test_finds_what_is_marked_and_nothing_else(family: str, snippet: Snippet) -> None:
    assert codes(snippet.text, family, torch=snippet.torch) == snippet.marks
