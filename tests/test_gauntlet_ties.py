"""Choices among equal values as people write them: what must be reported, and what must not."""

from __future__ import annotations

import pytest

from detlint.output.words import remarks

from .support import codes, report


@pytest.mark.parametrize(("torch", "reported"), [("2.9", True), ("2.10", False)])
def test_kthvalue_gives_the_first_index_in_newer_releases(torch: str, reported: bool) -> None:
    text = "import torch\n\n\ndef f(x):\n    return torch.kthvalue(torch.round(x), 3).indices\n"
    assert bool(codes(text, "DET305", torch=torch)) is reported


@pytest.mark.parametrize(
    ("call", "fixed"),
    [
        ("np.argsort(np.bincount(x))[:k]", 'np.argsort(np.bincount(x), kind="stable")[:k]'),
        (
            "torch.bincount(x).argsort(descending=True)[:k]",
            "torch.bincount(x).argsort(descending=True, stable=True)[:k]",
        ),
        ("torch.argsort(torch.bincount(x), 0)[:k]", None),
        ("torch.bincount(x).topk(k).indices", None),
    ],
    ids=["numpy", "torch", "an overload without the argument", "topk"],
)
def test_a_sort_is_made_stable_where_it_can_be(call: str, fixed: str | None) -> None:
    text = f"import numpy as np\nimport torch\n\n\ndef f(x, k):\n    return {call}\n"
    (found,) = report({"example.py": text}, ("DET305",)).findings
    if fixed is None:
        assert found.finding.fix is None
        return
    assert found.finding.fix is not None
    (edit,) = found.finding.fix.edits
    line = text.splitlines()[edit.place.line - 1]
    start, end = edit.place.column - 1, edit.place.end_column - 1
    assert (line[:start] + edit.text + line[end:]).strip() == f"return {fixed}"


def test_the_reason_of_a_finding_is_that_of_its_call() -> None:
    text = "import torch\n\n\ndef f(x, k):\n    return torch.bincount(x).topk(k).indices\n"
    (found,) = report({"example.py": text}, ("DET305",)).findings
    why, remedy = remarks(found)
    assert why == f"why: {found.why}" and remedy == f"help: {found.help}"
    assert "{" not in why + remedy
