"""Programs of tests/bisect/lines made to repeat: those for which a fix is right do, the others are left as they are.

In each of those that differ the line that makes the difference is named, and why.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

from detlint.bisect.running.warm import Origins
from tests import ending
from tests.test_bisect_lines import BEHIND, Program, programs
from tests.tools.repeating import made

pytestmark = pytest.mark.slow

LEFT = {  # by what is computed with, or has to be mended by hand
    "the time": (
        "clock: Training with a decayed rate from the clock",
        "clock: Name in a dict",
        "time: Top level",
        "time: Function",
        "time: Another file",
        "time: Worker",
        "time: Class that holds state",
    ),
    "randomness of the system": (
        "entropy: Uuid as a salt",
        "entropy: System random",
        "entropy: Token",
        "generator: Class that holds state",
    ),
    "the environment": (
        "environment: Top level",
        "environment: Function",
        "environment: Another file",
        "environment: Worker",
        "environment: Class that holds state",
    ),
    "a number of a process": (
        "process: Top level",
        "process: Function",
        "process: Worker",
        "process: Class that holds state",
    ),
    "another program": ("outside: A command",),
    "what threads write to": (
        "tasks: Callback",
        "tasks: Dict filled by threads",
        "thread: Top level",
        "thread: Worker",
        "thread: Class that holds state",
    ),
    "items that cannot be sorted, or are taken out one by one": (
        "set-order: Class that holds state",
        "unordered: Objects by address",
    ),
}
NAMES = {name for names in LEFT.values() for name in names}
PLACES = ("Top level", "Function", "Another file", "Worker", "Class that holds state")


def chosen() -> Iterator[Program]:
    """All programs, but of each cause that stands in all places one: every place comes with two causes.

    `tests.tools.repeating` measures all.
    """
    causes: list[str] = []
    for program in programs():
        cause, _, place = program.name.partition(": ")
        if place in PLACES and cause not in causes:
            causes.append(cause)
        if place not in PLACES or (PLACES.index(place) - causes.index(cause)) % len(PLACES) == 0:
            yield program


PROGRAMS = [pytest.param(one, id=one.name) for one in chosen()]


@pytest.fixture(scope="module")
def origins() -> Iterator[Origins]:
    with ending.origins() as found:
        yield found


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_repeats_unless_no_fix_is_right(program: Program, tmp_path: Path, origins: Origins) -> None:
    result = made(program, tmp_path.resolve(), origins)
    differs = bool(program.planted) and program.name not in BEHIND
    if differs and result.remains is None and not result.changes:  # a clock or hashes may happen to be the same
        (again := tmp_path / "again").mkdir()
        with ending.origins() as others:  # processes hash strings as those do from which they are forked
            result = made(program, again.resolve(), others)
    if program.name in NAMES:
        assert result.changes == ()
        named = result.remains
    else:
        assert result.verdict == "repeats", result.remains
        named = result.changes[0].cause if result.changes else None
    assert (named is not None) == differs
    if named is not None:
        assert str(named.line) in program.planted, named
        assert {named.why, named.kind} & set(program.why), named.title


def test_what_is_left_is_among_the_programs() -> None:
    assert {program.name for program in programs()} >= NAMES | BEHIND
