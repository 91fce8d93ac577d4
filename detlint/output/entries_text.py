"""The output of `detlint entries`: a table of the entry points, and below it what is wrong in each."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from detlint.output.entries_words import (
    SETTINGS,
    STATES,
    SWITCHES,
    Told,
    closing,
    idle,
    listed,
    loaders,
    names_of,
    told,
)
from detlint.output.lines import Lines, Part, cells
from detlint.programs.entries import Entry
from detlint.report import Programs
from detlint.support.printed import no_command, one_line

_LONG = 1 / 3  # share of names too long for their rows above which every name has its own line
_WIDTH = 10_000  # characters after which a coloured line is broken
Cell = tuple[str, str]  # a text and its style


def render(programs: Programs, color: bool = False, width: int | None = None, everything: bool = False) -> str:
    """Return the entry points as text, for a terminal of `width` columns, or without a limit.

    Without `everything`, entry points that use no random numbers are only counted, columns that say nothing are left
    out, and only problems are put into words.
    """
    page = Lines(color, _WIDTH)
    shown = [entry for entry in programs.entries if everything or not idle(entry)]
    if shown:
        columns, default = _columns(shown, everything)
        names = list(map(no_command, names_of(shown)))
        for row in _table(names, columns, width):
            page.line(*row)
        alike: dict[tuple[Told, ...], list[str]] = {}
        for entry, name in zip(shown, names, strict=True):
            alike.setdefault(tuple(told(entry, everything)), []).append(name)
        alike.pop((), None)
        for sentences, programs_alike in alike.items():
            page.line()
            for name in programs_alike:
                page.line((name, "bold"))
            for each in sentences:
                for line in _wrapped(*each, width):
                    page.line(*line)
        page.line()
        if default:
            page.line(f"At the default everywhere: {listed(default, 'and')}.")
    page.line(closing(programs, len(programs.entries) - len(shown)))
    return page.text()


# The table


def _columns(entries: Sequence[Entry], everything: bool) -> tuple[list[list[Cell]], list[str]]:
    """Return the columns next to the names, each with its head, and the switches without one, unset by all entries."""
    columns: list[list[Cell]] = [[("kind", ""), *((entry.kind, "") for entry in entries)]]
    for index, stream in enumerate(entries[0].streams):
        states = [entry.streams[index].state for entry in entries]
        columns.append([(stream.generator, ""), *(("-" if s == "none" else s, STATES.get(s, "")) for s in states)])
    default_everywhere = []
    for name, (head, default, styles, _) in SWITCHES.items():
        found = [entry.switch(name) for entry in entries]
        if not everything and all(word == default for word, _ in found):
            default_everywhere.append(SETTINGS[name])
            continue
        words = ["-" if word == default else word for word, _ in found]
        columns.append([(head, ""), *((word, styles.get(word, "")) for word in words)])
    if everything or any(entry.loaders for entry in entries):
        columns.append([("loaders", ""), *(loaders(entry) for entry in entries)])
    return columns, default_everywhere


def _table(names: list[str], columns: list[list[Cell]], width: int | None) -> Iterator[list[Part]]:
    """Yield the rows; a name that is too long for a row of the terminal gets a line above its row."""
    names = ["entry point", *names]
    widths = [max(cells(text) for text, _ in column) for column in columns]
    room = max(cells(name) for name in names)
    if width is not None:
        left = width - sum(each + 2 for each in widths)
        long = [name for name in names if cells(name) > left]
        room = min(room, left) if len(long) <= _LONG * len(names) else 0
    for number, name in enumerate(names):
        style = "dim" if number == 0 else ""
        if cells(name) > room:
            yield [(name, style)]
            name = ""
        row: list[Part] = [(name + " " * (room - cells(name)), style)]
        before = ""
        for column, each in zip(columns, widths, strict=True):
            text, word_style = column[number]
            row += [f"{before}  ", (text, word_style)]
            before = " " * (each - cells(text))
        yield row


def _wrapped(label: str, style: str, sentence: str, width: int | None) -> Iterator[list[Part]]:
    head = f"  {label.ljust(10)} "
    room = max(width - len(head), 40) if width is not None else len(sentence) + 1
    lines = textwrap.wrap(one_line(sentence), room, break_long_words=False, break_on_hyphens=False)
    yield ["  ", (label.ljust(10), style), f" {lines[0]}"]
    for line in lines[1:]:
        yield [" " * len(head) + line]
