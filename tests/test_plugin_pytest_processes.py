"""The pytest plugin where processes matter: runs in fresh ones, workers of pytest-xdist, how pytest finds it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.test_plugin_pytest import PLUGIN

ROOT = Path(__file__).parent.parent
# Also for speed: each process would import torch to seed it.
NEITHER = "import sys\nsys.modules['torch'] = sys.modules['numpy'] = None\n"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder for tests, where neither torch nor NumPy can be imported."""
    pytester.makeconftest(NEITHER)
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=":")
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    return pytester


def test_the_order_of_sets_shows_in_fresh_processes(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import random
        import pytest

        @pytest.mark.reproducible(processes=True)
        def test_ordered():
            return sorted({"red", "green", "blue"}), random.random()

        @pytest.mark.reproducible(processes=True, hash_seeds=(1, 2))
        def test_unordered(tmp_path, capsys):
            return list({"red", "green", "blue", "white"})
        """
    )
    result = project.runpytest_inprocess(*PLUGIN)
    result.assert_outcomes(passed=1, failed=1)
    text = result.stdout.str()
    assert "not reproducible: result[" in text
    assert "    run 1 (PYTHONHASHSEED=1)  " in text
    assert "    run 2 (PYTHONHASHSEED=2)  " in text
    assert "a further run with PYTHONHASHSEED=1 equals run 1: look for sets of strings and hash()" in text
    assert "neither run drew from a global generator" in text


def test_what_fails_crashes_or_is_skipped_in_a_process_is_reported_here(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import os
        import pytest

        pytestmark = pytest.mark.reproducible(processes=True)

        @pytest.fixture(scope="module")
        def of_module():
            assert "PYTHONHASHSEED" in os.environ, "set up in a process of its own only"

        def test_skipped():
            pytest.skip("not here")

        def test_fails_in_one(of_module, pytestconfig):
            assert os.environ["PYTHONHASHSEED"] == "0"
            assert str(pytestconfig.rootpath) == os.getcwd()
            return 1

        def test_ends():
            print("last words")
            os._exit(3)
        """
    )
    result = project.runpytest_inprocess(*PLUGIN, "-rs", "--capture=sys", "--basetemp=kept")
    result.assert_outcomes(failed=2, skipped=1)
    text = result.stdout.str()
    assert "not here" in text
    assert "AssertionError: assert '1' == '0'" in text
    assert "not reproducible: run 2 (PYTHONHASHSEED=1) did not end as run 1 (PYTHONHASHSEED=0) did" in text
    assert "the process with PYTHONHASHSEED=0 ended without a result, with status 3, and last printed" in text
