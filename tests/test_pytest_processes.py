"""The pytest plugin where processes matter: runs in fresh ones, workers of pytest-xdist, how pytest finds it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
PLUGIN = ("-p", "detlint.plugins.pytest.plugin")
# Also for speed: each process would import torch to seed it.
NEITHER = "import sys\nsys.modules['torch'] = sys.modules['numpy'] = None\n"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder for tests, where neither torch nor NumPy can be imported, and other plugins take no time."""
    pytester.makeconftest(NEITHER)
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=":")
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
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


def test_pytest_finds_the_plugin_by_its_entry_point_and_it_imports_little(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the entry point that the project declares, in a process that knows no other detlint."""
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"][
        "pytest11"
    ]
    installed = project.mkdir("detlint-0.0.0.dist-info")
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: detlint\nVersion: 0.0.0\n")
    points = "".join(f"{name} = {module}\n" for name, module in declared.items())
    (installed / "entry_points.txt").write_text(f"[pytest11]\n{points}")
    project.makeconftest("")
    project.makepyfile(
        """
        import sys
        from pathlib import Path

        def test_loaded(request):
            roots = {name.partition(".")[0] for name in sys.modules}
            assert not roots & {"torch", "numpy", "libcst", "click", "rich"}
            names = {name for name in sys.modules if name.partition(".")[0] == "detlint"}
            own = {f"detlint.plugins.pytest.{name}" for name in ("plugin", "options")}
            assert names <= {"detlint", "detlint.plugins", "detlint.plugins.pytest", *own}
            assert bool(names) == request.config.pluginmanager.hasplugin("detlint")
            Path("loaded").write_text(str(bool(names)))
        """
    )
    for switch in ((), ("-p", "no:detlint")):
        project.run(sys.executable, "-m", "pytest", *switch).assert_outcomes(passed=1)
        assert (project.path / "loaded").read_text() == str(not switch)


def test_workers_of_xdist_run_marked_tests_and_their_processes(project: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    project.makepyfile(
        """
        import os
        import pytest

        @pytest.mark.reproducible
        def test_here(worker_id):
            assert worker_id == "gw0"
            return 1

        @pytest.mark.reproducible(processes=True)
        def test_there(request, worker_id):
            assert worker_id == "master"
            assert request.config.getoption("verbose") == 1
            return os.environ["PYTHONHASHSEED"]
        """
    )
    result = project.runpytest_subprocess(*PLUGIN, "-p", "xdist", "-n1", "-v")
    result.assert_outcomes(passed=1, failed=1)
    assert "not reproducible: result differs between run 1 and run 2, both from seed 0" in result.stdout.str()
