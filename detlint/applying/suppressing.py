"""Suppression comments on the lines of findings: `# noqa: DET501`. Nothing but comments changes."""

from __future__ import annotations

import io
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from detlint.applying.fixer import Change, Left
from detlint.applying.rewriting import BadEditError, rewrite
from detlint.finding import Edit, Finding, Place
from detlint.sources import notebook
from detlint.sources.directives import directives
from detlint.sources.magics import mask
from detlint.sources.source import UnreadableError, lines_of
from detlint.sources.suppressions import Coverage, Row, Suppressions, rows_of

NEVER = {  # findings that are not meant to be suppressed, and what to do instead
    "DET000": "a file that is not read cannot say so",
    "DET001": "`detlint --fix` takes the comment out",
}
_UNREAD = "this Python cannot tell where its lines end"
_NO_ROOM = "no comment can stand there"


@dataclass(frozen=True)
class Outcome:
    """The files that change, the findings that their new comments suppress, and those that are left, with reasons."""

    changes: tuple[Change, ...]
    suppressed: tuple[Finding, ...]
    left: tuple[Left, ...]


def suppress(findings: Iterable[Finding], read: Callable[[str], str]) -> Outcome:
    """Put a comment at each finding. `read` returns the text of a file, or raises UnreadableError."""
    changes: list[Change] = []
    done: list[Finding] = []
    left: list[Left] = []
    by_path: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.code in NEVER:
            left.append(Left(finding, NEVER[finding.code]))
        else:
            by_path[finding.place.path].append(finding)
    for path, found in sorted(by_path.items()):
        try:
            old = read(path)
            new = rewrite(path, old, list(_edits(path, old, found)))
        except (UnreadableError, BadEditError) as error:
            left += [Left(finding, str(error)) for finding in found]
            continue
        if not _same_code(path, old, new):
            left += [Left(finding, _UNREAD) for finding in found]
            continue
        covering = Coverage(Suppressions.of(path, notebook.texts(path, new)))
        covered = [finding for finding in found if covering(finding.code, finding.place)]
        done += covered
        left += [Left(finding, _NO_ROOM) for finding in found if finding not in covered]
        changes += [Change(path, old, new)] if new != old else []
    return Outcome(tuple(changes), tuple(done), tuple(left))


def _edits(path: str, text: str, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Yield the edits that put the codes of a file's findings into comments at the ends of their lines."""
    for cell, source in notebook.texts(path, text).items():
        rows = rows_of(cell, source)
        by_line = {line: row for row in rows or () for line in range(row.first, row.last + 1)}
        wanted: dict[Row, set[str]] = defaultdict(set)
        for finding in findings:
            if finding.place.cell == cell and finding.place.line in by_line:
                wanted[by_line[finding.place.line]].add(finding.code)
        lines = lines_of(source)
        for row, codes in wanted.items():
            edit = _edit(lines[row.last - 1], row, sorted(codes))
            if edit is not None:
                start, end, written = edit
                yield Edit(Place(path, row.last, start, row.last, end, cell), written)


def _edit(line: str, row: Row, codes: list[str]) -> tuple[int, int, str] | None:
    """Return the columns where codes go, and how to write them; None where they would not be understood there."""
    if row.comment is None:
        return len(line.rstrip()) + 1, len(line) + 1, f"  # noqa: {', '.join(codes)}"
    column, comment = row.comment
    there = [each for each in directives(comment, False) if each.codes]
    if not there:
        end = len(comment.rstrip())
        return column + end, column + end, f"  # noqa: {', '.join(codes)}"
    end = there[-1].codes[-1][1]
    more = "".join(f", {code}" for code in codes)
    known = [comment[slice(*span)] for each in there for span in each.codes]
    new = comment[:end] + more + comment[end:]
    found = [new[slice(*span)] for each in directives(new, False) for span in each.codes]
    return (column + end, column + end, more) if found == known + codes else None


def _same_code(path: str, old: str, new: str) -> bool:
    """Return whether two texts of a file are the same except for comments and trailing spaces."""
    before, after = notebook.texts(path, old), notebook.texts(path, new)
    changed = [cell for cell in before if before[cell] != after.get(cell)]
    try:
        return before.keys() == after.keys() and all(
            _tokens(cell, before[cell]) == _tokens(cell, after[cell]) for cell in changed
        )
    except (tokenize.TokenError, SyntaxError):
        return False


def _tokens(cell: int | None, text: str) -> list[tuple[int, str]]:
    """Return the tokens of a text without comments; for a notebook's cell, those of its Python."""
    masked = None if cell is None else mask(text)
    python = text if masked is None else "".join(line.text for line in masked)
    found = tokenize.generate_tokens(io.StringIO(python, newline=None).readline)
    return [(token.type, token.string) for token in found if token.type != tokenize.COMMENT]
