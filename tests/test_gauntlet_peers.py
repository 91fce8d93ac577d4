"""What other tools are known to report wrongly stays silent here, by all rules that are on by default."""

from __future__ import annotations

import pytest

from detlint import catalogue

from .support import Snippet, report, snippets

DEFAULT = tuple(sorted(catalogue.load().choose((), ())))


@pytest.mark.parametrize("snippet", snippets("peers"), ids=str)
def test_nothing_is_found(snippet: Snippet) -> None:
    found = report({"example.py": snippet.text}, DEFAULT).findings
    assert [(judged.rule.code, judged.finding.message) for judged in found] == []


def test_each_snippet_is_read() -> None:
    assert len(snippets("peers")) == 14
