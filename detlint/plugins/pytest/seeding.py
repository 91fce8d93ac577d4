"""Seeds for the global generators of tests and their fixtures."""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from detlint.runtime import rng_state, seed_everything, set_rng_state


class Seeding:
    """A plugin that seeds before each test's own code and before each fixture is set up.

    A fixture's seed is derived from its name. So it draws the same values whichever fixtures have been set up before
    it: those of a wider scope exist already when a test is run again, or when it is not the first of its module.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._in_test = False

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
        """Seed for a fixture; one that the running test asks for leaves the test's own streams alone."""
        seed = zlib.crc32(f"{self._seed} {fixturedef.argname}".encode())
        if not self._in_test:
            seed_everything(seed)
            return (yield)
        with streams_kept():
            seed_everything(seed)
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Seed right before the test's own code, also after all plugins that seed at this stage."""
        runtest = item.runtest

        def seeded() -> None:
            seed_everything(self._seed)
            self._in_test = True
            try:
                runtest()
            finally:
                self._in_test = False

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(item, "runtest", seeded)
            return (yield)


@contextmanager
def streams_kept() -> Iterator[None]:
    """Restore the global generators at the end of the `with`."""
    state = rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
