"""`detlint entries`: a table of the entry points, and below it what is wrong in each."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from detlint.finding import Place
from detlint.link.entries import Entry, Stream
from detlint.output.printed import no_command, one_line
from detlint.report import Programs

_GOOD, _FAIR, _BAD = "green", "yellow", "red"
_STYLES = {"seeded": _GOOD, "optional": _FAIR, "late": _BAD, "unseeded": _BAD}
_SWITCHES = {  # by name in a state: the column's head, the words to show for a default, their styles, what is told
    "algorithms": ("determ.", "off", {"on": _GOOD, "warn": _FAIR, "optional": _FAIR}, ("warn", "optional")),
    "benchmark": ("benchmark", "default", {"off": _GOOD, "on": _BAD, "optional": _FAIR}, ("on", "optional")),
    "cudnn": ("cudnn", "default", {"on": _GOOD, "optional": _FAIR}, ("optional",)),
    "workspace": ("cuBLAS", "unset", {"set": _GOOD, "optional": _FAIR}, ("optional",)),
}
_SETTINGS = {
    "algorithms": "deterministic algorithms",
    "benchmark": "cudnn.benchmark",
    "cudnn": "cudnn.deterministic",
    "workspace": "CUBLAS_WORKSPACE_CONFIG",
}
_SET = {
    "on": "switched on",
    "off": "switched off",
    "warn": "set to warn only",
    "set": "set",
    "unsure": "perhaps changed",
}
_LONG = 1 / 3  # of the names that are too long for their rows, above which every name has a line of its own
Cell = tuple[str, str]  # a text and its style
Told = tuple[str, str, str]  # a label, its style and a sentence


def render(programs: Programs, color: bool = False, width: int | None = None, everything: bool = False) -> str:
    """The entry points as text, for a terminal of `width` columns or without a limit.

    Without `everything` those that use no random numbers are only counted, columns that say nothing are left out,
    and only what is wrong is told in words.
    """
    console = Console(file=io.StringIO(), force_terminal=color, no_color=not color, width=10_000, highlight=False)
    shown = [entry for entry in programs.entries if everything or not _idle(entry)]
    if shown:
        columns, default = _columns(shown, everything)
        for row in _table([_name(entry) for entry in shown], columns, width):
            console.print(row)
        alike: dict[tuple[Told, ...], list[str]] = {}
        for entry in shown:
            alike.setdefault(tuple(_told(entry, everything)), []).append(_name(entry))
        alike.pop((), None)
        for told, names in alike.items():
            console.print()
            for name in names:
                console.print(Text(name, "bold"))
            for each in told:
                for line in _wrapped(*each, width):
                    console.print(line)
        console.print()
        if default:
            console.print(Text(f"At the default everywhere: {_listed(default, 'and')}."))
    console.print(Text(_closing(programs, len(programs.entries) - len(shown))))
    output = console.file
    assert isinstance(output, io.StringIO)
    return output.getvalue()


def _idle(entry: Entry) -> bool:
    """Whether a program draws nothing, seeds nothing, sets nothing and makes no loader."""
    used = any(stream.state != "none" for stream in entry.streams) or entry.loaders
    return not used and not any(entry.switch(name)[1] for name in _SWITCHES)


def _name(entry: Entry) -> str:
    return no_command(f"{entry.path}: {entry.function}" if entry.function else entry.path)


# The table


def _columns(entries: Sequence[Entry], everything: bool) -> tuple[list[list[Cell]], list[str]]:
    """The columns beside the names, each with its head, and the switches without one, unset by all."""
    columns: list[list[Cell]] = [[("kind", ""), *((entry.kind, "") for entry in entries)]]
    for index, stream in enumerate(entries[0].streams):
        states = [entry.streams[index].state for entry in entries]
        columns.append([(stream.generator, ""), *(("-" if s == "none" else s, _STYLES.get(s, "")) for s in states)])
    default_everywhere = []
    for name, (head, default, styles, _) in _SWITCHES.items():
        found = [entry.switch(name) for entry in entries]
        if not everything and all(word == default for word, _ in found):
            default_everywhere.append(_SETTINGS[name])
            continue
        words = ["-" if word == default else word for word, _ in found]
        columns.append([(head, ""), *((word, styles.get(word, "")) for word in words)])
    if everything or any(entry.loaders for entry in entries):
        columns.append([("loaders", ""), *(_loaders(entry) for entry in entries)])
    return columns, default_everywhere


def _loaders(entry: Entry) -> Cell:
    """How many loaders a program makes, and how many of them are given a generator and a worker_init_fn."""
    total = len(entry.loaders)
    generators, inits = (sum(getattr(each, name) for each in entry.loaders) for name in ("generator", "worker_init"))
    style = _GOOD if generators == inits == total else _FAIR
    return (f"{total}: {generators} gen, {inits} init", style) if total else ("-", "")


def _table(names: list[str], columns: list[list[Cell]], width: int | None) -> Iterator[Text]:
    """The rows; a name that is too long for a row of the terminal stands in a line above its row."""
    names = ["entry point", *names]
    widths = [max(cell_len(text) for text, _ in column) for column in columns]
    room = max(cell_len(name) for name in names)
    if width is not None:
        left = width - sum(each + 2 for each in widths)
        long = [name for name in names if cell_len(name) > left]
        room = min(room, left) if len(long) <= _LONG * len(names) else 0
    for number, name in enumerate(names):
        style = "dim" if number == 0 else ""
        if cell_len(name) > room:
            yield Text(name, style)
            name = ""
        row = Text(name + " " * (room - cell_len(name)), style)
        for column, each in zip(columns, widths, strict=True):
            text, word_style = column[number]
            row.append("  ").append(text, word_style).append(" " * (each - cell_len(text)))
        row.rstrip()
        yield row


# What is told in words


def _told(entry: Entry, everything: bool) -> Iterator[Told]:
    """What is wrong in a program, or all of it."""
    for stream in entry.streams:
        wrong = stream.state not in ("none", "seeded") and stream.drawn is not None
        if wrong or (everything and stream.state != "none"):
            yield stream.generator, _STYLES[stream.state], _story(entry, stream)
    for name, (head, _, styles, problems) in _SWITCHES.items():
        word, met = entry.switch(name)
        if met is not None and (everything or word in problems):
            condition = f" only {_only(met.guarded, met.option)}" if word == "optional" else ""
            done = _SET.get(met.event.word, f"set to {met.event.word}")
            yield head, styles.get(word, ""), f"{done} at {_where(met.event.place)}{condition}"


def _story(entry: Entry, stream: Stream) -> str:
    """What a program does with one generator."""
    first = stream.draws[0] if stream.draws else stream.drawn
    drawn = f"drawn at {_where(first.event.place)} by {first.event.what}" if first else "not drawn from"
    if stream.state == "seeded":
        places = list(dict.fromkeys(_where(met.event.place) for met in stream.seeds))
        return f"seeded at {_listed(places, 'and')}, {drawn}" if places else f"{drawn}, seeded by its loader"
    if stream.draws and not entry.telling(stream.draws):
        drawn += " while a model is made whose weights are then loaded"
    if stream.late is not None:
        return f"{drawn}, seeded at {_where(stream.late.event.place)} after it"
    if stream.state == "optional" and stream.optional is not None:
        met = stream.optional
        at = _where(met.event.place)
        if met.event.certain or met.option:
            return f"seeded at {at} only {_only(met.guarded, met.option)}, {drawn}"
        return f"perhaps seeded at {at} by {met.event.what}, {drawn}"
    if stream.state != "optional":
        return f"{drawn}, not seeded"
    apart = stream.drawn is not None and stream.drawn.apart
    return f"{drawn} for a loader, seeded in its workers only" if apart else f"{drawn}, seeded on some paths only"


def _only(guarded: bool, option: str) -> str:
    if option:
        return f"where {option} is changed from its default"
    return "on some paths" if guarded else "with some values"


def _wrapped(label: str, style: str, sentence: str, width: int | None) -> Iterator[Text]:
    head = f"  {label.ljust(10)} "
    room = max(width - len(head), 40) if width is not None else len(sentence) + 1
    lines = textwrap.wrap(one_line(sentence), room, break_long_words=False, break_on_hyphens=False)
    yield Text.assemble("  ", (label.ljust(10), style), f" {lines[0]}")
    for line in lines[1:]:
        yield Text(" " * len(head) + line)


def _where(place: Place) -> str:
    """A place for people, who count a notebook's cells from 1."""
    return f"{place.path}:{place.line}" if place.cell is None else f"{place.path}:cell {place.cell + 1}:{place.line}"


def _closing(programs: Programs, idle: int) -> str:
    files = _count(programs.files, "file")
    if not programs.entries:
        return f"No entry points in {files}."
    if idle == len(programs.entries):
        return f"{_count(idle, 'entry point')} in {files}, using no random numbers."
    total = f"{_count(len(programs.entries) - idle, 'entry point')} in {files}"
    if not idle:
        return f"{total}."
    return f"{total}, and {_count(idle, 'entry point')} that {'uses' if idle == 1 else 'use'} no random numbers."


def _listed(items: Sequence[str], word: str) -> str:
    return f" {word} ".join((", ".join(items[:-1]), items[-1])) if len(items) > 1 else items[0]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
