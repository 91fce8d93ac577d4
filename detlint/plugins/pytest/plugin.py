"""The pytest plugin: tests that are run twice and compared bit for bit, and a seed before each test.

pytest loads this module in each of its runs, so it imports nothing but `options`: what a marked test or a seed needs is
imported when there is one.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from detlint.plugins.pytest.options import seed_option

_T = TypeVar("_T")
_MARKER = """\
reproducible(runs=2, seed=None, processes=False, hash_seeds=None): run the test so often from one seed, and compare \
bit for bit what it returns and records; with processes=True in fresh processes that differ in PYTHONHASHSEED"""
_SEED_HELP = "seed random, NumPy and torch with N before each test, and before each of its fixtures"


class Reproducible:
    """The fixture `reproducible`: it records values of a test that is run again, or runs a function again."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item

    def record(self, name: str, value: Any) -> None:
        """Record a value for comparison with the other runs: its bits as they are now, by name and order.

        A name may come again, in a loop for instance. Raises TypeError for a value without bits to compare, and
        RuntimeError in a test that is not marked, where nothing would be compared.
        """
        from detlint.plugins.pytest.record import IncomparableError
        from detlint.plugins.pytest.runs import record_of

        __tracebackhide__ = True
        try:
            record_of(self._item).add(name, value)
        except IncomparableError as error:
            raise error.with_traceback(None) from None

    def __call__(self, function: Callable[[], _T], *, runs: int = 2, seed: int | None = None) -> _T:
        """Run a function `runs` times from the same seed; return its last result if all results are equal bit for bit.

        What the function records counts too. The test fails at the first difference. The test itself need not be
        marked. `seed` is by default that of `--detlint-seed`, or 0; afterwards the global generators are as they were.
        """
        from detlint.plugins.pytest.runs import repeat

        __tracebackhide__ = True
        return repeat(self._item, function, runs, seed)


@pytest.fixture
def reproducible(request: pytest.FixtureRequest) -> Reproducible:
    """`reproducible.record("loss", loss)` in a test marked `reproducible`; `reproducible(function)` in any."""
    return Reproducible(request.node)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option and the setting for the seed, and the option for a run in a fresh process."""
    group = parser.getgroup("detlint", "reproducible tests (detlint)")
    group.addoption("--detlint-seed", metavar="N", help=_SEED_HELP)
    group.addoption("--detlint-child", help=argparse.SUPPRESS)
    parser.addini("detlint_seed", f"{_SEED_HELP}; --detlint-seed goes before", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker; if asked to, seed all tests, or run one test in a process of its own."""
    config.addinivalue_line("markers", _MARKER)
    if seed_option(config) is not None:
        from detlint.plugins.pytest.seeding import Seeding

        config.pluginmanager.register(Seeding(seed_option(config) or 0), "detlint-seeding")
    if config.getoption("detlint_child"):
        from detlint.plugins.pytest.processes import Child

        config.pluginmanager.register(Child(config), "detlint-child")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Return a line with the seed, or None."""
    seed = seed_option(config)
    return None if seed is None else f"detlint: seed {seed} before each test"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a marked test several times."""
    marker = item.get_closest_marker("reproducible")
    if marker is None:
        return None
    from detlint.plugins.pytest.runs import protocol

    protocol(item, nextitem, marker)
    return True


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Pass the arguments of pytest to a worker of pytest-xdist."""
    node.workerinput["detlint_arguments"] = list(node.config.invocation_params.args)
