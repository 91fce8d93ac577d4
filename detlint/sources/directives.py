"""The directives in the text of a comment: `# noqa`, `# detlint: noqa`, `# detlint: off` and `# detlint: on`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

Span = tuple[int, int]

_CODE = r"(?:[A-Z]+[0-9]+|DET\b)"
# After a space alone a code is in capitals: `DET301 fp16 only` is one code and a reason.
_CODES = rf"(?P<codes>{_CODE}(?:[\s,]*,[\s,]*{_CODE}|\s+(?-i:{_CODE})\b)*)"
_NOQA = re.compile(rf"#\s*noqa\b(?:\s*:\s*{_CODES})?", re.IGNORECASE)
_OWN = re.compile(rf"#\s*detlint\s*:\s*(?P<word>noqa|off|on)\b(?:\s*:?\s*{_CODES}(?!\w)|(?!\s*:?\s*\w))", re.IGNORECASE)
_MAYBE = re.compile(r"#\s*(?:detlint\s*:|noqa\b(?!\s*:\s*[A-Z]+[0-9])|noqa\s*:[^\r\n]{0,500}DET)", re.IGNORECASE)
_BETWEEN = " \t-\u2013\u2014:;,."


class Directive(NamedTuple):
    """What a part of a comment asks for. `word` is "noqa" for its line, "file", "off" or "on"; spans are offsets.

    `span` goes from its `#` to its last code, `listed` holds the codes with what is between them, `codes` each of them;
    without codes it applies to all. `reason` is the text after it.
    """

    word: str
    span: Span
    listed: Span
    codes: tuple[Span, ...]
    reason: str


def may_suppress(text: str) -> bool:
    """Return whether a text may hold a directive that concerns detlint's findings: false for `# noqa: E501` alone."""
    return _MAYBE.search(text) is not None


def in_line(line: str) -> int | None:
    """Return where the comment begins in a line of code that seems to hold directives, by its characters alone."""
    start = len(line) - len(line.lstrip())
    if line[start : start + 1] == "#":
        return start
    match = _NOQA.search(line)
    return None if match is None else match.start()


def directives(comment: str, alone: bool) -> list[Directive]:
    """Return the directives of a comment. Those that begin with `detlint` need a line of their own: `alone`."""
    own = _OWN.match(comment) if alone else None
    matches = [own] if own is not None else list(_NOQA.finditer(comment))
    ends = [*(match.start() for match in matches), len(comment)][1:]
    return [_directive(match, comment[match.end() : end]) for match, end in zip(matches, ends, strict=True)]


def _directive(match: re.Match[str], behind: str) -> Directive:
    word = match.groupdict().get("word", "").lower()
    first = match.start("codes")
    codes = tuple((first + c.start(), first + c.end()) for c in re.finditer(r"\w+", match["codes"] or ""))
    return Directive(
        ("file" if word == "noqa" else word) or "noqa", match.span(), match.span("codes"), codes, _reason(behind)
    )


def _reason(behind: str) -> str:
    reason = behind.lstrip(f"#{_BETWEEN}").rstrip()
    within = re.fullmatch(r"\(([^()]*)\)", reason)
    return reason if within is None else within[1].strip()


def without(comment: str, alone: bool, gone: Collection[Span]) -> str | None:
    """Return a comment without the codes, or the directives without codes, at these spans; "" if nothing is left.

    Reasons stay, as comments. Return None if what stays would then ask for something else.
    """
    text = comment
    before = directives(comment, alone)
    for directive in reversed(before):
        text = _lessened(text, directive, gone)
    wanted = [left for each in before if (left := _left(comment, each, gone))]
    found = [_left(text, each, ()) for each in directives(text, alone)]
    return text if found == wanted else None


def _left(text: str, directive: Directive, gone: Collection[Span]) -> tuple[str, ...]:
    """Return a directive's word and the codes that stay; empty if none does."""
    if not directive.codes:
        return () if directive.span in gone else (directive.word,)
    codes = [text[slice(*span)] for span in directive.codes if span not in gone]
    return (directive.word, *codes) if codes else ()


def _lessened(text: str, directive: Directive, gone: Collection[Span]) -> str:
    kept = [span for span in directive.codes if span not in gone]
    if kept or not (directive.codes or directive.span in gone):
        start, end = directive.listed
        listed = "".join(_joined(text, directive.codes, kept))
        return text if len(kept) == len(directive.codes) else text[:start] + listed + text[end:]
    before, behind = text[: directive.span[0]], text[directive.span[1] :].strip()
    words = behind if behind.startswith("#") else behind.lstrip(_BETWEEN)
    if not words:
        return before.rstrip()
    return before + (words if words.startswith("#") else f"# {words}")


def _joined(text: str, codes: tuple[Span, ...], kept: list[Span]) -> Iterator[str]:
    """Yield the codes that are kept, each with what separates it from the one before it."""
    for number, span in enumerate(codes):
        if span in kept:
            if span != kept[0]:
                yield text[codes[number - 1][1] : span[0]]
            yield text[slice(*span)]
