"""The paths and settings of a run of `detlint check`, from its options and from the files of the project."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from packaging.version import Version

from detlint import catalogue, config
from detlint.analyse import UNPARSED
from detlint.commands.options import Options
from detlint.commands.terminal import split
from detlint.config import Config, ConfigError
from detlint.listing import Buffer
from detlint.support.printed import one_line

_STDIN = Path("-")
_APART = {  # what an option does, and the options that it conflicts with
    "--write-baseline": ("records what is there", ("--fix", "--diff", "--add-noqa", "--changed-since")),
    "--add-noqa": ("suppresses what is found", ("--fix", "--diff", "--ignore-noqa")),
    "--show-files": ("checks nothing", ("--show-settings", "--fix", "--diff", "--add-noqa", "--write-baseline")),
    "--show-settings": ("checks nothing", ("--fix", "--diff", "--add-noqa", "--write-baseline")),
    "--watch": ("checks again and again", ("--show-files", "--show-settings", "--add-noqa", "--write-baseline")),
    "--quiet": ("says less", ("--verbose",)),
    "--isolated": ("reads no settings", ("--config",)),
    "`-`": ("is standard input", ("--watch", "--show-files", "--write-baseline")),
}


@dataclass(frozen=True)
class Chosen:
    """The paths of a run, its settings and, if it reads standard input, what was read."""

    paths: tuple[Path, ...]
    settings: Config
    given: Buffer | None = None

    @cached_property
    def torch(self) -> Version:
        """The version of PyTorch to judge by."""
        return config.target_torch(self.settings.torch_version, self.settings.root, catalogue.load())


def choose(options: Options) -> Chosen:
    """Return what the options and settings files ask for. Raises ConfigError or CatalogueError if they are wrong."""
    _refuse(options)
    given = _given(options)
    paths = options.paths or (Path(),) if given is None else (given.path,)
    if given is None:
        settings = config.of_run((*options.context, *paths), options.file, options.isolated)
    else:
        settings = config.of_path(given.path, options.file, options.isolated)
    first = (*options.context, *paths)[0]
    _refuse_unknown_rules(settings, options.file or (config.find(first) or (first,))[0])
    settings = replace(
        settings,
        select=config.extended(
            _rules("--select", options.select) or settings.select, _rules("--extend-select", options.extend_select)
        ),
        ignore=settings.ignore + _rules("--ignore", (*options.ignore, *options.extend_ignore)),
        exclude=settings.exclude + split(options.exclude),
        respect_gitignore=(settings.respect_gitignore or options.respect_gitignore)
        and not options.no_respect_gitignore,
        context=options.context or _project(given, settings),
        severity=config.severity("--severity", options.severity) if options.severity else settings.severity,
        breaks=config.promises("--breaks", _asked("--breaks", options.breaks)) or settings.breaks,
        torch_version=options.torch_version or settings.torch_version,
        runtime=options.runtime or settings.runtime,
        cache_dir=None if options.no_cache else settings.cache_dir,
        comments=not options.ignore_noqa,
        baseline=options.baseline or settings.baseline,
    )
    if options.record and settings.baseline is None:
        raise ConfigError("--write-baseline needs a file: give --baseline FILE, or `baseline` in the settings")
    return Chosen(paths, settings, given)


def remarks(chosen: Chosen) -> Iterator[str]:
    """Yield remarks on settings that look like a mistake."""
    if not catalogue.load().choose(chosen.settings.select, chosen.settings.ignore) - {UNPARSED}:
        yield "no rule is left: `select` and `ignore`, of the options and the settings, leave out all"


def _refuse(options: Options) -> None:
    """Raise ConfigError for options that conflict."""
    if options.unsafe_fixes and not (options.fix or options.diff):
        raise ConfigError("--unsafe-fixes needs --fix or --diff")
    if options.statistics and options.format_ != "text":
        raise ConfigError(f"--statistics counts in text: leave out --format {options.format_}")
    asked = {
        "`-`": _is_stdin(options),
        "--add-noqa": options.add_noqa,
        "--changed-since": options.since is not None,
        "--config": options.file is not None,
        "--diff": options.diff,
        "--fix": options.fix,
        "--ignore-noqa": options.ignore_noqa,
        "--isolated": options.isolated,
        "--quiet": options.quiet,
        "--show-files": options.show_files,
        "--show-settings": options.show_settings,
        "--verbose": options.verbose,
        "--watch": options.watch,
        "--write-baseline": options.record,
    }
    for name, (does, others) in _APART.items():
        other = next((each for each in others if asked[each]), None)
        if asked[name] and other is not None:
            raise ConfigError(f"{name} {does}: not with {other}")


def _is_stdin(options: Options) -> bool:
    return options.stdin_filename is not None or _STDIN in options.paths


def _given(options: Options) -> Buffer | None:
    """Return what standard input holds; None if it is not to be read. Raises ConfigError."""
    if not _is_stdin(options):
        return None
    others = [path for path in options.paths if path != _STDIN]
    if others:
        raise ConfigError(f"`-` is standard input, which is checked by itself: not with {others[0]}")
    named = options.stdin_filename
    if named is not None and named.is_dir():
        raise ConfigError(f"--stdin-filename: {named} is a folder; name a file, which need not be there")
    content = b"" if options.show_settings else sys.stdin.buffer.read()
    return Buffer(named or _STDIN, content)


def _project(given: Buffer | None, settings: Config) -> tuple[Path, ...]:
    """Return the project to look at a text in: the one around the file that the text belongs to."""
    if given is None or given.path == _STDIN:
        return ()
    if not config.is_root(settings.root) and config.find(given.path) is None:
        return ()
    from detlint.workspace import shown

    return (Path(shown(settings.root)),)


def _asked(option: str, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values of an option. Raises ConfigError if the option is given without any."""
    found = split(values)
    if values and not found:
        raise ConfigError(f"{option} is given nothing; name something, or leave it out")
    return found


def _rules(option: str, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the selectors of an option. Raises ConfigError if it is empty, or if one selects no rule."""
    found = _asked(option, values)
    for selector in found:
        try:
            catalogue.load().matching(selector)
        except catalogue.CatalogueError as error:
            raise ConfigError(f"{option}: {error}") from None
    return found


def _refuse_unknown_rules(settings: Config, file: Path) -> None:
    """Raise ConfigError if the settings in a file name a rule that does not exist."""
    ignores = {f"per-file-ignores.{pattern}": selectors for pattern, selectors in settings.per_file_ignores.items()}
    for key, selectors in {"select": settings.select, "ignore": settings.ignore, **ignores}.items():
        for selector in selectors:
            try:
                catalogue.load().matching(selector)
            except catalogue.CatalogueError as error:
                raise ConfigError(f"{file}: {key}: {error}") from None


def told(chosen: Chosen, options: Options) -> Iterator[str]:
    """Yield what a verbose run prints before it begins."""
    settings = chosen.settings
    yield f"settings: {one_line(str(file_of(chosen, options) or 'none'))}"
    yield f"project: {one_line(str(settings.root.absolute()))}"
    yield f"PyTorch: {chosen.torch}"
    yield f"rules: {len(catalogue.load().choose(settings.select, settings.ignore))}"
    yield f"cache: {one_line(str(settings.cache_dir or 'none'))}"


def file_of(chosen: Chosen, options: Options) -> Path | None:
    """Return the file that settings come from; None if there is none."""
    if options.isolated:
        return None
    found = config.find((*options.context, *chosen.paths)[0])
    return options.file or (None if found is None else found[0])
