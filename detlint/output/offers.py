"""The fixes that a reader of a report can make without detlint, each as the new texts of its files."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from detlint.editing.vendoring import FILE, has_all
from detlint.finding import Finding, Fix, Import, Safety
from detlint.output.files import Files, Span, Text
from detlint.sources.source import UnreadableError
from detlint.support.records import record

_COPY = PurePosixPath(FILE).stem


@record(frozen=True)
class Replacement:
    """Text that replaces a span."""

    span: Span
    text: str


def offered(finding: Finding, files: Files) -> Mapping[str, str]:
    """Return the new text of each file that a fix changes, with its imports; empty if the fix is not to be offered.

    Offered are safe fixes that `detlint --fix` would make, and that need no file that does not exist yet.
    """
    fix = finding.fix
    if fix is None or fix.safety is not Safety.SAFE or not all(is_there(need, files) for need in fix.imports):
        return {}
    from detlint.analyse import undisturbed
    from detlint.applying import fixer  # it imports the parsers

    with undisturbed():
        return fixer.apply([finding], files.read, files.settings).texts


def by_hand(fix: Fix) -> str:
    """Return how a fix that is not offered is made."""
    if fix.safety is Safety.DISPLAY:
        return f"fix by hand: {fix.title}"
    unsafe = " --unsafe-fixes" if fix.safety is Safety.UNSAFE else ""
    return f"fix with `detlint --fix{unsafe}`: {fix.title}"


def replacements(old: Text, new: str) -> Iterator[Replacement]:
    """Yield what turns one text into another: replacements of disjoint spans of the old one, in order."""
    fresh = Text(new)
    pairs = difflib.SequenceMatcher(None, old.lines, fresh.lines).get_opcodes()
    for tag, first, last, begin, end in pairs:
        if tag == "equal":
            continue
        if first == last == len(old.lines) and first > 0:  # at the end: better placed before the last line's newline
            first, begin = first - 1, begin - 1
        yield _tight(old, old.offset(first + 1, 1), old.offset(last + 1, 1), "".join(fresh.lines[begin:end]))


def _tight(old: Text, start: int, end: int, new: str) -> Replacement:
    """Return a replacement without what its two texts have in common at their ends; no word is cut in two."""
    text = old.text[start:end]
    head, tail = _common(text, new)
    while head and _in_word(text[head - 1]) and any(_in_word(x[head : head + 1]) for x in (text, new)):
        head -= 1
    while tail and _in_word(text[-tail]) and any(_in_word(x[-tail - 1 : -tail]) for x in (text, new)):
        tail -= 1
    return Replacement(old.span(start + head, end - tail), new[head : len(new) - tail])


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _common(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """Return how many items two lists have in common at their beginnings and ends; the ends are counted first."""
    shorter = min(len(one), len(other))
    tail = next((n for n in range(shorter) if one[-n - 1] != other[-n - 1]), shorter)
    head = next((n for n in range(shorter - tail) if one[n] != other[n]), shorter - tail)
    return head, tail


def whole_lines(old: Text, new: str) -> tuple[int, int, str] | None:
    """Return the first and last line that a change touches, and their new text without its last newline.

    The text is never empty, which some tools take for deleted lines and others for an empty line. Return None if that
    cannot be avoided.
    """
    before, after = old.lines, Text(new).lines
    head, tail = _common(before, after)
    while head == len(before) - tail or not _joined(after, head, tail):
        if tail:
            tail -= 1
        elif head:
            head -= 1
        else:
            return None
    return head + 1, len(before) - tail, _joined(after, head, tail)


def _joined(lines: list[str], head: int, tail: int) -> str:
    text = "".join(lines[head : len(lines) - tail])
    return text.removesuffix("\n").removesuffix("\r") if text.endswith(("\n", "\r")) else text


def is_there(need: Import, files: Files) -> bool:
    """Return whether an import finds what it needs; a copy of the runtime must exist, be current, and have it."""
    parts = need.module.lstrip(".").split(".")
    if parts[-1] != _COPY:
        return True
    above = PurePosixPath(need.path).parents
    paths = ((folder / PurePosixPath(*parts)).as_posix() + ".py" for folder in above)
    return any(_has(path, need, files) for path in paths)


def _has(path: str, need: Import, files: Files) -> bool:
    try:
        return has_all(files.read(path), {need.name} if need.name else ())
    except UnreadableError:
        return False
