"""What other tools are known to report wrongly stays silent here, by all rules that are on by default."""

from __future__ import annotations

from detlint import catalogue

from .support import report, snippets

DEFAULT = tuple(sorted(catalogue.load().choose((), ())))


def test_nothing_is_found() -> None:
    texts = snippets("peers")
    found = [(each.name, report({"example.py": each.text}, DEFAULT).findings) for each in texts]
    assert [(name, [judged.finding.message for judged in judgements]) for name, judgements in found if judgements] == []
    assert len(texts) == 14
