"""`detlint repeat`: the command that makes a program repeat."""

from __future__ import annotations

import json
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from detlint.commands import failing, numbers
from detlint.commands.completing import files, rules
from detlint.commands.sections import Sectioned
from detlint.commands.terminal import clear_errors, split
from detlint.config import ConfigError

if TYPE_CHECKING:
    from detlint.bisect.running.runs import Plan
    from detlint.repeat.rounds import Result
    from detlint.repeat.tree import Tree

_SECTIONS = {
    "Changes": ("--apply", "--select", "--ignore"),
    "Runs": ("--timeout", "--perturb", "--in", "--no-poison", "--fresh", "--show-output"),
    "Report": ("--format",),
}


@click.command(cls=Sectioned, sections=_SECTIONS, context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- PROGRAM [ARGUMENTS]", shell_complete=files)
@click.option("--apply", "write", is_flag=True, help="change your files, once all is done")
@click.option("--select", multiple=True, metavar="RULES", shell_complete=rules, help="fixes of these rules alone")
@click.option("--ignore", multiple=True, metavar="RULES", shell_complete=rules, help="no fixes of these rules")
@click.option("--timeout", type=numbers.seconds, metavar="S", help="seconds that all of it may take [no limit]")
@click.option("--perturb", metavar="LIST", default="", help="make the second run differ, as for `bisect`")
@click.option("--in", "user", multiple=True, metavar="DIR", help="count installed code in here as yours")
@click.option("--no-poison", is_flag=True, help="do not fill fresh memory with other bytes in each run")
@click.option("--fresh", is_flag=True, help="start each run in a process that imports torch itself")
@click.option("--show-output", is_flag=True, help="let the program write to the terminal")
@click.option(
    "--format", "format_", type=click.Choice(("text", "json")), default="text", metavar="NAME", help="text, json [text]"
)
def repeat(
    command: tuple[str, ...],
    write: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    timeout: float | None,
    perturb: str,
    user: tuple[str, ...],
    no_poison: bool,
    fresh: bool,
    show_output: bool,
    format_: str,
) -> None:
    """Run a program twice, fix what differs, until it repeats.

    It RUNS THE CODE IT IS GIVEN, in a copy of your files, which stay as they are unless --apply is given. PROGRAM is a
    script, a notebook, `-m module`, a test (test_x.py::test_name) or `torchrun ...`. Exit status: 0 it repeats, 1 it
    does not, 2 it could not be run.
    """
    begun = time.monotonic()
    with clear_errors(), _ended_by_signals():
        from detlint.bisect.options import Options
        from detlint.bisect.recorded.programs import ProgramError
        from detlint.bisect.running.runs import PERTURBATIONS, Plan
        from detlint.bisect.streams import TraceError
        from detlint.repeat import project
        from detlint.repeat.tree import TreeError

        perturbed = split((perturb,))
        unknown = [each for each in perturbed if each not in PERTURBATIONS]
        if unknown:
            raise click.BadParameter(f"{unknown[0]!r} is none of {', '.join(PERTURBATIONS)}", param_hint="--perturb")
        plan = Plan(
            command,
            Options(user=tuple(str(Path(path).resolve()) for path in user)),
            perturbed,
            poison=not no_poison,
            quiet=not show_output or format_ == "json",
            until=None if timeout is None else begun + timeout,
        )
        codes = project.rules(split(select) or ("ALL",), split(ignore))
        try:
            status = _repeated(plan, codes, begun, write=write, fresh=fresh, as_json=format_ == "json")
        except (ProgramError, TraceError, TreeError) as error:
            raise ConfigError(str(error)) from error
    raise SystemExit(status)


def _repeated(plan: Plan, codes: frozenset[str], begun: float, *, write: bool, fresh: bool, as_json: bool) -> int:
    from detlint.bisect.recorded import programs
    from detlint.bisect.running.warm import Origins
    from detlint.repeat import written
    from detlint.repeat.rounds import FAILED, Rounds
    from detlint.repeat.tree import Tree, root_of, script_of
    from detlint.repeat.trial import Trials

    command = programs.check(list(plan.command))
    program = " ".join(plan.command)
    with tempfile.TemporaryDirectory(prefix="detlint-repeat-", ignore_cleanup_errors=True) as place:
        (folder := Path(place).resolve() / "files").mkdir()
        tree = Tree.copied(root_of(Path.cwd().resolve(), command), folder)
        plan = replace(plan, command=tuple(map(tree.argument, plan.command)), before=_apart(tree.restore))
        plan = replace(plan, options=replace(plan.options, user=(*plan.options.user, str(folder))))
        with tree.entered(), Origins() as origins:
            trials = Trials(replace(plan, origins=None if fresh else origins), Path(place, "records"), _progress)
            result = Rounds(trials, tree, codes, script_of(command), _told, _progress).run()
        result = replace(result, notes=(*result.notes, *_notes(tree)), seconds=time.monotonic() - begun)
        applied = write and bool(tree.texts) and result.verdict != FAILED
        if applied:
            written.write(tree)
        _show(result, program, written.diff(tree), applied=applied, as_json=as_json)
    from detlint.repeat.report import STATUS

    return STATUS[result.verdict]


def _apart(restore: Callable[[], None]) -> Callable[[], None]:
    """Return what to do before each run: restore the files, and wait until no second is shared with the last run.

    Whole seconds are a common seed, so two runs in the same second may agree although they differ otherwise.
    """
    last = 0.0

    def ready() -> None:
        nonlocal last
        restore()
        time.sleep(max(0.0, int(last) + 1.001 - time.time()))
        last = time.time()

    return ready


def _show(result: Result, program: str, diff: bytes, *, applied: bool, as_json: bool) -> None:
    from detlint.repeat import report
    from detlint.repeat.rounds import FAILED
    from detlint.support.printed import in_json, printable

    if as_json:
        built = report.build(result, program, diff.decode("utf-8", "replace"), applied=applied)
        click.echo(in_json(json.dumps(built, indent=1)))
        return
    if result.verdict == FAILED:
        failing.complain(f"{program}: {result.reason}")
        return
    click.echo(printable(report.text(result, program, applied=applied)), nl=False)
    if diff:
        click.echo()
        click.echo(diff, nl=False)


def _notes(tree: Tree) -> Iterator[str]:
    """Yield notes on files that are not copied."""
    if tree.linked:
        named = ", ".join(tree.linked[:4]) + (" ..." if len(tree.linked) > 4 else "")
        yield f"linked, not copied, as they are large: {named}"
    written = tree.written()
    if written:
        yield f"the program has written to files of yours that are linked: {', '.join(written[:4])}"


def _told(line: str) -> None:
    print(f"detlint: {line}", file=sys.stderr, flush=True)


def _progress(line: str) -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        _told(line)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Make a request to terminate act like Ctrl-C, so that nothing is left behind."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before: Callable[..., object] | int | None = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
