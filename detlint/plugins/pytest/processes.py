"""A test run again in separate processes, in which hashes of strings, and so the order of sets, differ."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from detlint.plugins.pytest.options import Options
from detlint.plugins.pytest.record import Record
from detlint.plugins.pytest.report import HEADLINE, advice, disagreement

_NODE, _REPORTS = "node.txt", "reports.json"
_SHOWN = 15  # lines of the output of a process that ended early


@dataclass(frozen=True)
class _Outcome:
    """The outcome of a run: a record if it ran to its end, and its reports as JSON."""

    record: Record | None
    reports: list[dict[str, Any]]


class Processes:
    """The runs of one test, each in a process that has run nothing before it."""

    def __init__(self, item: pytest.Item, nextitem: pytest.Item | None, options: Options) -> None:
        self._item = item
        self._nextitem = nextitem
        self._options = options
        self._ended: _Outcome | None = None  # a run that failed or was skipped

    def reports(self) -> list[pytest.TestReport]:
        """Return the reports of the first run that fails or is skipped, else those of the comparison."""
        item, config = self._item, self._item.config
        with pytest.MonkeyPatch.context() as patch:
            for name in ("setup", "teardown"):  # of the fixtures: the processes do that
                patch.setattr(item, name, lambda: None)
            patch.setattr(item, "runtest", self._compare)
            own = runtestprotocol(item, log=False, nextitem=self._nextitem)
        if self._ended is None:
            return own
        found = [
            config.hook.pytest_report_from_serializable(config=config, data=report) for report in self._ended.reports
        ]
        for report in found:
            if isinstance(report.longrepr, list):  # of a skipped test; JSON has no tuples
                report.longrepr = tuple(report.longrepr)
        return found + [report for report in own if report.when == "teardown" and report.failed]

    def _compare(self) -> None:
        seeds = self._options.hash_seeds
        names = [f"PYTHONHASHSEED={seed}" for seed in seeds]
        records: list[Record] = []
        for number, hash_seed in enumerate(seeds, 1):
            outcome = self._run(hash_seed)
            if outcome.record is None:
                self._ended = outcome
                text = f"{HEADLINE}: run {number} ({names[number - 1]}) did not end as run 1 ({names[0]}) did"
                for report in outcome.reports:
                    if number > 1 and report["outcome"] == "failed":
                        report["sections"].append(("detlint", text))
                return
            records.append(outcome.record)
            lines = disagreement(records, self._options.seed, names)
            if lines:
                further = [self._cause(records)] if hash_seed != seeds[0] else []
                pytest.fail("\n".join([*lines, *further, advice(self._item.config)]), pytrace=False)

    def _cause(self, records: list[Record]) -> str:
        """Run one more process, with the hash seed of the first one, and say whether hashes made the difference."""
        seed = self._options.hash_seeds[0]
        again = self._run(seed).record
        if again is not None and not disagreement([records[0], again], self._options.seed):
            return f"a further run with PYTHONHASHSEED={seed} equals run 1: look for sets of strings and hash()"
        return f"a further run with PYTHONHASHSEED={seed} differs from run 1, too: look for more than hashes"

    def _run(self, hash_seed: int) -> _Outcome:
        config = self._item.config
        with tempfile.TemporaryDirectory(prefix="detlint-") as name:
            folder = Path(name)
            node = f"{self._item.path}::{self._item.nodeid.partition('::')[2]}"
            (folder / _NODE).write_text(node, encoding="utf-8")
            # With "=", since pytest takes arguments that are folders into account when it looks for its settings.
            arguments = [f"--detlint-child={folder}", f"--basetemp={folder / 'temp'}"]
            arguments += [f"--override-ini=cache_dir={folder / 'cache'}"]
            arguments += ["-n0"] if config.pluginmanager.hasplugin("xdist") else []
            done = subprocess.run(
                [sys.executable, "-m", "pytest", *_arguments(config), *arguments],
                cwd=config.invocation_params.dir,
                env=dict(os.environ, PYTHONHASHSEED=str(hash_seed)),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                check=False,
            )
            if (folder / _REPORTS).exists():
                reports = json.loads((folder / _REPORTS).read_text(encoding="utf-8"))
                return _Outcome(Record.load(folder), reports)
        printed = "\n".join(done.stdout.splitlines()[-_SHOWN:])
        words = f"the process with PYTHONHASHSEED={hash_seed} ended without a result, with status {done.returncode}"
        pytest.fail(f"{words}, and last printed\n{printed}", pytrace=False)


class Child:
    """A plugin in a process that runs one test for another process of pytest."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._folder = Path(config.getoption("detlint_child"))
        config.args = [(self._folder / _NODE).read_text(encoding="utf-8")]  # not what the other process was given

    def finish(self, reports: list[pytest.TestReport], records: list[Record]) -> None:
        """Write the outcome of the test for the other process."""
        for record in records:  # one, or none if the test failed or was skipped
            record.save(self._folder)
        hook = self._config.hook
        data = [hook.pytest_report_to_serializable(config=self._config, report=report) for report in reports]
        (self._folder / _REPORTS).write_text(json.dumps(data, default=str), encoding="utf-8")


def child_of(config: pytest.Config) -> Child | None:
    """Return the plugin if this is such a process, else None."""
    found = config.pluginmanager.get_plugin("detlint-child")
    assert found is None or isinstance(found, Child)
    return found


def _arguments(config: pytest.Config) -> list[str]:
    """Return the arguments of pytest, also in a worker of pytest-xdist."""
    worker = getattr(config, "workerinput", {})
    return list(worker.get("detlint_arguments", config.invocation_params.args))
