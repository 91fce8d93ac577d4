"""The options of `detlint check`: how each is given, its help, and all of them as one record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from detlint import config
from detlint.commands.completing import rules
from detlint.commands.terminal import OneOf
from detlint.output import formats

F = TypeVar("F", bound=Callable[..., Any])
_SEVERITIES = ("error", "warning", "note")
_FORMATS = ", ".join(formats.NAMES)
_PATH = click.Path(path_type=Path)
_FILE = click.Path(path_type=Path, dir_okay=False)
SECTIONS = {
    "Checked": (
        "--select",
        "--extend-select",
        "--ignore",
        "--extend-ignore",
        "--exclude",
        "--respect-gitignore",
        "--no-respect-gitignore",
        "--context",
        "--stdin-filename",
        "--torch-version",
        "--config",
        "--isolated",
    ),
    "Shown": ("--severity", "--breaks", "--changed-since", "--baseline", "--write-baseline", "--ignore-noqa"),
    "Report": ("--format", "--output", "--statistics", "--exit-zero", "--quiet", "--verbose"),
    "Instead": ("--show-files", "--show-settings"),
    "Fixes": ("--fix", "--diff", "--unsafe-fixes", "--runtime", "--add-noqa"),
    "Measured": ("--verify", "--device", "--evidence"),
    "Run": ("--watch", "--jobs", "--no-cache"),
}
_GIVEN = (
    click.argument("paths", nargs=-1, type=_PATH),
    click.option(
        "--select", multiple=True, metavar="RULES", shell_complete=rules, help="codes, prefixes or names, or ALL"
    ),
    click.option("--extend-select", multiple=True, metavar="RULES", shell_complete=rules, help="look for these, too"),
    click.option("--ignore", multiple=True, metavar="RULES", shell_complete=rules, help="leave these rules out"),
    click.option("--extend-ignore", multiple=True, metavar="RULES", shell_complete=rules, hidden=True),
    click.option(
        "--exclude", "--extend-exclude", multiple=True, metavar="PATTERN", help="leave these files and folders out"
    ),
    click.option("--respect-gitignore", is_flag=True, hidden=True),
    click.option("--no-respect-gitignore", is_flag=True, help="read what git ignores, too"),
    click.option("--context", multiple=True, type=_PATH, help="read this, too, but only read it"),
    click.option("--stdin-filename", type=_PATH, metavar="FILE", help="what `-`, standard input, is the text of"),
    click.option("--torch-version", metavar="V", help="judge by this PyTorch [the one the project requires]"),
    click.option("--config", "file", type=_PATH, metavar="FILE", help="take settings from this file"),
    click.option("--isolated", is_flag=True, help="read no file of settings"),
    click.option("--severity", type=OneOf(_SEVERITIES), metavar="LEVEL", help="error, warning or note, and graver"),
    click.option(
        "--breaks", multiple=True, metavar="PROMISE", help="what breaks this: run-to-run, resume, cross-version"
    ),
    click.option("--changed-since", "since", metavar="REV", help="what came with the change since this git revision"),
    click.option("--baseline", type=_FILE, metavar="FILE", help="what this does not record"),
    click.option("--write-baseline", "record", is_flag=True, help="record all that is found in the baseline"),
    click.option("--ignore-noqa", is_flag=True, help="what comments suppress, too"),
    click.option(
        "--format",
        "--output-format",
        "format_",
        type=OneOf(formats.NAMES),
        default="text",
        metavar="NAME",
        help=f"{_FORMATS} [text]",
    ),
    click.option("--output", "--output-file", "-o", type=_FILE, metavar="FILE", help="write it to this file"),
    click.option("--statistics", is_flag=True, help="count findings by rule"),
    click.option("--exit-zero", "-e", is_flag=True, help="exit with status 0 even where there are findings"),
    click.option("--quiet", "-q", is_flag=True, help="print findings, and nothing else"),
    click.option("--verbose", "-v", is_flag=True, help="say which settings and files a run takes"),
    click.option("--show-files", is_flag=True, help="list the files that would be checked"),
    click.option("--show-settings", is_flag=True, help="print the settings that would be in force"),
    click.option("--fix", is_flag=True, help="fix what can be fixed safely, in place"),
    click.option("--diff", is_flag=True, help="print the fixes as a patch and change nothing"),
    click.option("--unsafe-fixes", is_flag=True, help="also fixes that may slow down or change results"),
    click.option(
        "--runtime",
        type=OneOf(config.RUNTIMES),
        metavar="HOW",
        help="auto, vendor, import or inline the functions of fixes",
    ),
    click.option("--add-noqa", is_flag=True, help="put comments that suppress at what is found"),
    click.option("--verify", "verified", is_flag=True, help="run the operations that findings name on a device"),
    click.option("--device", default="cuda", metavar="NAME", help="cuda, cuda:1, cpu, mps, xpu [cuda]"),
    click.option(
        "--evidence",
        multiple=True,
        type=click.Path(path_type=Path, exists=True),
        metavar="PATH",
        help="show what `detlint verify` measured elsewhere",
    ),
    click.option("--watch", "-w", is_flag=True, help="check again whenever something changes"),
    click.option("--jobs", type=click.IntRange(min=0), metavar="N", default=0, help="processes [one a core]"),
    click.option("--no-cache", "-n", is_flag=True, help="neither use nor keep what runs find"),
)


@dataclass(frozen=True)
class Options:
    """What a run of `detlint check` was asked for, as given; `file` is the value of --config."""

    paths: tuple[Path, ...]
    select: tuple[str, ...]
    extend_select: tuple[str, ...]
    ignore: tuple[str, ...]
    extend_ignore: tuple[str, ...]
    exclude: tuple[str, ...]
    respect_gitignore: bool
    no_respect_gitignore: bool
    context: tuple[Path, ...]
    stdin_filename: Path | None
    torch_version: str | None
    file: Path | None
    isolated: bool
    severity: str | None
    breaks: tuple[str, ...]
    since: str | None
    baseline: Path | None
    record: bool
    ignore_noqa: bool
    format_: str
    output: Path | None
    statistics: bool
    exit_zero: bool
    quiet: bool
    verbose: bool
    show_files: bool
    show_settings: bool
    fix: bool
    diff: bool
    unsafe_fixes: bool
    runtime: str | None
    add_noqa: bool
    verified: bool
    device: str
    evidence: tuple[Path, ...]
    watch: bool
    jobs: int
    no_cache: bool

    @property
    def changes(self) -> bool:
        """Whether files are to be changed, or a patch to be shown."""
        return self.fix or self.diff or self.add_noqa


def with_options(command: F) -> F:
    """Add these options and arguments to a command."""
    for each in reversed(_GIVEN):
        command = each(command)
    return command
