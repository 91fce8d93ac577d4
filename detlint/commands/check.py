"""`detlint check`: findings shown, fixed, recorded."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from detlint.cache.remembered import Said
from detlint.commands import changing, showing
from detlint.commands.choosing import Chosen, choose, remarks, told
from detlint.commands.options import SECTIONS, Options, with_options
from detlint.commands.sections import Sectioned
from detlint.commands.terminal import clear_errors, complaints, in_color, nothing_there, progress_bar, write
from detlint.config import ConfigError
from detlint.output import formats

if TYPE_CHECKING:
    from detlint.cache.snapshot import Snapshot
    from detlint.report import Programs, Report

_TOLD_ANEW = ("junit", "html")  # formats that include run times, or depend on files that are not Python


@click.command(cls=Sectioned, sections=SECTIONS)
@with_options
@click.pass_obj
def check(arguments: tuple[str, ...] | None, /, **given: Any) -> None:
    """Check files and folders (the default command).

    `-` is standard input. `detlint help check` says more. Exit status: 0 nothing found, 1 findings, 2 the run failed.
    """
    options = Options(**given)
    with clear_errors():
        begun = time.time_ns()
        chosen = choose(options)
        if options.show_files:
            showing.show_files(chosen, options)
        elif options.show_settings:
            showing.show_settings(chosen, options)
        elif options.watch:
            from detlint.commands.watching import watch

            watch(options, chosen, run)
        else:
            raise SystemExit(run(chosen, options, arguments, begun)[0])


def run(
    chosen: Chosen, options: Options, arguments: tuple[str, ...] | None = None, begun: int = 0
) -> tuple[int, Mapping[str, str]]:
    """Make a run, and return its exit status and the configuration files that it looked at.

    The output is kept under `arguments` if the same run may be replayed. The run looks at files from `begun` on, in
    nanoseconds since 1970.
    """
    said_before = (*remarks(chosen), *(told(chosen, options) if options.verbose else ()))
    click.echo("" if options.quiet else complaints(said_before), err=True, nl=False)
    if options.diff:
        made = changing.fixed(chosen, options)
        found = changing.show_patch(made, options)
        return 1 if found and not options.exit_zero else 0, made.report.documents
    plain = not (
        options.fix
        or options.add_noqa
        or options.verified
        or options.evidence
        or options.since
        or options.record
        or options.output
        or options.verbose
        or chosen.given
        or chosen.settings.baseline
        or said_before
    )
    asked = arguments if plain else None
    snapshot = _snapshot(asked, begun, chosen, options)
    report = _verified(_report(chosen, options), options)
    if options.add_noqa:
        left = changing.suppressed(report, chosen, options)
        return 1 if left and not options.exit_zero else 0, report.documents
    said = _said(report, _programs(chosen, options) if options.format_ == "html" else None, chosen, options)
    click.echo(said.err, err=True, nl=False)
    if options.fix and chosen.given is not None and options.output is None:
        click.echo(said.out, err=True, nl=False)  # standard output has the fixed text
    else:
        write(said.out, options.output)
    if snapshot is not None and asked is not None and report.lasting:
        snapshot.keep(asked, said, report.documents)
    return said.status, report.documents


def _report(chosen: Chosen, options: Options) -> Report:
    """Return the report of what is found or, where files are fixed, of what is left."""
    from detlint import engine

    paths, settings, torch = chosen.paths, chosen.settings, chosen.torch
    if options.fix:
        return changing.written(changing.fixed(chosen, options), chosen, options)
    with progress_bar(options.quiet) as progress:
        if options.record and settings.baseline is not None:
            return engine.record(paths, settings.baseline, settings, torch, options.jobs, progress)
        report = engine.check_paths(paths, settings, torch, options.jobs, progress, options.since, chosen.given)
    if options.verbose:
        took = f"{report.files} files, {report.entry_points} entry points, {report.seconds:.1f} s"
        click.echo(complaints([took]), err=True, nl=False)
    return report


def _programs(chosen: Chosen, options: Options) -> Programs:
    from detlint import engine

    with progress_bar(options.quiet) as progress:
        return engine.entries_of(chosen.paths, chosen.settings, chosen.torch, options.jobs, progress, chosen.given)


def _snapshot(asked: tuple[str, ...] | None, begun: int, chosen: Chosen, options: Options) -> Snapshot | None:
    """Return a snapshot of what the run is about to look at; None if the run cannot be replayed."""
    if asked is None or chosen.settings.cache_dir is None or options.format_ in _TOLD_ANEW:
        return None
    from detlint.cache.snapshot import Snapshot

    return Snapshot(chosen.paths, chosen.settings, chosen.settings.cache_dir, begun)


def _said(report: Report, programs: Programs | None, chosen: Chosen, options: Options) -> Said:
    """Return what a run prints for a report, with its exit status."""
    color = options.output is None and in_color()
    form, counted, summary = options.format_, options.statistics, not options.quiet
    out = formats.render(form, report, chosen.settings, color, counted, programs, summary, chosen.given)
    notes = () if options.quiet else (*report.notes, *nothing_there(report.files, chosen.paths))
    err = complaints((*report.errors, *notes))
    return Said(out, err, 1 if report.findings and not options.exit_zero else 0, form == "json")


def _verified(report: Report, options: Options) -> Report:
    """Return the report with what its operations did on a device or elsewhere; unchanged if neither is asked for.

    Raises ConfigError if nothing could be confirmed.
    """
    if not options.verified and not options.evidence:
        return report
    from detlint import verifying
    from detlint.verify.evidence import EvidenceError, read_all
    from detlint.verify.pool import StartError
    from detlint.verify.session import SECONDS, Settings

    try:
        if not options.verified:
            return verifying.with_evidence(report, read_all(options.evidence))
        shown, held = verifying.verify_report(report, Settings(options.device, stops=True, seconds=SECONDS))
    except (EvidenceError, StartError) as error:
        raise ConfigError(f"nothing was confirmed: {error}") from None
    if held is not None and held.complaint:
        click.echo(complaints([f"nothing is confirmed or refuted: {held.complaint}"]), err=True, nl=False)
    if held is not None and held.interrupted:
        click.echo("detlint: interrupted: verdicts rest on what was counted until then", err=True)
    return shown
