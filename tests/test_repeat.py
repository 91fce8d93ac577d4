"""Training programs as people write them: two runs differ, and once detlint has fixed them two runs are equal."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from detlint.cli import cli

from .repeating import FILLS, Program, Server, examples, lists_by_age, programs, results, run, write_data

pytestmark = pytest.mark.slow

MEMORY = Path("/dev/shm")
VARYING = [pytest.param(each, id=each.name) for each in programs() if not each.repeats]
EXAMPLES = [pytest.param(each, id=each.name) for each in examples()]
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
    with started() as both:
        yield both


@contextmanager
def started() -> Iterator[tuple[Server, Server]]:
    """Two servers, with hashes of their own."""
    both = Server(FILLS[0]), Server(FILLS[1])
    try:
        yield both
    finally:
        for server in both:
            server.stop()


@pytest.mark.parametrize("program", VARYING)
def test_two_runs_differ(program: Program, tmp_path: Path, place: Path, servers: tuple[Server, Server]) -> None:
    scripts = program.write(tmp_path / "scripts")
    first, second = run(program, (scripts, scripts), place, servers)
    if first == second:  # two processes may have hashes that order a small set alike
        (again := place / "again").mkdir()
        with started() as others:
            first, second = run(program, (scripts, scripts), again, others)
    assert first != second


@pytest.mark.parametrize("program", VARYING)
def test_two_runs_are_equal_after_the_fixes(
    program: Program, tmp_path: Path, place: Path, servers: tuple[Server, Server]
) -> None:
    scripts = program.write(tmp_path / "scripts")
    fix(scripts, program.unsafe)
    fixed = contents(scripts)
    first, second = run(program, (scripts, scripts), place, servers)
    if program.left:
        assert differing(first, second), f"two runs are equal now: delete `left` from {program.name}.md"
    else:
        assert differing(first, second) == []
    fix(scripts, program.unsafe)
    assert contents(scripts) == fixed


@pytest.mark.parametrize("program", EXAMPLES)
def test_two_runs_of_an_example_differ_and_are_equal_after_the_fixes(
    program: Program, tmp_path: Path, servers: tuple[Server, Server]
) -> None:
    scripts = program.write(tmp_path / "scripts")
    for name in ("written", "fixed"):
        (tmp_path / name).mkdir()
    first, second = run(program, (scripts, scripts), tmp_path / "written", servers)
    assert first != second
    fix(scripts, program.unsafe)
    first, second = run(program, (scripts, scripts), tmp_path / "fixed", servers)
    assert differing(first, second) == []


def test_a_run_that_is_resumed_does_what_a_whole_one_does_once_the_checkpoint_is_fixed(
    tmp_path: Path, servers: tuple[Server, Server]
) -> None:
    program = next(each for each in examples() if each.name == "language_model")
    scripts = program.write(tmp_path / "scripts")
    fix(scripts, False)
    for fixed in (False, True):
        if fixed:
            fix(scripts, True, "--select", "DET201,DET701")
        whole, resumed = (tmp_path / f"{name}-{fixed}" for name in ("whole", "resumed"))
        for folder, server, epochs in ((whole, servers[0], "2"), (resumed, servers[1], "12")):
            shutil.copytree(scripts, folder)
            write_data(program.data, folder, order=0)
            for until in epochs:
                status = server.start(("train.py", "input.txt", until), folder).wait()
                assert status == 0, (folder / "log.txt").read_text()
        learned = [
            {path: value for path, value in results(folder).items() if path.startswith("checkpoint.pt['model']")}
            for folder in (whole, resumed)
        ]
        assert (learned[0] == learned[1]) is fixed


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
    before, after = run(program, (scripts, fixed), place, servers)
    assert differing(before, after) == []


def fix(folder: Path, unsafe: bool, *more: str) -> None:
    """Lets detlint fix the files of a folder, with more options; findings that remain are no error."""
    options = ["--fix", "--jobs", "1", *(["--unsafe-fixes"] if unsafe else []), *more]
    done = CliRunner().invoke(cli, [*options, str(folder)])
    assert done.exit_code in (0, 1), done.output


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def differing(first: dict[str, bytes], second: dict[str, bytes]) -> list[str]:
    """The paths within the results where two runs differ, the first ones."""
    return [path for path in first | second if first.get(path) != second.get(path)][:5]
