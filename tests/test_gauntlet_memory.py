"""Memory that is allocated and not filled, as people write it: what must be reported, and what must not."""

from __future__ import annotations

import pytest

from .support import Snippet, codes, snippets


@pytest.mark.parametrize("snippet", snippets("DET401", "DET402", "DET403"), ids=str)
def test_snippet(snippet: Snippet) -> None:
    assert codes(snippet.text) == snippet.marks


@pytest.mark.parametrize(("torch", "reported"), [("1.12", True), ("2.0", True), ("2.4", False), ("2.13", False)])
def test_newer_versions_fill_memory_under_the_flag(torch: str, reported: bool) -> None:
    text = "import torch\n\ntorch.use_deterministic_algorithms(True)\nprint(torch.empty(3))\n"
    assert bool(codes(text, "DET4", torch=torch)) is reported
