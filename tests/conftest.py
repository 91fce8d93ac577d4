"""What holds for all tests, and the editor that some of them share."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.support import report

if TYPE_CHECKING:
    from tests.editor import Editor

settings.register_profile("few", derandomize=True, deadline=None, database=None, max_examples=25)
settings.register_profile("long", deadline=None, database=None, max_examples=5000)
settings.load_profile("few")
_MOST = 1.0  # seconds of CPU that a test may take that is not marked slow
_BEFORE = pytest.StashKey[float]()
os.environ["DETLINT_NO_CACHE"] = "1"  # of a run that is to have a cache, its test takes this away


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of tests are made and none is dropped: nothing is looked for among them, now or later.

    What an analysis imports and reads is there before the first test, whose time it would be.
    """
    gc.disable()
    try:
        found = yield
        report({"train.py": "import torch\n\nprint(torch.rand(2))\n"})
        return found
    finally:
        gc.freeze()  # to and fro, all that there is counts as old
        gc.unfreeze()
        gc.enable()


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
    if report.when == "call" and report.passed and spent > _MOST and not item.get_closest_marker("slow"):
        report.outcome = "failed"
        report.longrepr = f"took {spent:.1f} s of CPU, over {_MOST:.0f} s: make it faster, or mark it slow"
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


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the editor has open."""
    return tmp_path_factory.mktemp("workspace")


@pytest.fixture(scope="session")
def server(workspace: Path) -> Iterator[Editor]:
    """An editor with `detlint server`, which ends well and has nothing to log."""
    from tests.editor import Editor

    editor = Editor([workspace])
    yield editor
    assert editor.quit() == 0
    assert editor.log == b""


@pytest.fixture
def editor(server: Editor) -> Iterator[Editor]:
    """That editor, with nothing open."""
    yield server
    server.close_all()


@pytest.fixture
def project(workspace: Path) -> Path:
    """A project of its own in the editor's folder."""
    made = workspace / f"project {len(list(workspace.iterdir()))}"
    made.mkdir()
    (made / "pyproject.toml").touch()
    return made
