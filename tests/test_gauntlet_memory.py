"""Memory that is allocated and not filled, as people write it: what must be reported, and what must not."""

from __future__ import annotations

import pytest

from .support import Snippet, codes, snippets


@pytest.mark.parametrize("snippet", snippets("DET401", "DET402", "DET403"), ids=str)
def test_snippet(snippet: Snippet) -> None:
    assert codes(snippet.text) == snippet.marks
