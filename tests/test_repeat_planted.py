"""The programs of tests/bisect/lines made to repeat: those for which a fix is right do, the others are left as they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

from detlint.bisect.warm import Origins
from tests.test_bisect_lines import Program, programs
from tests.tools.repeating import made

pytestmark = pytest.mark.slow

LEFT = {
    "clock: Training with a decayed rate from the clock": "the time is computed with",
    "clock: Name in a dict": "the time is computed with",
}
PROGRAMS = [pytest.param(one, id=one.name) for one in programs()]


@pytest.fixture(scope="module")
def origins() -> Iterator[Origins]:
    with Origins() as found:
        yield found


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_repeats_unless_no_fix_is_right(program: Program, tmp_path: Path, origins: Origins) -> None:
    result = made(program, tmp_path.resolve(), origins)
    if program.name in LEFT:
        assert result.remains is not None and str(result.remains.line) in program.planted
        assert result.changes == ()
    else:
        assert result.verdict == "repeats", result.remains
        assert bool(result.changes) <= bool(program.planted)


def test_what_is_left_is_among_the_programs() -> None:
    assert LEFT.keys() <= {program.name for program in programs()}
