"""The formats of a report by name; each module is imported only when its format is chosen."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from detlint.applying.fixer import Settings
    from detlint.config import Config
    from detlint.listing import Buffer
    from detlint.report import Programs, Report

_TEXTS = ("text", "concise", "grouped")  # for people in a terminal, all in one module
_OTHERS = (*_TEXTS, "github", "junit", "html")  # those that are not JSON
NAMES = (*_TEXTS, "json", "sarif", "github", "gitlab", "rdjson", "junit", "html")  # the others are one module each


def render(
    name: str,
    report: Report,
    config: Config,
    color: bool = False,
    statistics: bool = False,
    programs: Programs | None = None,
    summary: bool = True,
    given: Buffer | None = None,
) -> str:
    """Return the report in one format.

    `color`, `statistics` and `summary`, which adds a last line with totals, apply to the text formats only; the entry
    points apply to HTML only. The content of `given` takes precedence over the file on disk. What UTF-8 cannot encode,
    such as the names of some files, is escaped.
    """
    from detlint.output.files import Files
    from detlint.support.printed import in_json

    files = Files(lambda: _settings(config), given)
    if name in _TEXTS:
        from detlint.output import text

        shown = text.render(report, files.texts, color, "statistics" if statistics else name, summary)
    elif name == "json":
        from detlint.output import json

        shown = json.render(report, files.read, config.cache_dir)
    elif name == "html":
        from detlint.output import html

        shown = html.render(report, files, programs)
    else:
        shown = import_module(f"detlint.output.{name}").render(report, files)
    shown = shown if name in _OTHERS else in_json(shown)
    shown += "" if not shown or shown.endswith("\n") else "\n"
    return shown.encode("utf-8", "backslashreplace").decode()


def _settings(config: Config) -> Settings:
    from detlint import fixing

    return fixing.settings_of(config)
