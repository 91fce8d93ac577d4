"""`detlint entries`: which of several draws is told of as the first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_entries_values import told


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("if found: torch.rand(2)", 7),  # that may not happen
        ("torch.rand(2)", 6),
        ("torch.rand(2) if found else torch.randn(2)", 6),
        ("torch.rand(2) if found else torch.ones(2)", 7),
    ],
)
def test_the_first_draw_of_a_seeded_program_is_one_that_surely_happens(tmp_path: Path, before: str, line: int) -> None:
    program = f"""
        import os
        import torch
        torch.manual_seed(0)
        found = os.path.exists("data")

        {before}
        torch.randn(3)
        """
    first = told(tmp_path, program)["generators"]["torch"]["first_draw"]
    assert first["line"] == line


def test_a_draw_that_may_happen_is_the_first_where_no_other_does(tmp_path: Path) -> None:
    program = """
        import os
        import torch
        torch.manual_seed(0)
        if os.path.exists("data"):
            torch.rand(2)
        """
    assert told(tmp_path, program)["generators"]["torch"]["first_draw"]["line"] == 5
