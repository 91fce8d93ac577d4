"""`detlint entries`: files that are called like tests, which are programs where no runner finds tests in them."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from detlint import catalogue, engine
from detlint.config import Config

DRAW = "import torch\nprint(torch.rand(3))\n"
PROGRAMS = {
    "acts": "",
    "evaluates": "def test(model): ...\ntest(None)",
    "evaluates in a loop": "def test(): ...\nfor epoch in range(3):\n    test()",
    "gives a function what it tests": "def test_model(model): ...\ndef main(): test_model(None)\nmain()",
    "a module with a step": "class TestNet(torch.nn.Module):\n    def forward(self, x): ...",
    "a model that is tested": "class Model(torch.nn.Module):\n    def test_step(self, batch): ...",
    "a data set": "from torch.utils.data import Dataset\nclass TestSet(Dataset):\n    def __len__(self): ...",
    "a function of another": "def run():\n    def test_it(): ...",
}
TESTS = {
    "a test": "def test_it(): ...",
    "an asynchronous test": "async def test_it(): ...",
    "a test of a condition": "if torch.cuda.is_available():\n    def test_it(): ...",
    "one that is tried": "def test_it(): ...\ntest_it()",
    "a class": "class TestIt:\n    def test_it(self): ...",
    "a test case": "from absl.testing import parameterized\nclass Its(parameterized.TestCase):\n    def test_it(self): ...",
    "a base of tests": "from base import ItsTestBase\nclass Its(ItsTestBase):\n    def test_it(self): ...",
    "tests from a base": "from base import CommonTests\nclass TestIt(CommonTests): ...",
    "pytest": "import pytest\n@pytest.fixture\ndef model(): ...",
    "a part of unittest": "from unittest import mock",
    "load_tests": "import unittest.util\ndef load_tests(*given): ...",
}


def entries(tmp_path: Path, name: str, text: str) -> list[tuple[str, str]]:
    (tmp_path / name).write_text(DRAW + textwrap.dedent(text) + "\n")
    release = catalogue.load().newest_release()
    found = engine.entries_of([tmp_path], Config(root=tmp_path), release, jobs=1).entries
    return [(entry.kind, Path(entry.path).name) for entry in found]


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_a_file_without_tests_is_a_program_whatever_its_name(tmp_path: Path, text: str) -> None:
    assert entries(tmp_path, "adding_test.py", text) == [("script", "adding_test.py")]


@pytest.mark.parametrize("text", TESTS.values(), ids=TESTS)
def test_a_file_of_tests_is_none(tmp_path: Path, text: str) -> None:
    assert entries(tmp_path, "test_adding.py", text) == []
    (tmp_path / "test_adding.py").unlink()
    assert entries(tmp_path, "adding.py", text) == [("script", "adding.py")], "a runner does not look there"


def test_the_configuration_of_tests_is_none(tmp_path: Path) -> None:
    assert entries(tmp_path, "conftest.py", "") == []
    assert entries(tmp_path, "test_adding.py", "") == [("script", "test_adding.py")]


def test_a_main_block_is_one_beside_tests(tmp_path: Path) -> None:
    text = "def test_it(): ...\nif __name__ == '__main__':\n    test_it()"
    assert entries(tmp_path, "test_adding.py", text) == [("main", "test_adding.py")]
