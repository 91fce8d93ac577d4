"""The two tiers of tests: what is not marked slow takes a second of CPU, and fails where it takes three."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Generator

import pytest

MOST = 3.0  # seconds of CPU of a test that is not marked slow, with its fixtures; other machines may be slow
_BEFORE = pytest.StashKey[float]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    """Note what has been spent before a test."""
    item.stash[_BEFORE] = _spent()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test of the fast tier that takes too long, by the CPU that it and its fixtures took."""
    report = yield
    spent = _spent() - item.stash[_BEFORE]
    if report.when == "call" and report.passed and spent > MOST and not item.get_closest_marker("slow"):
        report.outcome = "failed"
        report.longrepr = f"took {spent:.1f} s of CPU, over {MOST:g} s: make it faster, or mark it slow"
    return report


def _spent() -> float:
    """Return the seconds of CPU that this process and those that it started and waited for have taken.

    Searches for garbage are left out: whichever test one falls into, it goes through what all tests have made.
    """
    return sum(os.times()[:4]) - _collecting.seconds


class _Collecting:
    """The CPU that searches for garbage have taken."""

    seconds = 0.0
    _begun = 0.0

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        """Count one, as a callback of `gc`."""
        if phase == "start":
            self._begun = time.process_time()
        else:
            self.seconds += time.process_time() - self._begun


_collecting = _Collecting()
gc.callbacks.append(_collecting)
