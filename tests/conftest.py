"""What holds for all tests, and the editor that some of them share."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.support import report

if TYPE_CHECKING:
    from tests.editor import Editor

pytest_plugins = ["tests.tiers"]
settings.register_profile("few", derandomize=True, deadline=None, database=None, max_examples=25)
settings.register_profile("long", deadline=None, database=None, max_examples=5000)
settings.load_profile("few")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell starts so what runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ["DETLINT_NO_CACHE"] = "1"  # of a run that is to have a cache, its test takes this away


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Thousands of tests are made and none is dropped: nothing is looked for among them, now or later.

    What an analysis and torch import and read is there before the first test, whose time it would be.
    """
    gc.disable()
    try:
        found = yield
        report({"train.py": "import torch\n\nprint(torch.rand(2))\n"})
        if any("torch" in getattr(item, "fixturenames", ()) for item in session.items):
            pytest.importorskip("torch")
        if "torch" in sys.modules:  # its first switch or view imports this
            import_module("torch._dynamo")
        return found
    finally:
        gc.freeze()  # to and fro, all that there is counts as old
        gc.unfreeze()
        gc.enable()


@pytest.fixture(scope="session")
def torch() -> ModuleType:
    """Give torch to a test of a module that does without it otherwise."""
    found: ModuleType = pytest.importorskip("torch")
    return found


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
