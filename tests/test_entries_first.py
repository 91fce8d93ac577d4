"""`detlint entries`: which of several draws is told of as the first in a program that is seeded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import told


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("if found: print(next(iter(loader)))", 7),  # that may not happen
        ("print(next(iter(loader)))", 6),
        ("if found: print(torch.randperm(2))", 6),  # of another kind
        ("if found: print(torch.nn.Linear(2, 2))", 6),
    ],
)
def test_a_pass_that_surely_happens_is_first_of_those_of_a_loader(tmp_path: Path, before: str, line: int) -> None:
    program = f"""
        import os
        import torch
        torch.manual_seed(0)
        found = os.path.exists("data")
        loader = torch.utils.data.DataLoader([1, 2], shuffle=True)
        {before}
        for batch in loader:
            print(batch)
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
