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


@pytest.mark.parametrize(
    ("call", "severity"),
    [
        ("study.optimize(objective, n_trials=9, n_jobs=2)", "warning"),
        ("study.optimize(objective, n_trials=9, n_jobs=1)", None),
        ("study.optimize(objective, n_trials=9, n_jobs=jobs)", None),
        ("study.optimize(objective, n_trials=9, timeout=60)", None),
        ("study.optimize(objective, 9, timeout=60)", None),
        ("study.optimize(objective, timeout=60)", "note"),
        ("study.optimize(objective, timeout=60, n_jobs=2)", "warning"),
        ("other.optimize(objective, n_trials=9, n_jobs=2)", None),
    ],
)
def test_a_study_goes_by_its_threads_and_by_the_clock(call: str, severity: str | None) -> None:
    text = f"""\
        import optuna


        def tune(objective, other, jobs):
            study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
            {call}
            return study.best_params
        """
    found = report({"example.py": text}, ("DET603",)).findings
    assert [each.severity.value for each in found] == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("points", "found"),
    [
        ("points", 0),
        ("points, np.arange(count)", 1),
        ("[points]", 0),
        ("[points, points]", 1),
        ("np.asarray(points)", 0),
        ("measured", 1),
        ("measured, num_threads=1", 0),
        ("measured, None, 1", 0),
    ],
)
def test_points_are_added_in_an_order_where_they_are_many(points: str, found: int) -> None:
    text = f"""\
        import hnswlib
        import numpy as np


        def build(points, measured, count):
            index = hnswlib.Index(space="l2", dim=measured.shape[1])
            index.init_index(max_elements=len(measured))
            index.add_items({points})
            return index
        """
    assert len(report({"example.py": text}, ("DET603",)).findings) == found
