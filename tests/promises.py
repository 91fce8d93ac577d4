"""What detlint promises of every text, whatever is in it; a promise that is broken is a sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from detlint import catalogue, engine, reading
from detlint.analyse import Source
from detlint.applying import fixer
from detlint.applying.fixer import Outcome, Settings
from detlint.config import Config
from detlint.finding import Edit, Finding, Fix, Safety
from detlint.output.json import render
from detlint.reading.lowering import NotPythonError
from detlint.report import Report
from detlint.sources import notebook
from detlint.sources.source import UnreadableError

CONFIG = Config(select=("ALL",))
_ENDS = re.compile(r"\r\n|\r|\n")
_ALONE = 20  # fixes of one text that are tried each alone, too


def report(item: Source) -> Report:
    """What all rules find in a text alone."""
    return engine.check_sources([item], CONFIG, catalogue.load().newest_release())


def document(item: Source, found: Report) -> str:
    """A report as JSON, which does not tell of seconds."""
    return render(replace(found, seconds=0.0), lambda _: text_of(item))


def text_of(item: Source) -> str:
    """The text of a file without its BOM. Raises UnreadableError."""
    return item.read().removeprefix("\ufeff")


def fixed(path: str, name: str, text: str, unsafe: bool = True) -> Outcome:
    """What comes of all fixes of a text."""

    def check(texts: Any) -> list[Finding]:
        return [judged.finding for judged in report(Source(path, name, texts.get(path, text))).findings]

    return fixer.fix_project(check, {path: text}.__getitem__, Settings(unsafe))


def fixable(found: Report) -> list[Finding]:
    """The findings that have a fix with edits that may be applied."""
    findings = [judged.finding for judged in found.findings]
    return [f for f in findings if f.fix is not None and f.fix.safety is not Safety.DISPLAY and f.fix.edits]


def broken_by_fixes(path: str, name: str, text: str, found: Report) -> Iterator[str]:
    """What the fixes of a text's findings break: alone, together, and a second time."""
    candidates = fixable(found)
    if not candidates:
        return
    for finding in candidates[:: max(1, len(candidates) // _ALONE)]:
        yield from (f"{finding.code} at {finding.place}: {problem}" for problem in _broken_alone(path, text, finding))
    for unsafe in (False, True):
        outcome = fixed(path, name, text, unsafe)
        if not outcome.converged:
            yield f"fixes do not come to an end ({unsafe=})"
        new = next((change.new for change in outcome.changes if change.path == path), text)
        if not _as_whole(path, text, new):
            yield f"the fixed text does not parse ({unsafe=})"
        if fixed(path, name, new, unsafe).changes:
            yield f"fixes change what was fixed ({unsafe=})"


def _broken_alone(path: str, text: str, finding: Finding) -> Iterator[str]:
    """What the fix of one finding breaks."""
    fix = finding.fix and fixer.written_out(finding.fix, partial(fixer.imports, read=lambda _: text))
    applied = fixer.apply([finding], lambda _: text, Settings(unsafe=True))
    if path not in applied.texts or fix is None:
        if any(left.reason == fixer.BAD_EDIT for left in applied.left):
            yield "its edits do not fit"
        return
    new = applied.texts[path]
    if not _as_whole(path, text, new):
        yield "what it gives does not parse"
    if not _kept_around(path, text, new, fix):
        yield "it changes what is outside of its edits"


def _as_whole(path: str, old: str, new: str) -> bool:
    """Whether a text still parses, of a notebook each cell that did."""
    try:
        before, after = notebook.read(path, old), notebook.read(path, new)
        reading.check(after.text)
    except (UnreadableError, NotPythonError):
        return False
    return len(after.broken) <= len(before.broken)


def _kept_around(path: str, old: str, new: str, fix: Fix) -> bool:
    """Whether a text with a fix is the text with just its edits made."""
    before, after = notebook.texts(path, old), notebook.texts(path, new)
    if before.keys() != after.keys() or _without_sources(path, old) != _without_sources(path, new):
        return False
    cells = {cell: [edit for edit in fix.edits if edit.place.cell == cell] for cell in before}
    return all(_made(before[cell], edits) == _unified(after[cell]) for cell, edits in cells.items())


def _made(text: str, edits: Sequence[Edit]) -> str:
    """A text with edits made, with one kind of line end."""
    starts = [0, *(match.end() for match in _ENDS.finditer(text))]
    spans = {
        (starts[e.place.line - 1] + e.place.column - 1, starts[e.place.end_line - 1] + e.place.end_column - 1, e.text)
        for e in edits
    }
    for begin, end, new in sorted(spans, reverse=True):
        text = text[:begin] + new + text[end:]
    return _unified(text)


def _unified(text: str) -> str:
    return _ENDS.sub("\n", text)


def _without_sources(path: str, text: str) -> object:
    """A notebook without the sources of its cells."""

    def stripped(value: Any) -> Any:
        if isinstance(value, list):
            return [stripped(each) for each in value]
        if isinstance(value, dict):
            return {key: stripped(each) for key, each in value.items() if key not in ("source", "input")}
        return value

    return stripped(json.loads(text)) if notebook.is_notebook(path) else None
