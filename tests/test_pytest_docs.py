"""The examples of docs/pytest.md do what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import PYTEST_PLUGIN
from tests.test_pytest_plugin import failure

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "pytest.md").read_text(encoding="utf-8")
FENCE = re.compile(
    r'^```(?P<kind>py title="(?P<title>[^"\n]+)"|text|toml|)\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL
)
# The processes of the one test that has some need no torch, which takes long to import.
CONFTEST = "import sys\nif any('--detlint-child' in word for word in sys.argv):\n    sys.modules['torch'] = None\n"


def unordered(line: str) -> list[str]:
    """The words of a line without what another run or release changes: digits of floats, their distance, the order."""
    line = re.sub(r"-?\d+\.\d+(e-\d+)?", "0.5", line)
    return sorted(re.sub(r"(more than )?\d+ ULP", "9 ULP", line).split())


def test_the_examples_are_run_and_the_failures_are_those_shown(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=":")
    pytester.makeconftest(CONFTEST)
    shown: dict[str, list[str]] = {}
    name = ""
    for fence in FENCE.finditer(TEXT):
        if fence["title"]:
            (pytester.path / fence["title"]).write_text(fence["text"], encoding="utf-8")
            (name,) = re.findall(r"^def (test_\w+)", fence["text"], re.MULTILINE)
        elif fence["kind"] == "text":
            shown[name] = fence["text"].splitlines()
        elif fence["kind"] == "toml":
            (pytester.path / "pyproject.toml").write_text(fence["text"], encoding="utf-8")
    result = pytester.runpytest_inprocess(*PYTEST_PLUGIN)
    result.assert_outcomes(failed=len(shown), passed=1)
    assert "detlint: seed 0 before each test" in result.outlines
    for name, lines in shown.items():
        for wanted, line in zip(lines, failure(result, name), strict=False):
            assert unordered(line) == unordered(wanted)


def test_the_commands_have_the_options_that_are_shown(pytester: pytest.Pytester) -> None:
    commands = [fence["text"].split() for fence in FENCE.finditer(TEXT) if fence["kind"] == ""]
    assert commands
    for name, *arguments in commands:
        assert name == "pytest"
        assert pytester.runpytest_inprocess(*PYTEST_PLUGIN, *arguments).ret == pytest.ExitCode.NO_TESTS_COLLECTED
