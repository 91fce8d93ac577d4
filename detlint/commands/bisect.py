"""`detlint bisect`: the command line."""

from __future__ import annotations

import argparse
import io
import json
import math
import shlex
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from detlint.bisect import document, explain, outcome, page, repairs, report, runs, spread
from detlint.bisect.options import Options
from detlint.bisect.outcome import Outcome
from detlint.bisect.programs import ProgramError
from detlint.bisect.records import Line
from detlint.bisect.report import Static
from detlint.bisect.runs import PERTURBATIONS, Done, Plan
from detlint.bisect.streams import META, Trace, TraceError
from detlint.bisect.warm import Origins
from detlint.commands.failing import complain, defect, leave_pipe, reason
from detlint.printed import in_json, printable
from detlint.verify.pool import StartError

_DESCRIPTION = """\
Run a program twice in fresh processes, record every operation, and name the
first one that differs, the line it comes from and why. This command
RUNS THE CODE IT IS GIVEN, with all that it does: files are written twice. With
two folders in place of a program, the records in them are compared."""
_EPILOG = """\
PROGRAM is a script, a notebook, `-m module`, a test (test_x.py::test_name) or
`torchrun ...`, with its arguments. Exit status: 0 equal, 1 diverged, 2 wrong
usage, 3 the program failed in both runs alike, 4 inconclusive."""
_USAGE = "detlint bisect [options] -- PROGRAM [ARGUMENTS]\n       detlint bisect [options] A.trace B.trace"
_TAIL = 8  # lines of what a program that failed wrote last


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = parser().parse_args(argv)
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal of another encoding gets its report, too; JSON is UTF-8
            encoding = "utf-8" if options.format == "json" else stream.encoding
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


def parser() -> argparse.ArgumentParser:
    """What reads the arguments of the command."""
    made = argparse.ArgumentParser(
        "detlint bisect",
        usage=_USAGE,
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("command", nargs=argparse.REMAINDER, metavar="PROGRAM", help=argparse.SUPPRESS)
    made.add_argument("--out", type=Path, metavar="DIR", help="keep the records here, as a.trace and b.trace")
    made.add_argument("--format", choices=("text", "json"), default="text", help="[text]")
    made.add_argument("--html", type=Path, metavar="FILE", help="write a page with both runs side by side, too")
    made.add_argument(
        "--perturb",
        type=_perturbations,
        default=(),
        metavar="LIST",
        help=f"make the second run differ in these, with commas between: {', '.join(PERTURBATIONS)}",
    )
    made.add_argument(
        "--explain",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="run again to name the line of a cause, and to show it [where its line is not known yet]",
    )
    made.add_argument("--all", type=_count, default=0, metavar="N", help="go on to the next differences, N in all")
    made.add_argument("--no-poison", action="store_true", help="do not fill fresh memory with other bytes in each run")
    made.add_argument("--at-once", action="store_true", help="let both runs go on side by side; they share their files")
    made.add_argument("--fresh", action="store_true", help="start each run in a process that imports torch itself")
    made.add_argument("--timeout", type=_seconds, metavar="S", help="seconds that each run may take [no limit]")
    made.add_argument("--max-ops", type=_count, default=0, metavar="N", help="record so much of each thread [all]")
    made.add_argument("--from-step", type=_count, default=0, metavar="N", help="record from this optimizer step on")
    made.add_argument(
        "--level", choices=("op", "step"), default="op", help="record steps alone, then operations where they differ"
    )
    made.add_argument(
        "--resume-with",
        type=shlex.split,
        default=(),
        metavar="ARGS",
        help="with --level step: add these to the command for the runs whose operations are recorded",
    )
    made.add_argument(
        "--compile", choices=("keep", "eager"), default="keep", help="keep what torch.compile makes, or run as written"
    )
    made.add_argument(
        "--in", dest="user", action="append", default=[], metavar="DIR", help="count installed code in here as yours"
    )
    made.add_argument("--show-output", action="store_true", help="let the program write to the terminal")
    made.add_argument(
        "--verify",
        action="store_true",
        help="where a kernel is the cause, run its operation alone, as `detlint verify` does",
    )
    made.add_argument("--no-static", action="store_true", help="do not analyse the program's project for a finding")
    return made


def _perturbations(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in PERTURBATIONS:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(PERTURBATIONS)}")
    return names


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return seconds


def _are_traces(command: Sequence[str]) -> bool:
    return len(command) == 2 and all(Path(one).is_dir() for one in command)


def _compare(options: argparse.Namespace, command: Sequence[str]) -> int:
    """Compare two records."""
    a, b = (Trace(Path(one)) for one in command)
    found = outcome.compare(a, b)
    return _show(options, found, " and ".join(command), (a, b))


def _run(options: argparse.Namespace, command: Sequence[str], folder: Path) -> int:
    """Run a program twice, and compare."""
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
            compiling=options.compile,
        ),
        options.perturb,
        poison=not options.no_poison,
        at_once=options.at_once,
        timeout=options.timeout,
        quiet=not options.show_output or options.format == "json",
        resuming=tuple(options.resume_with),
    )
    with Origins() as origins:
        return _bisect(options, replace(plan, origins=None if options.fresh else origins), command, folder)


def _bisect(options: argparse.Namespace, plan: Plan, command: Sequence[str], folder: Path) -> int:
    done = runs.run(plan, folder)
    found = done.outcome
    if options.explain is not False:
        found = explain.explain(done.plan, found, folder / "explain", _progress, every=bool(options.explain))
    notes = done.notes
    if plan.origins is not None and plan.origins.cold:
        notes = (*notes, f"each run has imported torch itself, which takes longer: {plan.origins.cold}")
    if options.all > 1 and found.found:
        rest = repairs.find(done.plan, found, folder / "repaired", options.all, _progress)
        notes = (*notes, *map(report.briefly, rest.found), rest.end)
    traces = (Trace(done.recordings[0].folder), Trace(done.recordings[1].folder))
    status = _show(options, found, " ".join(command), traces, notes, done.seconds)
    _tell_failures(done)
    return status


def _show(
    options: argparse.Namespace,
    found: Outcome,
    program: str,
    traces: tuple[Trace, Trace],
    notes: Sequence[str] = (),
    seconds: float = 0.0,
) -> int:
    """Print the report, and write the page."""
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
    if options.format == "json":
        print(in_json(json.dumps(document.build(found, program, static, notes, seconds), indent=1)))
    else:
        print(printable(text), end="")
    if options.html is not None:
        steps = spread.spread(*traces, stream=found.found[0].stream if found.found else "main")
        options.html.write_text(page.build(found, program, text, steps), encoding="utf-8", errors="backslashreplace")
    return found.status


def _script(found: Outcome) -> str:
    """The program's own file, or ""."""
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
    """The lines of a notebook's cell."""
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
