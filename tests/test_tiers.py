"""A test that takes long and is not marked slow fails, and says so."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests import tiers

BUSY = """
import gc
import subprocess
import sys
import time

import pytest

WORK = "import time; any(time.process_time() > 0.2 for _ in iter(int, 1))"

def work():
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass

@pytest.fixture
def made():
    work()

def test_itself():
    work()

def test_fixture(made):
    pass

def test_process():
    subprocess.run([sys.executable, "-c", WORK], check=True)

def test_sleep():
    time.sleep(0.1)

@pytest.mark.slow
def test_marked():
    work()

def test_failing():
    work()
    assert not "what is wrong"

def test_quick():
    pass
"""


@pytest.fixture
def tried(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], pytest.RunResult]:
    """Runs tests of which each may take little; their own test may take what it takes."""

    def run(tests: str) -> pytest.RunResult:
        pytester.makeini("[pytest]\nmarkers = slow")
        pytester.makepyfile(tests)
        with monkeypatch.context() as patch:
            patch.setattr(tiers, "MOST", 0.05)
            return pytester.runpytest_inprocess("-p", "tests.tiers", "-p", "no:cacheprovider")

    return run


def test_what_takes_long_fails_unless_it_is_marked(tried: Callable[[str], pytest.RunResult]) -> None:
    done = tried(BUSY)
    done.assert_outcomes(passed=3, failed=4)
    line = r"^_+ (\w+) _+\ntook 0\.\d s of CPU, over 0\.05 s: make it faster, or mark it slow$"
    assert re.findall(line, str(done.stdout), re.MULTILINE) == ["test_itself", "test_fixture", "test_process"]


@pytest.mark.slow
def test_searches_for_garbage_are_not_counted(tried: Callable[[str], pytest.RunResult]) -> None:
    searches = "import gc\nimport time\n\ndef test():\n    end = time.process_time() + 0.1\n"
    tried(f"{searches}    while time.process_time() < end:\n        gc.collect()\n").assert_outcomes(passed=1)
