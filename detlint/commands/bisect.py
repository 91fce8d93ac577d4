"""`detlint bisect`: the command line."""

from __future__ import annotations

import io
import json
import shlex
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from detlint.bisect.comparing import outcome, spread
from detlint.bisect.comparing.outcome import Outcome
from detlint.bisect.locating import explain, repairs
from detlint.bisect.options import Options
from detlint.bisect.recorded.programs import ProgramError
from detlint.bisect.records import Line
from detlint.bisect.running import runs
from detlint.bisect.running.runs import PERTURBATIONS, Done, Plan
from detlint.bisect.running.warm import Origins
from detlint.bisect.showing import document, page, report
from detlint.bisect.showing.report import Static
from detlint.bisect.streams import META, Trace, TraceError
from detlint.commands import completing, numbers
from detlint.commands.failing import complain, defect, leave_pipe, reason
from detlint.commands.sections import Sectioned
from detlint.commands.terminal import OneOf, split
from detlint.support.printed import in_json, printable
from detlint.verify.pool import StartError

_FILE, _FOLDER = click.Path(path_type=Path, dir_okay=False), click.Path(path_type=Path, file_okay=False)
_TAIL = 8  # the last lines to show of what a program that failed wrote
_SECTIONS = {
    "Runs": (
        "--perturb",
        "--no-poison",
        "--at-once",
        "--fresh",
        "--timeout",
        "--compile",
        "--in",
        "--show-output",
    ),
    "Records": ("--out", "--level", "--from-step", "--max-ops", "--resume-with"),
    "Causes": ("--explain", "--all", "--verify", "--no-static"),
    "Report": ("--format", "--html"),
}


def _perturbations(text: str) -> tuple[str, ...]:
    names = split((text,))
    for name in names:
        if name not in PERTURBATIONS:
            raise click.BadParameter(f"{name!r} is none of {', '.join(PERTURBATIONS)}")
    return names


@click.command(cls=Sectioned, sections=_SECTIONS, context_settings={"allow_interspersed_args": False})
@click.argument(
    "command", nargs=-1, type=click.UNPROCESSED, metavar="-- PROGRAM [ARGUMENTS]", shell_complete=completing.files
)
@click.option("--perturb", type=_perturbations, default="", metavar="LIST", help="what the second run differs in")
@click.option("--no-poison", is_flag=True, help="leave fresh memory as it is in each run")
@click.option("--at-once", is_flag=True, help="let both runs go on side by side")
@click.option("--fresh", is_flag=True, help="have each run import torch itself")
@click.option("--timeout", type=numbers.seconds, metavar="S", help="seconds that each run may take [no limit]")
@click.option(
    "--compile",
    "compiling",
    type=OneOf(("keep", "eager")),
    default="keep",
    metavar="NAME",
    help="what torch.compile makes: keep, eager [keep]",
)
@click.option("--in", "user", multiple=True, metavar="DIR", help="count installed code in here as yours")
@click.option("--show-output", is_flag=True, help="let the program write to the terminal")
@click.option("--out", type=_FOLDER, metavar="DIR", help="keep the records here, as a.trace and b.trace")
@click.option(
    "--level", type=OneOf(("op", "step")), default="op", metavar="NAME", help="op, or step and then op where it differs"
)
@click.option("--from-step", type=numbers.count, default="0", metavar="N", help="record from this optimizer step on")
@click.option("--max-ops", type=numbers.count, default="0", metavar="N", help="record so much of each thread [all]")
@click.option(
    "--resume-with", type=shlex.split, default="", metavar="ARGS", help="arguments of the runs that `step` leads to"
)
@click.option("--explain/--no-explain", default=None, help="run again for the line [if that is open]")
@click.option("--all", "wanted", type=numbers.count, default="0", metavar="N", help="go on to the next differences")
@click.option("--verify", is_flag=True, help="run the operation alone whose kernel is the cause")
@click.option("--no-static", is_flag=True, help="look for no finding in its project")
@click.option(
    "--format", "format_", type=OneOf(("text", "json")), default="text", metavar="NAME", help="text, json [text]"
)
@click.option("--html", type=_FILE, metavar="FILE", help="write a page with both runs side by side, too")
def bisect(**given: Any) -> None:
    """Run a program twice, name the first operation that differs.

    It RUNS THE CODE IT IS GIVEN, with all that it does: files are written twice. PROGRAM is a script, a notebook,
    `-m module`, a test (test_x.py::test_name) or `torchrun ...`. With two folders in its place, the records in them are
    compared. What the second run may differ in: hashseed, threads, workers, listing. Exit status: 0 equal, 1 diverged,
    2 wrong usage, 3 the program failed in both runs alike, 4 inconclusive.
    """
    raise SystemExit(_status(SimpleNamespace(**given)))


def _status(options: SimpleNamespace) -> int:
    command: tuple[str, ...] = options.command
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal of another encoding gets its report too; JSON is UTF-8
            encoding = "utf-8" if options.format_ == "json" else stream.encoding
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
    try:
        with ExitStack() as stack:
            folder = options.out or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="detlint-bisect-")))
            status = _compare(options, command) if _are_traces(command) else _run(options, command, folder)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        return leave_pipe()
    except (ProgramError, TraceError, OSError) as error:
        return complain(reason(error), outcome.USAGE)
    except KeyboardInterrupt:
        return complain("interrupted before both runs had ended", outcome.INCONCLUSIVE)
    except Exception as error:
        return defect(error)


def _are_traces(command: Sequence[str]) -> bool:
    return len(command) == 2 and all(Path(one).is_dir() for one in command)


def _compare(options: SimpleNamespace, command: Sequence[str]) -> int:
    """Compare two records."""
    a, b = (Trace(Path(one)) for one in command)
    found = outcome.compare(a, b)
    return _show(options, found, " and ".join(command), (a, b))


def _run(options: SimpleNamespace, command: Sequence[str], folder: Path) -> int:
    """Run a program twice, and compare the records. Raises OSError if the options conflict or records exist."""
    if options.resume_with and options.level != "step":
        raise OSError("--resume-with goes with --level step: runs are resumed once a step is known to differ")
    if options.out is not None and any((folder / name / META).exists() for name in ("a.trace", "b.trace")):
        raise OSError(f"{folder} has records already; name another folder, or remove them")
    plan = Plan(
        tuple(command),
        Options(
            level=options.level,
            max_ops=options.max_ops,
            from_step=options.from_step,
            user=tuple(str(Path(path).resolve()) for path in options.user),
            compiling=options.compiling,
        ),
        options.perturb,
        poison=not options.no_poison,
        at_once=options.at_once,
        timeout=options.timeout,
        quiet=not options.show_output or options.format_ == "json",
        resuming=tuple(options.resume_with),
    )
    with Origins() as origins:
        return _bisect(options, replace(plan, origins=None if options.fresh else origins), command, folder)


def _bisect(options: SimpleNamespace, plan: Plan, command: Sequence[str], folder: Path) -> int:
    done = runs.run(plan, folder)
    found = done.outcome
    if options.explain is not False:
        found = explain.explain(done.plan, found, folder / "explain", _progress, every=bool(options.explain))
    notes = done.notes
    if plan.origins is not None and plan.origins.cold:
        notes = (*notes, f"each run has imported torch itself, which takes longer: {plan.origins.cold}")
    if options.wanted > 1 and found.found:
        rest = repairs.find(done.plan, found, folder / "repaired", options.wanted, _progress)
        notes = (*notes, *map(report.briefly, rest.found), rest.end)
    traces = (Trace(done.recordings[0].folder), Trace(done.recordings[1].folder))
    status = _show(options, found, " ".join(command), traces, notes, done.seconds)
    _tell_failures(done)
    return status


def _show(
    options: SimpleNamespace,
    found: Outcome,
    program: str,
    traces: tuple[Trace, Trace],
    notes: Sequence[str] = (),
    seconds: float = 0.0,
) -> int:
    """Print the report, and write the page if one was asked for."""
    folder = Path(found.metas[0].folder or ".")
    static = Static()
    if found.found and not options.no_static:
        try:
            from detlint import bisecting

            static = bisecting.advise(found.found[0], folder, _script(found), found.loaded)
            if options.verify:
                static = bisecting.verified(static, found.found[0].cause)
        except StartError as error:
            notes = (*notes, f"the operation was not verified: {error}")
        except ImportError as error:
            notes = (*notes, f"the static analysis needs {error.name}, which is not installed")
    text = report.text(found, program, _reader(folder), static, notes)
    if options.format_ == "json":
        print(in_json(json.dumps(document.build(found, program, static, notes, seconds), indent=1)))
    else:
        print(printable(text), end="")
    if options.html is not None:
        steps = spread.spread(*traces, stream=found.found[0].stream if found.found else "main")
        options.html.write_text(page.build(found, program, text, steps), encoding="utf-8", errors="backslashreplace")
    return found.status


def _script(found: Outcome) -> str:
    """Return the program's own file, or ""."""
    paths = (one.partition("::")[0] for one in found.metas[0].argv)
    return next((path for path in paths if path.endswith((".py", ".ipynb"))), "")


def _reader(folder: Path) -> Callable[[Line], list[str]]:
    def read(line: Line) -> list[str]:
        try:
            text = (folder / line.path).read_text(encoding="utf-8", errors="replace")
            return text.splitlines() if line.cell is None else _cell(line, text)
        except OSError:
            return []

    return read


def _cell(line: Line, text: str) -> list[str]:
    """Return the lines of a notebook's cell."""
    from detlint.sources import notebook

    try:
        document = notebook.read(line.path, text)
    except notebook.NotebookError:
        return []
    lines = zip(document.text.splitlines(), document.origins, strict=True)
    return [shown for shown, origin in lines if origin.cell == line.cell]


def _tell_failures(done: Done) -> None:
    for name, one in zip("AB", done.recordings, strict=True):
        if one.status and done.outcome.status != outcome.EQUAL:
            print(f"run {name} ended with status {one.status}:", file=sys.stderr)
            print(*map(printable, one.errors.splitlines()[-_TAIL:]), sep="\n", file=sys.stderr)


def _progress(told: str) -> None:
    if sys.stderr.isatty():
        print(f"detlint: {told}", file=sys.stderr)
