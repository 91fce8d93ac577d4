"""The entry points as HTML: how each one seeds what it draws from, and the settings that it finds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from detlint.output.entries_words import (
    BAD,
    FAIR,
    GOOD,
    SETTINGS,
    STATES,
    SWITCHES,
    closing,
    idle,
    loaders,
    names_of,
    told,
)
from detlint.programs.entries import Entry
from detlint.report import Programs
from detlint.support.page import text

_CLASSES = {GOOD: "good", FAIR: "fair", BAD: "bad", "": ""}
_NAMES = {head: SETTINGS[name] for name, (head, _, _, _) in SWITCHES.items()}
_FEW = 12  # the most entry points that are shown without being folded


def shown(programs: Programs) -> list[Entry]:
    """Return the entry points that draw, seed or switch something, or make a loader."""
    return [entry for entry in programs.entries if not idle(entry)]


def section(programs: Programs, entries: Sequence[Entry], found: Mapping[int, int]) -> str:
    """Return the section of the page. `found` maps an entry's index to the number of findings in the files it loads."""
    rows = "\n".join(
        _entry(entry, name, number, found.get(number, 0))
        for number, (entry, name) in enumerate(zip(entries, names_of(entries), strict=True))
    )
    if len(entries) > _FEW:
        rows = f"<details class=many><summary>{len(entries)} entry points</summary>\n{rows}\n</details>"
    counted = text(closing(programs, len(programs.entries) - len(entries)))
    return f"<section id=programs><h2>Where programs start</h2>\n{rows}\n<p class=faint>{counted}</p></section>"


def _entry(entry: Entry, name: str, number: int, findings: int) -> str:
    badges = " ".join(_badges(entry))
    head = f"<span class=name>{text(name)}</span> <span class=faint>{text(entry.kind)}</span> {badges}"
    body = "".join(_sentences(entry))
    if findings:
        button = f"<button type=button class=only data-p={number} hidden>Show only these</button>"
        body += f"<dt>findings<dd>{findings} in the files that it loads {button}"
    return f"<details class=entry><summary>{head}</summary><dl>{body}</dl></details>"


def _badges(entry: Entry) -> Iterator[str]:
    """Yield the state of each generator that is used, and what is not at its default, in a word or two."""
    for stream in entry.streams:
        if stream.state != "none":
            yield _badge(f"{stream.generator} {stream.state}", STATES[stream.state])
    for name, (_, default, styles, _) in SWITCHES.items():
        word, _ = entry.switch(name)
        if word != default:
            yield _badge(f"{SETTINGS[name]} {word}", styles.get(word, ""))
    if entry.loaders:
        generators, inits = (sum(getattr(each, it) for each in entry.loaders) for it in ("generator", "worker_init"))
        total = len(entry.loaders)
        words = f"{total} loader{'s' * (total != 1)}: {generators} with generator, {inits} with worker_init_fn"
        yield _badge(words, loaders(entry)[1])


def _badge(words: str, style: str) -> str:
    return f'<span class="badge {_CLASSES[style]}">{text(words)}</span>'


def _sentences(entry: Entry) -> Iterator[str]:
    """Yield everything known about an entry, and which settings nothing touches."""
    for label, style, sentence in told(entry, everything=True):
        yield f'<dt class="{_CLASSES[style]}">{text(_NAMES.get(label, label))}<dd>{text(sentence)}'
    unset = [
        f"{SETTINGS[name]} ({default})" for name, (_, default, _, _) in SWITCHES.items() if not entry.switch(name)[1]
    ]
    if unset:
        yield f"<dt>not set<dd>{text(', '.join(unset))}"
