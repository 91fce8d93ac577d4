"""Training programs as people write them: two runs differ, and once detlint has fixed them two runs are equal."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from detlint.cli import cli

from .repeating import FILLS, Program, Server, lists_by_age, programs, run

MEMORY = Path("/dev/shm")
VARYING = [pytest.param(each, id=each.name) for each in programs() if not each.repeats]
CONTROLS = [pytest.param(each, id=each.name) for each in programs() if each.repeats]


@pytest.fixture
def place(program: Program, tmp_path: Path) -> Iterator[Path]:
    """A folder to run the program in: where the order of listings matters to it, on a file system where it varies."""
    if not program.listing or lists_by_age(tmp_path):
        yield tmp_path
    elif MEMORY.is_dir() and lists_by_age(MEMORY):
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            yield Path(folder)
    else:
        pytest.skip("no file system here lists files in an order that depends on when they were made")


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Server, Server]]:
    """Where to run programs as they are, which need not wait for torch to be imported."""
    both = Server(FILLS[0]), Server(FILLS[1])
    yield both
    for server in both:
        server.stop()


@pytest.mark.parametrize("program", VARYING)
def test_two_runs_differ(program: Program, tmp_path: Path, place: Path, servers: tuple[Server, Server]) -> None:
    scripts = program.write(tmp_path / "scripts")
    first, second = run(program, (scripts, scripts), place, servers)
    assert first != second


@pytest.mark.parametrize("program", VARYING)
def test_two_runs_are_equal_after_the_fixes(
    program: Program, tmp_path: Path, place: Path, servers: tuple[Server, Server]
) -> None:
    scripts = program.write(tmp_path / "scripts")
    fix(scripts, program.unsafe)
    fixed = contents(scripts)
    first, second = run(program, (scripts, scripts), place, (servers[0], None))
    assert differing(first, second) == []
    fix(scripts, program.unsafe)
    assert contents(scripts) == fixed


@pytest.mark.parametrize("program", CONTROLS)
def test_a_control_repeats_as_it_is(
    program: Program, tmp_path: Path, place: Path, servers: tuple[Server, Server]
) -> None:
    scripts = program.write(tmp_path / "scripts")
    first, second = run(program, (scripts, scripts), place, servers)
    assert differing(first, second) == []


@pytest.mark.parametrize("program", CONTROLS)
def test_the_fixes_change_no_result_of_a_control(
    program: Program, tmp_path: Path, place: Path, servers: tuple[Server, Server]
) -> None:
    scripts = program.write(tmp_path / "scripts")
    fixed = program.write(tmp_path / "fixed")
    fix(fixed, unsafe=False)
    before, after = run(program, (scripts, fixed), place, (servers[0], None))
    assert differing(before, after) == []


def fix(folder: Path, unsafe: bool) -> None:
    """Lets detlint fix the files of a folder; findings that remain are no error."""
    options = ["--fix", "--jobs", "1", *(["--unsafe-fixes"] if unsafe else [])]
    done = CliRunner().invoke(cli, [*options, str(folder)])
    assert done.exit_code in (0, 1), done.output


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def differing(first: dict[str, bytes], second: dict[str, bytes]) -> list[str]:
    """The paths within the results where two runs differ, the first ones."""
    return [path for path in first | second if first.get(path) != second.get(path)][:5]
