"""`detlint check` where it changes files: it writes fixes, shows them as a patch, or inserts suppression comments.

A text from standard input goes to standard output, changed or not, and messages go to standard error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from detlint.commands.choosing import Chosen
from detlint.commands.options import Options
from detlint.commands.terminal import complaints, progress_bar, write_bytes
from detlint.output.words import count, where

if TYPE_CHECKING:
    from detlint.applying.fixer import Change
    from detlint.applying.writing import Files
    from detlint.fixing import Fixed
    from detlint.listing import Buffer
    from detlint.report import Report


def fixed(chosen: Chosen, options: Options) -> Fixed:
    """Return the files as fixes would change them, in memory."""
    from detlint import fixing

    with progress_bar(options.quiet) as progress:
        return fixing.fix_paths(
            chosen.paths,
            chosen.settings,
            chosen.torch,
            options.unsafe_fixes,
            options.jobs,
            progress,
            options.since,
            chosen.given,
        )


def written(made: Fixed, chosen: Chosen, options: Options) -> Report:
    """Write what fixes change, print what was fixed, and return the report of what is left."""
    _tell_of_fixes(made, _put(made.files, made.outcome.changes, chosen.given), options.quiet)
    return made.report


def show_patch(made: Fixed, options: Options) -> bool:
    """Print what fixes would change, new files last since they are long and not the user's; return whether any."""
    from detlint.applying import patch

    changes = sorted(made.outcome.changes, key=lambda change: change.old is None)
    text = b"".join(patch.diff(change.path, *made.files.contents(change)) for change in changes)
    write_bytes(text, options.output)
    if not options.quiet:
        click.echo(complaints(made.report.notes), err=True, nl=False)
    _tell_of_fixes(made, {}, options.quiet)
    return bool(text)


def _tell_of_fixes(made: Fixed, problems: Mapping[str, str], quiet: bool) -> None:
    """Print what was fixed, what was left and why; `problems` says by path what could not be written.

    Raises SystemExit(2) if there are problems, or if the fixes do not converge.
    """
    from detlint.output import fixes

    told = () if quiet else fixes.lines(made.outcome, problems, made.programs)
    click.echo(complaints((*problems.values(), *told)), err=True, nl=False)
    if problems or not made.outcome.converged:
        raise SystemExit(2)


def suppressed(report: Report, chosen: Chosen, options: Options) -> bool:
    """Insert suppression comments for a report's findings, and return whether any finding is left without one.

    Raises SystemExit(2) if a file cannot be written.
    """
    from detlint.applying.suppressing import suppress
    from detlint.applying.writing import Files

    given = chosen.given
    paths = {judged.finding.place.path for judged in report.findings}
    known = {path: given.content for path in paths if given is not None and given.is_at(Path(path))}
    folders = [chosen.settings.root, *(path if path.is_dir() else path.parent for path in chosen.paths)]
    files = Files(folders, known)
    made = suppress([judged.finding for judged in report.findings], files.read)
    problems = _put(files, made.changes, given)
    left = [f"{where(each.finding.place)}: {each.finding.code} not suppressed: {each.reason}" for each in made.left]
    done = [finding for finding in made.suppressed if finding.place.path not in problems]
    said = f"suppressed {count(len(done), 'finding')} in {count(len({each.place.path for each in done}), 'file')}"
    lines = (*problems.values(), *left, *(() if options.quiet else (said,)))
    click.echo(complaints(lines), err=True, nl=False)
    if problems:
        raise SystemExit(2)
    return bool(left)


def _put(files: Files, changes: Sequence[Change], given: Buffer | None) -> Mapping[str, str]:
    """Write what changed, or print it if it came from standard input; return by path why a file was not written."""
    if given is None:
        return files.write(changes)
    new = [files.contents(change)[1] for change in changes]
    write_bytes(new[0] if new else given.content, None)
    return {}
