"""`detlint check`: findings shown, fixed, recorded."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from detlint import catalogue, config
from detlint.cache.remembered import Said
from detlint.commands.completing import rules
from detlint.commands.sections import Sectioned
from detlint.commands.terminal import (
    clear_errors,
    complaints,
    in_color,
    nothing_there,
    progress_bar,
    split,
    write,
    write_bytes,
)
from detlint.config import Config, ConfigError
from detlint.output import formats

if TYPE_CHECKING:
    from packaging.version import Version

    from detlint.cache.snapshot import Snapshot
    from detlint.fixing import Fixed
    from detlint.report import Programs, Report

_SEVERITIES = ("error", "warning", "note")
_FORMATS = ", ".join(formats.NAMES)
_SECTIONS = {
    "Checked": (
        "--select",
        "--ignore",
        "--exclude",
        "--respect-gitignore",
        "--no-respect-gitignore",
        "--context",
        "--torch-version",
    ),
    "Shown": ("--severity", "--breaks", "--changed-since", "--baseline", "--write-baseline", "--ignore-noqa"),
    "Report": ("--format", "--output", "--statistics", "--exit-zero"),
    "Fixes": ("--fix", "--diff", "--unsafe-fixes", "--runtime"),
    "Measured": ("--verify", "--device", "--evidence"),
    "Run": ("--jobs", "--no-cache"),
}
_TOLD_ANEW = ("junit", "html")  # formats that tell of seconds in their midst, or rest on files that are no Python


@click.command(cls=Sectioned, sections=_SECTIONS)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--select", multiple=True, metavar="RULES", shell_complete=rules, help="codes, prefixes or names, or ALL")
@click.option("--ignore", multiple=True, metavar="RULES", shell_complete=rules, help="leave these rules out")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="leave these files and folders out")
@click.option("--respect-gitignore", is_flag=True, hidden=True)
@click.option("--no-respect-gitignore", is_flag=True, help="read what git ignores, too")
@click.option("--context", multiple=True, type=click.Path(path_type=Path), help="read this, too, but only read it")
@click.option("--torch-version", metavar="V", help="judge by this PyTorch [the one the project requires]")
@click.option("--severity", type=click.Choice(_SEVERITIES), metavar="LEVEL", help="error, warning or note, and graver")
@click.option("--breaks", multiple=True, metavar="PROMISE", help="what breaks this: run-to-run, resume, cross-version")
@click.option("--changed-since", "since", metavar="REV", help="what came with the change since this git revision")
@click.option(
    "--baseline", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="what this does not record"
)
@click.option("--write-baseline", "record", is_flag=True, help="record all that is found in the baseline")
@click.option("--ignore-noqa", is_flag=True, help="what comments suppress, too")
@click.option(
    "--format", "format_", type=click.Choice(formats.NAMES), default="text", metavar="NAME", help=f"{_FORMATS} [text]"
)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="write it to this file")
@click.option("--statistics", is_flag=True, help="count findings by rule")
@click.option("--exit-zero", is_flag=True, help="exit with status 0 even where there are findings")
@click.option("--fix", is_flag=True, help="fix what can be fixed safely, in place")
@click.option("--diff", is_flag=True, help="print the fixes as a patch and change nothing")
@click.option("--unsafe-fixes", is_flag=True, help="also fixes that may slow down or change results")
@click.option(
    "--runtime",
    type=click.Choice(config.RUNTIMES),
    metavar="HOW",
    help="auto, vendor, import or inline the functions of fixes",
)
@click.option("--verify", "verified", is_flag=True, help="run the operations that findings name on a device")
@click.option("--device", default="cuda", metavar="NAME", help="cuda, cuda:1, cpu, mps, xpu [cuda]")
@click.option(
    "--evidence",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    metavar="PATH",
    help="show what `detlint verify` measured elsewhere",
)
@click.option("--jobs", type=click.IntRange(min=0), metavar="N", default=0, help="processes [one a core]")
@click.option("--no-cache", is_flag=True, help="neither use nor keep what runs find")
@click.pass_obj
def check(
    arguments: tuple[str, ...] | None,
    paths: tuple[Path, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    exclude: tuple[str, ...],
    respect_gitignore: bool,
    no_respect_gitignore: bool,
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

    `detlint help check` says more. Exit status: 0 nothing found, 1 findings, 2 the run itself failed.
    """
    begun, paths = time.time_ns(), paths or (Path(),)
    with clear_errors():
        settings = config.of_run((*context, *paths))
        _refuse_unknown_rules(settings, (*context, *paths)[0])
        settings = replace(
            settings,
            select=split(select) or settings.select,
            ignore=settings.ignore + split(ignore),
            exclude=settings.exclude + split(exclude),
            respect_gitignore=(settings.respect_gitignore or respect_gitignore) and not no_respect_gitignore,
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
                snapshot.keep(asked, said, shown.documents)
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
    from detlint.cache.snapshot import Snapshot

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
    color = output is None and in_color()
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
    from detlint.verify.session import SECONDS, Settings

    try:
        if device is None:
            return verifying.with_evidence(report, read_all(evidence))
        shown, held = verifying.verify_report(report, Settings(device, stops=True, seconds=SECONDS))
    except (EvidenceError, StartError) as error:
        raise ConfigError(f"nothing was confirmed: {error}") from None
    if held is not None and held.complaint:
        click.echo(complaints([f"nothing is confirmed or refuted: {held.complaint}"]), err=True, nl=False)
    if held is not None and held.interrupted:
        click.echo("detlint: interrupted: verdicts rest on what was counted until then", err=True)
    return shown


def _torch(settings: Config) -> Version:
    """The version to judge by."""
    return config.target_torch(settings.torch_version, settings.root, catalogue.load())


def _refuse_unknown_rules(settings: Config, path: Path) -> None:
    """Raise ConfigError where the settings that were found from `path` name a rule that there is not."""
    ignores = {f"per-file-ignores.{pattern}": selectors for pattern, selectors in settings.per_file_ignores.items()}
    for key, selectors in {"select": settings.select, "ignore": settings.ignore, **ignores}.items():
        for selector in selectors:
            try:
                catalogue.load().matching(selector)
            except catalogue.CatalogueError as error:
                found = config.find(path)
                raise ConfigError(f"{found[0] if found else path}: {key}: {error}") from None


def _fixed(paths: tuple[Path, ...], settings: Config, jobs: int, unsafe: bool, since: str | None) -> Fixed:
    from detlint import fixing

    with progress_bar() as progress:
        return fixing.fix_paths(paths, settings, _torch(settings), unsafe, jobs, progress, since)


def _written(fixed: Callable[[], Fixed]) -> Report:
    """Write what fixes change, tell of it, and report what is left."""
    made = fixed()
    problems = made.files.write(made.outcome.changes)
    _tell_of_fixes(made, problems)
    return made.report


def _tell_of_fixes(made: Fixed, problems: Mapping[str, str]) -> None:
    """What was fixed, what was left and why. `problems` say by path what could not be written."""
    from detlint.output import fixes

    told = fixes.lines(made.outcome, problems, made.programs)
    click.echo(complaints((*problems.values(), *told)), err=True, nl=False)
    if problems or not made.outcome.converged:
        raise SystemExit(2)


def _diff(fixed: Fixed, output: Path | None) -> bool:
    """Print what fixes would change, new files last: they are long, and not the user's own; whether anything."""
    from detlint.applying import patch

    changes = sorted(fixed.outcome.changes, key=lambda change: change.old is None)
    text = b"".join(patch.diff(change.path, *fixed.files.contents(change)) for change in changes)
    write_bytes(text, output)
    click.echo(complaints(fixed.report.notes), err=True, nl=False)
    _tell_of_fixes(fixed, {})
    return bool(text)
