"""The command line: the one module that prints and exits."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from detlint import __version__, catalogue, config
from detlint.config import Config, ConfigError

if TYPE_CHECKING:
    from packaging.version import Version

    from detlint.fixer import Outcome
    from detlint.fixing import Fixed
    from detlint.gathering import Progress
    from detlint.report import Report

_SEVERITIES = ("error", "warning", "note")


class _DefaultsToCheck(click.Group):
    """`detlint PATHS` is `detlint check PATHS`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ("--help", "--version", "-h")):
            args = ["check", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_DefaultsToCheck, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="detlint")
def cli() -> None:
    """Find what makes two runs of PyTorch code differ.

    `detlint PATHS` checks files and folders; it is short for `detlint check PATHS`.
    """


@cli.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--select", multiple=True, metavar="RULES", help="Codes, prefixes or names of rules to check, or ALL.")
@click.option("--ignore", multiple=True, metavar="RULES", help="Codes, prefixes or names of rules to leave out.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Files and folders to leave out.")
@click.option("--ignore-noqa", is_flag=True, help="Show what comments suppress, too.")
@click.option("--severity", type=click.Choice(_SEVERITIES), help="Show findings of this severity and graver ones.")
@click.option("--breaks", multiple=True, metavar="PROMISE", help="Show what breaks run-to-run, resume, ...")
@click.option("--torch-version", metavar="V", help="The PyTorch version to judge by [default: the project's].")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the report to this file.")
@click.option("--statistics", is_flag=True, help="Count findings by rule instead of showing them.")
@click.option("--jobs", type=click.IntRange(min=0), default=0, help="Processes [default: one a core].")
@click.option("--no-cache", is_flag=True, help="Neither use nor keep what runs find.")
@click.option("--changed-since", "since", metavar="REV", help="Show what came with the change since this git revision.")
@click.option("--baseline", type=click.Path(path_type=Path, dir_okay=False), help="Leave out what this file records.")
@click.option("--write-baseline", "record", is_flag=True, help="Record all that is found in the baseline.")
@click.option("--exit-zero", is_flag=True, help="Exit with status 0 even where there are findings.")
@click.option("--fix", is_flag=True, help="Fix what can be fixed safely, in place.")
@click.option(
    "--unsafe-fixes", is_flag=True, help="With --fix or --diff: also fixes that may slow down or change results."
)
@click.option("--diff", is_flag=True, help="Print the fixes as a patch and change nothing.")
@click.option(
    "--runtime", type=click.Choice(config.RUNTIMES), help="Import the functions that fixes call, or copy them."
)
@click.option("--verify", "verified", is_flag=True, help="Run the operations that findings name on a device.")
@click.option("--device", default="cuda", show_default=True, help="The device of --verify: cuda:1, cpu, mps, xpu.")
@click.option(
    "--evidence",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    help="Show what `detlint verify` measured elsewhere.",
)
def check(
    paths: tuple[Path, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    exclude: tuple[str, ...],
    ignore_noqa: bool,
    severity: str | None,
    breaks: tuple[str, ...],
    torch_version: str | None,
    format_: str,
    output: Path | None,
    statistics: bool,
    jobs: int,
    no_cache: bool,
    since: str | None,
    baseline: Path | None,
    record: bool,
    exit_zero: bool,
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
    runtime: str | None,
    verified: bool,
    device: str,
    evidence: tuple[Path, ...],
) -> None:
    """Check files and folders (the default command).

    Exit status: 0 nothing found, 1 findings, 2 the run itself failed.
    """
    paths = paths or (Path(),)
    with _clear_errors():
        settings = config.for_paths(paths)
        settings = replace(
            settings,
            select=_split(select) or settings.select,
            ignore=settings.ignore + _split(ignore),
            exclude=settings.exclude + _split(exclude),
            severity=config.severity("--severity", severity) if severity else settings.severity,
            breaks=config.promises("--breaks", _split(breaks)) or settings.breaks,
            torch_version=torch_version or settings.torch_version,
            runtime=runtime or settings.runtime,
            cache_dir=None if no_cache else settings.cache_dir,
            comments=not ignore_noqa,
            baseline=baseline or settings.baseline,
        )
        if unsafe_fixes and not (fix or diff):
            raise ConfigError("--unsafe-fixes needs --fix or --diff")
        if record and (fix or diff or since is not None):
            raise ConfigError("--write-baseline records what is there: not with --fix, --diff or --changed-since")
        if record and settings.baseline is None:
            raise ConfigError("--write-baseline needs a file: give --baseline FILE, or `baseline` in the settings")
        fixed = partial(_fixed, paths, settings, jobs, unsafe_fixes, since)
        if diff:
            found = _diff(fixed(), output)
        else:
            judge = partial(_verified, device=device if verified else None, evidence=evidence)
            report = partial(_written, fixed) if fix else partial(_checked, paths, settings, jobs, since, record)
            found = _show(judge(report()), paths, format_, output, statistics)
    raise SystemExit(1 if found and not exit_zero else 0)


@cli.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--all", "everything", is_flag=True, help="Show all columns, what is in order, and what draws nothing.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Files and folders to leave out.")
@click.option("--torch-version", metavar="V", help="The PyTorch version to judge by [default: the project's].")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the report to this file.")
@click.option("--jobs", type=click.IntRange(min=0), default=0, help="Processes [default: one a core].")
@click.option("--no-cache", is_flag=True, help="Neither use nor keep what runs find.")
def entries(
    paths: tuple[Path, ...],
    everything: bool,
    exclude: tuple[str, ...],
    torch_version: str | None,
    format_: str,
    output: Path | None,
    jobs: int,
    no_cache: bool,
) -> None:
    """Show where programs start, and how each one seeds what it draws from.

    Exit status: 0, or 2 if the run itself failed.
    """
    paths = paths or (Path(),)
    with _clear_errors():
        settings = config.for_paths(paths)
        cache_dir = None if no_cache else settings.cache_dir
        settings = replace(settings, exclude=settings.exclude + _split(exclude), cache_dir=cache_dir)
        _show_entries(paths, settings, torch_version, jobs, format_, output, everything)


@cli.command(add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def verify(arguments: tuple[str, ...]) -> None:
    """Run the operations that findings name on a device, and confirm or refute each."""
    from detlint import verify_cli

    raise SystemExit(verify_cli.main(arguments))


def _checked(paths: tuple[Path, ...], settings: Config, jobs: int, since: str | None, record: bool) -> Report:
    from detlint import engine

    with _progress() as progress:
        if record and settings.baseline is not None:
            return engine.record(paths, settings.baseline, settings, _torch(settings), jobs, progress)
        return engine.check_paths(paths, settings, _torch(settings), jobs, progress, since)


def _show(report: Report, paths: tuple[Path, ...], format_: str, output: Path | None, statistics: bool) -> bool:
    """Print a report; whether it has findings."""
    for error in (*report.errors, *report.notes):
        click.echo(f"detlint: {error}", err=True)
    _complain_of_nothing(report.files, paths)
    if format_ == "json":
        from detlint.output import json

        text = json.render(report, _text) + "\n"
    else:
        from detlint.output import text as text_format

        color = output is None and sys.stdout.isatty()
        text = text_format.render(report, _texts, color, statistics)
    _write(text, output)
    return bool(report.findings)


def _verified(report: Report, device: str | None, evidence: tuple[Path, ...]) -> Report:
    """The report with what its operations did on the device, or elsewhere; as it is where neither is asked for."""
    if device is None and not evidence:
        return report
    from detlint import verifying
    from detlint.verify.evidence import EvidenceError, read_all
    from detlint.verify.pool import StartError
    from detlint.verify.session import Settings

    try:
        if device is None:
            return verifying.with_evidence(report, read_all(evidence))
        shown, held = verifying.verify_report(report, Settings(device))
    except (EvidenceError, StartError) as error:
        raise ConfigError(f"nothing was confirmed: {error}") from None
    if held is not None and held.complaint:
        click.echo(f"detlint: nothing is confirmed or refuted: {held.complaint}", err=True)
    if held is not None and held.interrupted:
        click.echo("detlint: interrupted: verdicts rest on what was counted until then", err=True)
    return shown


def _torch(settings: Config) -> Version:
    """The version to judge by; a wrong selector in the settings is told first."""
    rules = catalogue.load()
    for selectors in settings.per_file_ignores.values():
        for selector in selectors:
            rules.matching(selector)
    return config.target_torch(settings.torch_version, settings.root, rules)


def _fixed(paths: tuple[Path, ...], settings: Config, jobs: int, unsafe: bool, since: str | None) -> Fixed:
    from detlint import fixing

    with _progress() as progress:
        return fixing.fix_paths(paths, settings, _torch(settings), unsafe, jobs, progress, since)


def _written(fixed: Callable[[], Fixed]) -> Report:
    """Write what fixes change, tell of it, and report what is left."""
    made = fixed()
    _tell_of_fixes(made.outcome, made.files.write(made.outcome.changes))
    return made.report


def _tell_of_fixes(outcome: Outcome, problems: list[str]) -> None:
    """What was fixed, what was left and why."""
    from detlint.output import fixes

    for line in (*problems, *fixes.lines(outcome)):
        click.echo(f"detlint: {line}", err=True)
    if problems or not outcome.converged:
        raise SystemExit(2)


def _diff(fixed: Fixed, output: Path | None) -> bool:
    """Print what fixes would change; whether anything."""
    from detlint import patch

    text = b"".join(patch.diff(change.path, *fixed.files.contents(change)) for change in fixed.outcome.changes)
    if output is not None:
        output.write_bytes(text)
    else:
        click.echo(text, nl=False)
    for note in fixed.report.notes:
        click.echo(f"detlint: {note}", err=True)
    _tell_of_fixes(fixed.outcome, [])
    return bool(text)


def _show_entries(
    paths: tuple[Path, ...],
    settings: Config,
    torch_version: str | None,
    jobs: int,
    format_: str,
    output: Path | None,
    everything: bool,
) -> None:
    from detlint import engine

    torch = config.target_torch(torch_version or settings.torch_version, settings.root, catalogue.load())
    with _progress() as progress:
        programs = engine.entries_of(paths, settings, torch, jobs, progress)
    _complain_of_nothing(programs.files, paths)
    if format_ == "json":
        from detlint.output import entries_json

        text = entries_json.render(programs) + "\n"
    else:
        from detlint.output import entries_text

        for error in programs.errors:
            click.echo(f"detlint: {error}", err=True)
        terminal = output is None and sys.stdout.isatty()
        width = shutil.get_terminal_size().columns if terminal else None
        text = entries_text.render(programs, terminal, width, everything)
    _write(text, output)


def _complain_of_nothing(files: int, paths: tuple[Path, ...]) -> None:
    if not files:
        click.echo(f"detlint: no Python files under {', '.join(map(str, paths))}", err=True)


def _write(text: str, output: Path | None) -> None:
    if output is not None:
        output.write_text(text, encoding="utf-8")
    else:
        click.echo(text, nl=False)


def _text(path: str) -> str:
    from detlint import source

    return source.read(Path(path)).removeprefix("\ufeff")


def _texts(path: str) -> Mapping[int | None, str]:
    """The texts of an analysed file by cell, or none where they cannot be had: that is then a finding of its own."""
    from detlint import notebook, source

    try:
        return notebook.texts(path, source.read(Path(path)))
    except source.UnreadableError:
        return {}


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """A progress bar on a terminal, once a run proves long."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress
    from rich.console import Console

    columns = (*progress.Progress.get_default_columns(), progress.MofNCompleteColumn())
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Analysing", total=None, visible=False)

        def advance(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, visible=total >= 100)

        yield advance


@cli.command()
@click.argument("code", required=False)
def rule(code: str | None) -> None:
    """List the rules, or show the page of one."""
    from rich.console import Console

    from detlint.output import page

    console = Console()
    with _clear_errors():
        rules = catalogue.load()
        if code is None:
            for each in rules.rules.values():
                state = "" if each.default else "  (off by default)"
                click.echo(f"{each.code}  {each.severity.value:8} {each.name:40} {each.summary}{state}")
            return
        pages = [rules.rules[found] for found in rules.matching(code)]
    for text in map(page.render, pages):
        if console.is_terminal:
            from rich.markdown import Markdown

            console.print(Markdown(text))
        else:
            click.echo(text)


def _split(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


@contextmanager
def _clear_errors() -> Iterator[None]:
    """Turn what a user can mend into one line and exit status 2."""
    try:
        yield
    except (ConfigError, catalogue.CatalogueError, OSError) as error:
        click.echo(f"detlint: {error}", err=True)
        raise SystemExit(2) from None


def main() -> None:
    """The console script."""
    cli()
