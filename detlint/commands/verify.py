"""`detlint verify`: the command line, without the terminal library, which a machine with a GPU may not have."""

from __future__ import annotations

import argparse
import io
import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from detlint import catalogue
from detlint.commands.failing import complain, defect, leave_pipe, reason
from detlint.printed import one_line, printable
from detlint.verify import evidence, join, report, session
from detlint.verify.pool import Limits, StartError
from detlint.verify.probes import PROBES
from detlint.verify.session import SECONDS, Session, Settings

if TYPE_CHECKING:
    from detlint.report import Judged, Report

_DESCRIPTION = """\
Run the operations that findings name on a device, in the form in which the code calls them, and tell whether their
results differ between runs. Nothing of the code that is checked is imported or run unless --run-kernels asks for it."""
_STATUS = """\
Exit status: 0 nothing confirmed, 1 a finding is confirmed, 2 the run failed, a control failed, or there is no such
device. With --all and --op: 0, or 2."""

_MOST = 1_000_000  # of anything that is counted: a larger number is a mistake
_OUTPUT = "write the session as JSON, too: to this file, or into this folder if the name has no ending"


class _UsageError(Exception):
    """A wrong combination of options, or a name that nothing has. The message says what to do."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = parser().parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal of another encoding gets its report, too; JSON is UTF-8
            encoding = "utf-8" if options.format == "json" else stream.encoding
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
    try:
        _make_folder(options.output)
        status = _catalogue(options) if options.all or options.op else _findings(options)
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


def parser() -> argparse.ArgumentParser:
    """What reads the arguments of the command."""
    made = argparse.ArgumentParser("detlint verify", description=_DESCRIPTION, epilog=_STATUS)
    made.add_argument("paths", nargs="*", type=Path, help="files and folders whose findings are verified [.]")
    made.add_argument("--op", action="append", metavar="NAME", help="run the rows of this operation, or of this id")
    made.add_argument("--all", action="store_true", help="run the whole catalogue")
    add_session_options(made)
    made.add_argument(
        "--run-kernels",
        action="store_true",
        help="import files with Triton kernels, and run these in other orders",
    )
    made.add_argument(
        "--evidence",
        action="append",
        type=Path,
        metavar="FILE",
        default=[],
        help="run nothing: show what this file, or the files of this folder, say of the findings",
    )
    made.add_argument("--format", choices=("text", "json"), default="text", help="[text]")
    made.add_argument("--output", type=Path, metavar="FILE", help=_OUTPUT)
    return made


def add_session_options(parser: argparse.ArgumentParser) -> None:
    """The options that say how a session is held."""
    default = Settings()
    parser.add_argument("--device", default=default.device, help="cuda, cuda:1, cpu, mps, xpu [%(default)s]")
    parser.add_argument(
        "--processes", type=_positive, default=default.processes, help="processes that are started [%(default)s]"
    )
    parser.add_argument("--repeats", type=_positive, default=default.repeats, help="runs in each process [%(default)s]")
    parser.add_argument("--jobs", type=_positive, default=default.jobs, help="processes that run at once [%(default)s]")
    parser.add_argument("--thorough", action="store_true", help="10 processes with 30 runs each, all of them")
    parser.add_argument(
        "--seconds",
        type=_span,
        metavar="S",
        help=f"seconds for the runs of a row in a mode; 0: no limit [{SECONDS:g}; with --all, --thorough 0]",
    )
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=default.limits.seconds,
        metavar="S",
        help="seconds that a probe may take [%(default)s]",
    )
    parser.add_argument(
        "--memory",
        type=_megabytes,
        default=default.limits.megabytes,
        metavar="MIB",
        help="MiB that a worker may hold, on Linux; 0: no limit [%(default)s]",
    )


def session_settings(options: argparse.Namespace) -> Settings:
    """How a session is to be held."""
    processes, repeats = (10, 30) if options.thorough else (options.processes, options.repeats)
    limits = Limits(options.timeout, options.memory)
    counted = options.thorough or getattr(options, "all", False)
    seconds = options.seconds if options.seconds is not None else 0.0 if counted else SECONDS
    return Settings(options.device, processes, repeats, limits, jobs=options.jobs, stops=not counted, seconds=seconds)


def _span(text: str) -> float:
    return 0.0 if text == "0" else _seconds(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= _MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {_MOST}")
    return int(text)


def _megabytes(text: str) -> int:
    return 0 if text == "0" else _positive(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= _MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0, up to {_MOST}")
    return seconds


def _catalogue(options: argparse.Namespace) -> int:
    """Measure rows of the catalogue as such."""
    if options.paths or options.evidence or options.run_kernels:
        raise _UsageError("--all and --op take no paths, --evidence or --run-kernels: they measure operations as such")
    rows = list(PROBES) if options.all else sorted({row for name in options.op for row in _rows(name)})
    with_progress = _Bar()
    held = session.hold(join.of_rows(rows, PROBES), session_settings(options), with_progress.show)
    with_progress.clear()
    wrong = _write_evidence(held, options.output)
    if options.format == "json":
        print(evidence.render(held), end="")
    else:
        print(report.header(held), report.table(held.measurements), *report.footer(held), sep="\n")
    if wrong is not None:
        raise wrong
    return 2 if held.complaint or held.interrupted else 0


def _rows(name: str) -> list[str]:
    """The rows with this id, or that name an operation so, in full or by its end. Raises _UsageError for none."""
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


def _findings(options: argparse.Namespace) -> int:
    """Verify the findings in files and folders."""
    checked, wrong = _checked(options.paths), None
    from detlint import verifying

    if options.evidence and options.run_kernels:
        raise _UsageError("--evidence runs nothing, and --run-kernels runs kernels: give one of them")
    if options.evidence:
        shown, held = verifying.with_evidence(checked, evidence.read_all(options.evidence)), None
    else:
        bar = _Bar()
        shown, held = verifying.verify_report(checked, session_settings(options), bar.show)
        if options.run_kernels:
            shown = verifying.with_kernels(shown, _text, options.timeout)
        bar.clear()
        if held is not None:
            wrong = _write_evidence(held, options.output)
    _show(shown, held, options.format)
    if wrong is not None:
        raise wrong
    if held is not None and (held.complaint or held.interrupted):
        return 2
    return 1 if any(_stands(judged) for judged in shown.findings) else 0


def _checked(paths: list[Path]) -> Report:
    """The findings of the paths, by the settings of their project."""
    try:
        from detlint import config, engine
    except ImportError as error:
        raise _UsageError(f"checking files needs {error.name}, which is not installed; --all and --op do not") from None
    paths = paths or [Path()]
    try:
        settings = replace(config.for_paths(paths), baseline=None)  # what is known may be refuted
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
    """Whether what was measured confirms what the finding says."""
    told, operation = judged.finding.verification, judged.finding.operation
    if told is None or operation is None:
        return False
    return told.verdict == ("raises" if operation.raising else "confirmed")


def _text(path: str) -> str:
    from detlint.sources import source

    return source.read(Path(path)).removeprefix("\ufeff")


def _make_folder(output: Path | None) -> None:
    """Make the folder that the session goes to, before anything is measured. Raises OSError."""
    if output is not None and not output.exists():
        (output.parent if output.suffix else output).mkdir(parents=True, exist_ok=True)


def _write_evidence(held: Session, output: Path | None) -> OSError | None:
    """Write the session. What goes wrong is given back, to be raised when the session was shown."""
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
        """Say how far the session is."""
        if self._on:
            print(f"\r\x1b[K{done:5} of {total}  {doing[:60]}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the line away."""
        if self._on:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
