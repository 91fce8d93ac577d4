"""Parallel work as people write it: where the order of completion must be reported, and where it must not."""

from __future__ import annotations

import pytest

from .support import report


@pytest.mark.parametrize(
    ("last", "severity"),
    [
        ("return rows", "note"),
        ("return np.stack(rows)", "warning"),
        ("json.dump(rows, open('rows.json', 'w'))", "warning"),
    ],
)
def test_a_list_that_is_only_returned_is_a_note(last: str, severity: str) -> None:
    text = f"""\
        import json

        import numpy as np


        def run(pool, work, items):
            rows = list(pool.imap_unordered(work, items))
            {last}
        """
    (found,) = report({"example.py": text}, ("DET603",)).findings
    assert found.severity.value == severity


@pytest.mark.parametrize(
    ("tasks", "fixed"),
    [
        ("[pool.submit(work, item) for item in items]", True),
        ("{pool.submit(work, item): item for item in items}", True),
        ("{pool.submit(work, item) for item in items}", False),
        ("items", False),
    ],
    ids=["a list", "a dict", "a set", "not known"],
)
def test_futures_are_gone_through_in_turn_where_they_have_an_order(tasks: str, fixed: bool) -> None:
    text = f"""\
        from concurrent.futures import as_completed

        import numpy as np


        def run(pool, work, items):
            futures = {tasks}
            return np.stack([future.result() for future in as_completed(futures)])
        """
    (found,) = report({"example.py": text}, ("DET603",)).findings
    assert (found.finding.fix is not None) is fixed


@pytest.mark.parametrize(
    ("statement", "fixed"),
    [
        ("if len(rows) == enough: break", False),
        ("del futures[future]", False),
        ("name = futures.pop(future)", False),
        ("print(len(rows), len(futures), futures[future])", True),
    ],
)
def test_a_loop_that_ends_early_or_changes_its_tasks_is_left_as_it_is(statement: str, fixed: bool) -> None:
    text = f"""\
        from concurrent.futures import as_completed

        import numpy as np


        def run(pool, work, items, enough):
            futures = {{pool.submit(work, item): item for item in items}}
            rows = []
            for future in as_completed(futures):
                rows.append(future.result())
                {statement}
            return np.stack(rows)
        """
    (found,) = report({"example.py": text}, ("DET603",)).findings
    assert (found.finding.fix is not None) is fixed
