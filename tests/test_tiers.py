"""A test that takes long and is not marked slow fails, and says so."""

from __future__ import annotations

import re

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


def test_what_takes_long_fails_unless_it_is_marked(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "MOST", 0.05)
    pytester.makeini("[pytest]\nmarkers = slow")
    pytester.makepyfile(BUSY)
    done = pytester.runpytest_inprocess("-p", "tests.tiers", "-p", "no:cacheprovider")
    done.assert_outcomes(passed=3, failed=4)
    failed = re.findall(
        r"^_+ (\w+) _+\ntook 0\.\d s of CPU, over 0\.05 s: make it faster, or mark it slow$", str(done.stdout), re.M
    )
    assert failed == ["test_itself", "test_fixture", "test_process"]
    assert "assert not 'what is wrong'" in str(done.stdout)


def test_searches_for_garbage_are_not_counted(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "MOST", 0.05)
    pytester.makepyfile("""
        import gc, time

        def test_collecting():
            begun = time.process_time()
            while time.process_time() < begun + 0.1:
                gc.collect()
    """)
    pytester.runpytest_inprocess("-p", "tests.tiers", "-p", "no:cacheprovider").assert_outcomes(passed=1)
