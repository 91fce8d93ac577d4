"""The message on a test that differs between runs: its first line says what differs, its last what to do."""

from __future__ import annotations

import os

import pytest

from detlint.plugins.pytest.difference import first_difference
from detlint.plugins.pytest.record import Record

HEADLINE = "not reproducible"
NOTHING = "nothing to compare: let the test return a value, or record one with the fixture `reproducible`"


def disagreement(records: list[Record], seed: int, names: list[str] | None = None) -> list[str]:
    """Return lines that say how the last record differs from the first; empty if every bit is the same.

    An equal last record is replaced by the first, so that it is held once. `names` describe each run beyond its number.
    """
    one, other = records[0], records[-1]
    found = first_difference(one, other)
    if found is None:  # also if there is one record so far
        records[-1] = one
        return []
    run = len(records)
    labels = [f"run {number}{f' ({names[number - 1]})' if names else ''}" for number in (1, run)]
    lines = [f"{HEADLINE}: {found.path} differs between run 1 and run {run}, both from seed {seed}"]
    width = max(map(len, labels))
    lines += [f"    {label:<{width}}  {text}" for label, text in zip(labels, (found.one, found.other), strict=True)]
    lines += [f"    {found.extent}"] if found.extent else []
    if len(one.values) != len(other.values):
        lines.append(f"run 1 recorded {_count(one)}, run {run} {len(other.values)}")
    if found.others:
        more = len(found.others) - 3
        lines.append(f"also different: {', '.join(found.others[:3])}{f' and {more} more' if more > 0 else ''}")
    return [*lines, _generators(one, other, run)]


def shared_fixtures(item: pytest.Item) -> list[str]:
    """Return a line that names the fixtures that all runs in one process share, so that they are not fresh."""
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    wider = {name: found[-1] for name, found in known.items() if found and found[-1].scope != "function"}
    named = [
        f"`{name}` ({one.scope})"
        for name, one in wider.items()
        if not name.startswith("_") and not str(one.func.__module__).startswith("_pytest.")
    ]
    return [f"shared by the runs, so not fresh: {', '.join(named)}"] if named else []


def advice(config: pytest.Config) -> str:
    """Return the line that says what to do."""
    project = os.path.relpath(config.rootpath, config.invocation_params.dir)
    return f"try: detlint {project}  (names the lines of the project that make runs differ)"


def _generators(one: Record, other: Record, run: int) -> str:
    """Return what the global generators have to do with the difference."""
    apart = [name for name in one.after | other.after if one.after.get(name) != other.after.get(name)]
    if apart:
        return f"run {run} drew from {_listed(apart)} otherwise than run 1, which began in the same state"
    drawn = [name for name, state in one.after.items() if one.before.get(name) != state]
    if drawn:
        return f"both runs drew alike from {_listed(drawn)}, by the states that they left: look elsewhere"
    return "neither run drew from a global generator"


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _count(record: Record) -> str:
    return f"{len(record.values)} value{'s' * (len(record.values) != 1)}"
