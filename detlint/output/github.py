"""The output of `--format github`: workflow commands, which GitHub Actions shows as annotations of the lines.

How values are escaped: https://github.com/actions/toolkit, `packages/core/src/command.ts`.
"""

from __future__ import annotations

from detlint.finding import Severity
from detlint.output.files import Files
from detlint.output.words import related, remarks
from detlint.report import Judged, Report
from detlint.support.printed import printable

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: Report, files: Files) -> str:
    """Return a command for each finding; an empty string if there are none."""
    return "".join(f"{_command(judged, files)}\n" for judged in report.findings)


def _command(judged: Judged, files: Files) -> str:
    finding = judged.finding
    span = files.span(finding.place)
    properties = {
        "title": f"detlint ({finding.code})",
        "file": files.name(finding.place.path),
        "line": span.line,
        "endLine": span.end_line,
    }
    if span.line == span.end_line:  # GitHub rejects columns for a span of several lines
        properties |= {"col": span.column, "endColumn": span.end_column}
    told = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    message = "\n".join((finding.message, *related(finding), *remarks(judged)))
    return f"::{_COMMANDS[judged.severity]} {told}::{_data(message)}"


def _data(text: str) -> str:
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
