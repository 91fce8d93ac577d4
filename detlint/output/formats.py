"""The formats of a report by name, each imported where it is chosen."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from detlint.applying.fixer import Settings
    from detlint.config import Config
    from detlint.report import Programs, Report

NAMES = ("text", "json", "sarif", "github", "gitlab", "rdjson", "junit", "html")  # each a module beside this one
_OTHERS = ("text", "github", "junit", "html")  # that are no JSON


def render(
    name: str,
    report: Report,
    config: Config,
    color: bool = False,
    statistics: bool = False,
    programs: Programs | None = None,
) -> str:
    """The report in one format; `color` and `statistics` are for text alone, the entry points for HTML.

    What UTF-8 cannot hold, as the names of some files, is escaped.
    """
    from detlint.output.files import Files
    from detlint.printed import in_json

    files = Files(lambda: _settings(config))
    if name == "text":
        from detlint.output import text

        shown = text.render(report, files.texts, color, statistics)
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
