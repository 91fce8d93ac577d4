"""`detlint check`: findings shown, fixed, recorded."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from detlint import catalogue, config
from detlint.commands.terminal import clear_errors, complaints, nothing_there, progress_bar, split, write
from detlint.config import Config, ConfigError
from detlint.output import formats
from detlint.remembered import Said

if TYPE_CHECKING:
    from packaging.version import Version

    from detlint.fixer import Outcome
    from detlint.fixing import Fixed
    from detlint.report import Programs, Report
    from detlint.snapshot import Snapshot

_SEVERITIES = ("error", "warning", "note")
_TOLD_ANEW = ("junit", "html")  # formats that tell of seconds in their midst, or rest on files that are no Python


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--select", multiple=True, metavar="RULES", help="Codes, prefixes or names of rules to check, or ALL.")
@click.option("--ignore", multiple=True, metavar="RULES", help="Codes, prefixes or names of rules to leave out.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Files and folders to leave out.")
@click.option(
    "--context",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Files and folders that are read, too; only what is found in PATHS is shown.",
)
@click.option("--ignore-noqa", is_flag=True, help="Show what comments suppress, too.")
@click.option("--severity", type=click.Choice(_SEVERITIES), help="Show findings of this severity and graver ones.")
@click.option("--breaks", multiple=True, metavar="PROMISE", help="Show what breaks run-to-run, resume, ...")
@click.option("--torch-version", metavar="V", help="The PyTorch version to judge by [default: the project's].")
@click.option("--format", "format_", type=click.Choice(formats.NAMES), default="text", show_default=True)
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
@click.pass_obj
def check(
    arguments: tuple[str, ...] | None,
    paths: tuple[Path, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    exclude: tuple[str, ...],
    context: tuple[Path, ...],
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
    begun, paths = time.time_ns(), paths or (Path(),)
    with clear_errors():
        settings = config.of_run((*context, *paths))
        settings = replace(
            settings,
            select=split(select) or settings.select,
            ignore=settings.ignore + split(ignore),
            exclude=settings.exclude + split(exclude),
            context=context,
            severity=config.severity("--severity", severity) if severity else settings.severity,
            breaks=config.promises("--breaks", split(breaks)) or settings.breaks,
            torch_version=torch_version or settings.torch_version,
            runtime=runtime or settings.runtime,
            cache_dir=None if no_cache else settings.cache_dir,
            comments=not ignore_noqa,
            baseline=baseline or settings.baseline,
        )
        if unsafe_fixes and not (fix or diff):
            raise ConfigError("--unsafe-fixes needs --fix or --diff")
        if statistics and format_ != "text":
            raise ConfigError(f"--statistics counts in text: leave out --format {format_}")
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
            plain = not (fix or verified or evidence or since or record or output or settings.baseline)
            asked = arguments if plain else None
            snapshot = _snapshot(asked, begun, paths, settings, format_)
            shown = judge(report())
            programs = _programs(paths, settings, jobs) if format_ == "html" else None
            said = _said(shown, programs, paths, settings, format_, output, statistics, exit_zero)
            click.echo(said.err, err=True, nl=False)
            write(said.out, output)
            if snapshot is not None and asked is not None and shown.lasting:
                snapshot.keep(asked, said)
            raise SystemExit(said.status)
    raise SystemExit(1 if found and not exit_zero else 0)


def _checked(paths: tuple[Path, ...], settings: Config, jobs: int, since: str | None, record: bool) -> Report:
    from detlint import engine

    with progress_bar() as progress:
        if record and settings.baseline is not None:
            return engine.record(paths, settings.baseline, settings, _torch(settings), jobs, progress)
        return engine.check_paths(paths, settings, _torch(settings), jobs, progress, since)


def _programs(paths: tuple[Path, ...], settings: Config, jobs: int) -> Programs:
    from detlint import engine

    with progress_bar() as progress:
        return engine.entries_of(paths, settings, _torch(settings), jobs, progress)


def _snapshot(
    asked: tuple[str, ...] | None, begun: int, paths: tuple[Path, ...], settings: Config, format_: str
) -> Snapshot | None:
    """What the run is about to look at, where it is one that can be said again."""
    if asked is None or settings.cache_dir is None or format_ in _TOLD_ANEW:
        return None
    from detlint.snapshot import Snapshot

    return Snapshot(paths, settings, settings.cache_dir, begun)


def _said(
    report: Report,
    programs: Programs | None,
    paths: tuple[Path, ...],
    settings: Config,
    format_: str,
    output: Path | None,
    statistics: bool,
    exit_zero: bool,
) -> Said:
    """What is said of a report."""
    color = output is None and sys.stdout.isatty()
    out = formats.render(format_, report, settings, color, statistics, programs)
    err = complaints((*report.errors, *report.notes, *nothing_there(report.files, paths)))
    return Said(out, err, 1 if report.findings and not exit_zero else 0, format_ == "json")


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

    with progress_bar() as progress:
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
