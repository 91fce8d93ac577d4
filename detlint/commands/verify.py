"""`detlint verify`: the command line, without libcst and rich, which a machine with a GPU may not have."""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from detlint import catalogue
from detlint.commands import numbers
from detlint.commands.failing import complain, defect, leave_pipe, reason
from detlint.commands.sections import Sectioned
from detlint.commands.terminal import OneOf
from detlint.support.printed import one_line, printable
from detlint.verify import evidence, join, report, session
from detlint.verify.pool import Limits, StartError
from detlint.verify.probes import PROBES
from detlint.verify.session import SECONDS, Session, Settings

if TYPE_CHECKING:
    from detlint.report import Judged, Report

_DEFAULT = Settings()
_FILE = click.Path(path_type=Path)
_PROCESSES = f"processes that are started [{_DEFAULT.processes}]"
_REPEATS = f"runs in each process [{_DEFAULT.repeats}]"
_JOBS = f"processes that run at once [{_DEFAULT.jobs}]"
_LIMIT = f"for a row in a mode, 0: no limit [{SECONDS:g}; --all: 0]"
_PROBE = f"seconds that a probe may take [{_DEFAULT.limits.seconds:g}]"
_MEMORY = f"MiB of a worker, on Linux, 0: no limit [{_DEFAULT.limits.megabytes}]"
_OUTPUT = "write the session as JSON, too: to a file or folder"
_SECTIONS = {
    "What": ("--op", "--all", "--run-kernels", "--evidence"),
    "Session": ("--device", "--processes", "--repeats", "--jobs", "--thorough", "--seconds", "--timeout", "--memory"),
    "Report": ("--format", "--output"),
}


class _UsageError(Exception):
    """A wrong combination of options, or an unknown name. The message says what to do."""


@click.command(cls=Sectioned, sections=_SECTIONS)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--op", multiple=True, metavar="NAME", help="run the rows of this operation, or of this id")
@click.option("--all", "whole", is_flag=True, help="run the whole catalogue")
@click.option("--run-kernels", is_flag=True, help="run Triton kernels in other orders, too")
@click.option(
    "--evidence", multiple=True, type=_FILE, metavar="FILE", help="run nothing: show what it says of the findings"
)
@click.option("--device", default=_DEFAULT.device, metavar="NAME", help=f"cuda:1, cpu, mps, xpu [{_DEFAULT.device}]")
@click.option("--processes", type=numbers.positive, default=str(_DEFAULT.processes), metavar="N", help=_PROCESSES)
@click.option("--repeats", type=numbers.positive, default=str(_DEFAULT.repeats), metavar="N", help=_REPEATS)
@click.option("--jobs", type=numbers.positive, default=str(_DEFAULT.jobs), metavar="N", help=_JOBS)
@click.option("--thorough", is_flag=True, help="10 processes with 30 runs each, all of them")
@click.option("--seconds", type=numbers.span, metavar="S", help=_LIMIT)
@click.option("--timeout", type=numbers.seconds, default=f"{_DEFAULT.limits.seconds:g}", metavar="S", help=_PROBE)
@click.option("--memory", type=numbers.bound, default=str(_DEFAULT.limits.megabytes), metavar="MIB", help=_MEMORY)
@click.option(
    "--format", "format_", type=OneOf(("text", "json")), default="text", metavar="NAME", help="text, json [text]"
)
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help=_OUTPUT)
def verify(**given: Any) -> None:
    """Run operations that findings name, confirm or refute each.

    They are run on a device, in the form in which the code calls them, to tell whether their results differ between
    runs. Nothing of the code that is checked is imported or run unless --run-kernels asks for it. Exit status: 0
    nothing confirmed, 1 a finding is confirmed, 2 the run failed, a control failed, or there is no such device. With
    --all and --op: 0, or 2.
    """
    raise SystemExit(_status(SimpleNamespace(**given)))


def _status(options: SimpleNamespace) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal of another encoding gets its report too; JSON is UTF-8
            encoding = "utf-8" if options.format_ == "json" else stream.encoding
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
    try:
        _make_folder(options.output)
        status = _catalogue(options) if options.whole or options.op else _findings(options)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        return leave_pipe()
    except (_UsageError, evidence.EvidenceError, catalogue.CatalogueError, OSError) as error:
        return complain(reason(error))
    except StartError as error:
        told = f"nothing was confirmed: {options.device} cannot be used ({error})"
        helps = options.device != "cpu" and find_spec("torch") is not None
        return complain(told + ("; --device cpu measures on the CPU, whose kernels are others" if helps else ""))
    except KeyboardInterrupt:
        return complain("interrupted before there was anything to report")
    except Exception as error:
        return defect(error)


def _settings(options: SimpleNamespace) -> Settings:
    """Return the settings of the session."""
    processes, repeats = (10, 30) if options.thorough else (options.processes, options.repeats)
    limits = Limits(options.timeout, options.memory)
    counted = options.thorough or options.whole
    seconds = options.seconds if options.seconds is not None else 0.0 if counted else SECONDS
    return Settings(options.device, processes, repeats, limits, jobs=options.jobs, stops=not counted, seconds=seconds)


def _catalogue(options: SimpleNamespace) -> int:
    """Measure rows of the catalogue as such, and return the exit status."""
    if options.paths or options.evidence or options.run_kernels:
        raise _UsageError("--all and --op take no paths, --evidence or --run-kernels: they measure operations as such")
    rows = list(PROBES) if options.whole else sorted({row for name in options.op for row in _rows(name)})
    with_progress = _Bar()
    held = session.hold(join.of_rows(rows, PROBES), _settings(options), with_progress.show)
    with_progress.clear()
    wrong = _write_evidence(held, options.output)
    if options.format_ == "json":
        print(evidence.render(held), end="")
    else:
        print(report.header(held), report.table(held.measurements), *report.footer(held), sep="\n")
    if wrong is not None:
        raise wrong
    return 2 if held.complaint or held.interrupted else 0


def _rows(name: str) -> list[str]:
    """Return the rows with this id, or with an operation of this name or name ending. Raises _UsageError if none."""
    if name in PROBES:
        return [name]
    found = []
    for tables in catalogue.load().tables.values():
        for row in (row for rows in tables.values() for row in rows if row.id in PROBES):
            if any(f".{known}".endswith(f".{name}") for known in row.list("names")):
                found.append(row.id)
    if not found:
        raise _UsageError(f"no row that can be run has the id, or speaks of, {name!r}; `--all` runs every one")
    return found


def _findings(options: SimpleNamespace) -> int:
    """Verify the findings in files and folders, and return the exit status."""
    checked, wrong = _checked(options.paths), None
    from detlint import verifying

    if options.evidence and options.run_kernels:
        raise _UsageError("--evidence runs nothing, and --run-kernels runs kernels: give one of them")
    if options.evidence:
        shown, held = verifying.with_evidence(checked, evidence.read_all(options.evidence)), None
    else:
        bar = _Bar()
        shown, held = verifying.verify_report(checked, _settings(options), bar.show)
        if options.run_kernels:
            shown = verifying.with_kernels(shown, _text, options.timeout)
        bar.clear()
        if held is not None:
            wrong = _write_evidence(held, options.output)
    _show(shown, held, options.format_)
    if wrong is not None:
        raise wrong
    if held is not None and (held.complaint or held.interrupted):
        return 2
    return 1 if any(_stands(judged) for judged in shown.findings) else 0


def _checked(paths: list[Path]) -> Report:
    """Return the findings of the paths, by the settings of their project. Raises _UsageError."""
    try:
        from detlint import config, engine
    except ImportError as error:
        raise _UsageError(f"checking files needs {error.name}, which is not installed; --all and --op do not") from None
    paths = paths or [Path()]
    try:
        settings = replace(config.for_paths(paths), baseline=None)  # a finding in the baseline may be refuted
        torch = config.target_torch(settings.torch_version, settings.root, catalogue.load())
        return engine.check_paths(paths, settings, torch)
    except config.ConfigError as error:
        raise _UsageError(str(error)) from None


def _show(shown: Report, held: Session | None, format_: str) -> None:
    if format_ == "json":
        from detlint.output import json

        print(json.render(shown, _text))
        if held is not None and held.complaint:
            complain(f"nothing is confirmed or refuted: {held.complaint}")
        return
    if held is not None:
        print(report.header(held), end="\n\n")
    lines = [["place", "rule", "verdict", ""]]
    for judged in shown.findings:
        told = judged.finding.verification
        if told is not None:
            place = judged.finding.place
            where = one_line(f"{place.path}:{place.line}:{place.column}")
            lines.append([where, judged.finding.code, told.verdict, printable(told.text)])
    print(report.aligned(lines) if len(lines) > 1 else "No finding names an operation that can be run.\n", end="")
    other = sum(judged.finding.verification is None for judged in shown.findings)
    if other:
        print(f"{other} more of {len(shown.findings)} findings are not about an operation that can be run.")
    if held is not None:
        print(*report.footer(held), sep="\n")


def _stands(judged: Judged) -> bool:
    """Return whether what was measured confirms the finding."""
    told, operation = judged.finding.verification, judged.finding.operation
    if told is None or operation is None:
        return False
    return told.verdict == ("raises" if operation.raising else "confirmed")


def _text(path: str) -> str:
    from detlint.sources import source

    return source.read(Path(path)).removeprefix("\ufeff")


def _make_folder(output: Path | None) -> None:
    """Make the folder for the session before anything is measured. Raises OSError."""
    if output is not None and not output.exists():
        (output.parent if output.suffix else output).mkdir(parents=True, exist_ok=True)


def _write_evidence(held: Session, output: Path | None) -> OSError | None:
    """Write the session. Return an error rather than raise it, so that the session is shown first."""
    if output is None:
        return None
    file = output / evidence.file_name(held.environment) if output.is_dir() else output
    try:
        file.write_text(evidence.render(held), encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        return error
    return None


class _Bar:
    """One line on a terminal that says what is being measured."""

    def __init__(self) -> None:
        self._on = sys.stderr.isatty()

    def show(self, done: int, total: int, doing: str) -> None:
        """Show how far the session is."""
        if self._on:
            print(f"\r\x1b[K{done:5} of {total}  {doing[:60]}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove the line."""
        if self._on:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
