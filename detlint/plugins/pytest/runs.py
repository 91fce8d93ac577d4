"""A test run again in its process: with new fixtures, its generators from one seed, and its records compared."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest
from _pytest.runner import runtestprotocol

from detlint.plugins.pytest.options import Options, seed_option
from detlint.plugins.pytest.record import IncomparableError, Record, generator_states
from detlint.plugins.pytest.report import HEADLINE, NOTHING, advice, disagreement, shared_fixtures
from detlint.plugins.pytest.seeding import Seeding, streams_kept
from detlint.runtime import seed_everything

_T = TypeVar("_T")
_RECORD = pytest.StashKey[Record]()


def protocol(item: pytest.Item, nextitem: pytest.Item | None, marker: pytest.Mark) -> None:
    """Run a marked test as its marker says, and report it once."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _reports(item, nextitem, marker):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def record_of(item: pytest.Item) -> Record:
    """Return the record of the current run of a test; raises RuntimeError if nothing would be compared."""
    __tracebackhide__ = True
    record = item.stash.get(_RECORD, None)
    if record is None:
        raise RuntimeError("nothing is compared in this test: mark it with @pytest.mark.reproducible")
    return record


def repeat(item: pytest.Item, function: Callable[[], _T], runs: int, seed: int | None) -> _T:
    """Run a function `runs` times from one seed; fail at the first difference, or return its last result."""
    __tracebackhide__ = True
    options = Options.of(pytest.mark.reproducible(runs=runs, seed=seed).mark, seed_option(item.config))
    records: list[Record] = []
    outer = item.stash.get(_RECORD, None)
    with streams_kept():
        try:
            for _ in range(options.runs):
                item.stash[_RECORD] = record = Record()
                result = _fill(record, options.seed, function)
                records.append(record)
                lines = disagreement(records, options.seed)
                if lines:
                    pytest.fail("\n".join([*lines, advice(item.config)]))
        finally:
            _put(item, outer)
    return result


class Runs:
    """The runs of one test in this process; a plugin for as long as they last."""

    def __init__(self, item: pytest.Item, nextitem: pytest.Item | None, options: Options) -> None:
        self.records: list[Record] = []  # of the runs that ran to their end
        self._item = item
        self._nextitem = nextitem
        self._seed = options.seed
        self._runs = 1 if options.hash_seeds else options.runs
        self._raised = False

    def reports(self) -> list[pytest.TestReport]:
        """Return the reports of the last run. A run that fails or is skipped is the last."""
        manager = self._item.config.pluginmanager
        plugins = [self] if manager.hasplugin("detlint-seeding") else [self, Seeding(self._seed)]
        for plugin in plugins:
            manager.register(plugin)
        try:
            with streams_kept():
                return self._last_reports()
        finally:
            for plugin in plugins:
                manager.unregister(plugin)
            _put(self._item, None)

    def _last_reports(self) -> list[pytest.TestReport]:
        item = self._item
        properties = len(item.user_properties)
        for run in range(1, self._runs + 1):
            item.stash[_RECORD] = Record()
            # What the test shares with others is kept for the next run, as if that were another test next to it.
            nextitem: Any = self._nextitem if run == self._runs else item.parent
            reports = runtestprotocol(item, log=False, nextitem=nextitem)
            if self._raised:
                break
            if run < self._runs:
                _renew(item)
                del item.user_properties[properties:]
        for report in reports if self._raised else []:  # else an expected failure did not happen in any run
            if run > 1 and report.failed and HEADLINE not in report.longreprtext:
                text = f"{HEADLINE}: run {run} fails, and what came before it passed, all from seed {self._seed}"
                report.sections.append(("detlint", text))
        return reports

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Put the comparison into the test's own code, so that it fails like a test: expectedly or not, with pdb."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(item, "runtest", functools.partial(self._runtest, item.runtest))
            return (yield)

    def _runtest(self, runtest: Callable[[], object]) -> None:
        record = record_of(self._item)

        def run() -> Any:
            with _returned(self._item) as values:
                runtest()
            return values[-1] if values else None

        _fill(record, self._seed, run)
        self.records.append(record)
        lines = disagreement(self.records, self._seed)
        if lines:
            further = [*shared_fixtures(self._item), advice(self._item.config)]
            pytest.fail("\n".join([*lines, *further]), pytrace=False)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        """Note what was raised: the outcome would not reveal an expected failure that passed."""
        result = yield
        self._raised = self._raised or call.excinfo is not None
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Tear down what the next test does not need, if this run has become the last one."""
        try:
            return (yield)
        except BaseException:
            self._raised = True
            raise
        finally:
            if self._raised:
                item.session._setupstate.teardown_exact(self._nextitem)


def _reports(item: pytest.Item, nextitem: pytest.Item | None, marker: pytest.Mark) -> list[pytest.TestReport]:
    options = _options(marker, item.config)
    if isinstance(options, str):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(item, "setup", functools.partial(pytest.fail, options, pytrace=False))
            return runtestprotocol(item, log=False, nextitem=nextitem)
    runs = Runs(item, nextitem, options)
    if not options.hash_seeds:
        return runs.reports()
    from detlint.plugins.pytest.processes import Processes, child_of

    child = child_of(item.config)
    if child is None:
        return Processes(item, nextitem, options).reports()
    reports = runs.reports()
    child.finish(reports, runs.records)
    return reports


def _options(marker: pytest.Mark, config: pytest.Config) -> Options | str:
    """Return what a marker asks for, or what is wrong with it."""
    try:
        return Options.of(marker, seed_option(config))
    except ValueError as error:
        return f"@pytest.mark.reproducible: {error}"


def _fill(record: Record, seed: int, function: Callable[[], _T]) -> _T:
    """Run a function from a seed, and complete the record that it fills."""
    seed_everything(seed)
    record.before = generator_states()
    result = function()
    record.after = generator_states()
    problem = None
    if result is not None:
        problem = _added(record, result)
    elif not record.values:
        problem = NOTHING
    if problem:
        pytest.fail(problem, pytrace=False)
    return result


def _added(record: Record, result: object) -> str | None:
    """Add what was returned to the record; return why it cannot be compared, or None."""
    try:
        record.add("result", result)
    except IncomparableError as error:
        return str(error)
    return None


@contextmanager
def _returned(item: pytest.Item) -> Iterator[list[Any]]:
    """Yield a list that gets the value that the test's function returns: pytest itself wants None."""
    values: list[Any] = []
    function: Any = getattr(item, "obj", None)
    if not isinstance(item, pytest.Function) or inspect.iscoroutinefunction(function):
        yield values
        return

    @functools.wraps(function)
    def keeping(*arguments: Any, **named: Any) -> None:
        values.append(function(*arguments, **named))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(item, "obj", keeping)
        yield values


def _renew(item: pytest.Item) -> None:
    """Discard what a run left in the item itself: its instance of the test's class, and what was captured."""
    if isinstance(item.parent, pytest.Class):
        for name in ("_instance", "_obj"):
            item.__dict__.pop(name, None)
    item._report_sections.clear()


def _put(item: pytest.Item, record: Record | None) -> None:
    if record is not None:
        item.stash[_RECORD] = record
    elif _RECORD in item.stash:
        del item.stash[_RECORD]
