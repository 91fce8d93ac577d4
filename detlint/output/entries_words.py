"""The wording for entry points, the same in every output format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from detlint.finding import Place
from detlint.output.words import count
from detlint.programs.entries import Entry, Stream
from detlint.programs.events import FORKED, RESEEDED
from detlint.report import Programs

GOOD, FAIR, BAD = "green", "yellow", "red"
STATES = {"seeded": GOOD, "optional": FAIR, "late": BAD, "unseeded": BAD}  # of a generator
SWITCHES = {  # by name in a state: a short name, the default's word, styles, words that are reported
    "algorithms": ("determ.", "off", {"on": GOOD, "warn": FAIR, "optional": FAIR}, ("warn", "optional")),
    "benchmark": ("benchmark", "default", {"off": GOOD, "on": BAD, "optional": FAIR}, ("on", "optional")),
    "cudnn": ("cudnn", "default", {"on": GOOD, "optional": FAIR}, ("optional",)),
    "workspace": ("cuBLAS", "unset", {"set": GOOD, "optional": FAIR}, ("optional",)),
}
SETTINGS = {
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
Told = tuple[str, str, str]  # a label, its style and a sentence


def names_of(entries: Sequence[Entry]) -> list[str]:
    """Return the names of entry points for people: their files, with functions if they start with one. If several
    processes have one name, the program that starts each is added.
    """
    names = [f"{entry.path}: {entry.function}" if entry.function else entry.path for entry in entries]
    known = Counter(names)
    return [
        f"{name}, from {entry.starter.path}" if entry.starter is not None and known[name] > 1 else name
        for name, entry in zip(names, entries, strict=True)
    ]


def idle(entry: Entry) -> bool:
    """Return whether a program draws nothing, seeds nothing, sets nothing and makes no loader."""
    used = any(stream.state != "none" for stream in entry.streams) or entry.loaders
    return not used and not any(entry.switch(name)[1] for name in SWITCHES)


def told(entry: Entry, everything: bool) -> Iterator[Told]:
    """Yield what is wrong in a program, or everything about it."""
    for stream in entry.streams:
        wrong = stream.state not in ("none", "seeded") and stream.drawn is not None
        if wrong or (everything and stream.state != "none"):
            yield stream.generator, STATES[stream.state], _story(entry, stream)
    for name, (head, _, styles, problems) in SWITCHES.items():
        word, met = entry.switch(name)
        if met is not None and (everything or word in problems):
            condition = f" only {_only(met.guarded, met.option)}" if met.option or word == "optional" else ""
            done = _SET.get(met.event.word, f"set to {met.event.word}")
            yield head, styles.get(word, ""), f"{done} at {_where(met.event.place)}{condition}"


def loaders(entry: Entry) -> tuple[str, str]:
    """Return the number of a program's loaders and how many have a generator and a worker_init_fn; and the style."""
    total = len(entry.loaders)
    generators, inits = (sum(getattr(each, name) for each in entry.loaders) for name in ("generator", "worker_init"))
    style = GOOD if generators == inits == total else FAIR
    return (f"{total}: {generators} gen, {inits} init", style) if total else ("-", "")


def closing(programs: Programs, idle: int) -> str:
    """Return a sentence on the number of entry points, `idle` of which use no random numbers."""
    files = count(programs.files, "file")
    if not programs.entries:
        return f"No entry points in {files}."
    if idle == len(programs.entries):
        return f"{count(idle, 'entry point')} in {files}, using no random numbers."
    total = f"{count(len(programs.entries) - idle, 'entry point')} in {files}"
    if not idle:
        return f"{total}."
    return f"{total}, and {count(idle, 'entry point')} that {'uses' if idle == 1 else 'use'} no random numbers."


def _story(entry: Entry, stream: Stream) -> str:
    """Return what a program does with one generator."""
    if stream.before is None:
        return _plain_story(entry, stream)
    made = stream.before
    drawn = f"drawn at {_where(made.event.place)} by {made.event.what} for a seed"
    return f"{drawn}{' on some paths' if made.guarded else ''}, {_plain_story(entry, stream)}"


def _plain_story(entry: Entry, stream: Stream) -> str:
    """Return the same, without what is drawn before that for a seed."""
    first = stream.draws[0] if stream.draws else stream.drawn
    drawn = f"drawn at {_where(first.event.place)} by {first.event.what}" if first else "not drawn from"
    if first is not None and first.event.word == FORKED:
        return f"{drawn}, in a process that is forked, where it begins from entropy"
    if stream.state == "seeded":
        places = list(dict.fromkeys(_where(met.event.place) for met in stream.seeds))
        return f"seeded at {listed(places, 'and')}, {drawn}" if places else f"{drawn}, seeded in its own process"
    if stream.aside is not None and stream.state in ("unseeded", "optional"):
        drawn += " for a seed" if stream.aside.event.seed else " as an example of a shape"
    random = [_where(met.event.place) for met in stream.seeds if met.event.entropy]
    if stream.state == "unseeded" and random:
        seeded = f"seeded from entropy at {listed(list(dict.fromkeys(random)), 'and')}"
        return f"{drawn}, {seeded} after it" if stream.draws else f"{seeded}, {drawn}"
    if stream.state == "unseeded" and first is not None and first.event.word == RESEEDED:
        return f"{drawn}, seeded from entropy in its process"
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
    guessed = next((met for met in stream.seeds if met.event.guessed), None)
    if guessed is not None:
        return f"perhaps seeded at {_where(guessed.event.place)} by {guessed.event.what}, {drawn}"
    apart = stream.drawn is not None and stream.drawn.apart
    return f"{drawn} for a loader, seeded in its workers only" if apart else f"{drawn}, seeded on some paths only"


def _only(guarded: bool, option: str) -> str:
    if option:
        return f"where {option} is changed from its default"
    return "on some paths" if guarded else "with some values"


def _where(place: Place) -> str:
    """Return a place for people, who count a notebook's cells from 1."""
    return f"{place.path}:{place.line}" if place.cell is None else f"{place.path}:cell {place.cell + 1}:{place.line}"


def listed(items: Sequence[str], word: str) -> str:
    """Return the items as a list in a sentence, with `word` before the last."""
    return f" {word} ".join((", ".join(items[:-1]), items[-1])) if len(items) > 1 else items[0]
