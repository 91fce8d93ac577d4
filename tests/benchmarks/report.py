"""Results as tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.benchmarks.peers import CLOSEST, FASTEST, OWN
from tests.benchmarks.results import CHANGED, COLD, SAMPLE, SINGLE, WARM, WHOLE, Measured, Results

_TITLES = {WHOLE: "All files", SAMPLE: "A sample of the files", SINGLE: "One file"}
_STATES = {COLD: "cold", CHANGED: "one file changed", WARM: "nothing changed"}


def render(results: Results) -> str:
    """The tables, with what they were measured on."""
    return "\n".join(_lines(results)).strip() + "\n"


def _lines(results: Results) -> Iterator[str]:
    machine = ", ".join(f"{name} {value}" for name, value in results.machine.items())
    yield f"Measured on {results.date}: {machine}; Python files of {', '.join(results.folders)}."
    for name, title in _TITLES.items():
        found = [each for each in results.measured if each.tree == name]
        if found:
            size = results.trees[name]
            yield from ("", f"### {title}", "", f"{size.files:,} files, {size.mb:.2f} MB, {size.lines:,} lines.", "")
            yield from _table(results, found)
    growth = [each for each in results.measured if each.tree not in _TITLES]
    if growth:
        yield from ("", "### Growth", "", *_growth(results, growth))
    yield from ("", "### Compared", "")
    yield from _peers(results)


def _table(results: Results, found: Sequence[Measured]) -> Iterator[str]:
    yield from _head("", "state", "seconds", "spread", "CPU s", f"/ {FASTEST}", f"/ {CLOSEST}", "MB", "MB in all")
    for each in sorted(found, key=lambda each: list(_STATES).index(each.state)):
        start = [each.peer, _STATES[each.state]]
        if each.best is None:
            yield _row(*start, each.told, "", "", "", "", "", "")
            continue
        spread = f"{each.spread:.0%} of {len(each.seconds)}" if len(each.seconds) > 1 else "one run"
        ratios = [_ratio(results.ratio(each.peer, other, each.tree, each.state)) for other in (FASTEST, CLOSEST)]
        memory = f"{each.largest_mb:.0f}", f"{each.sum_mb:.0f}"
        yield _row(*start, f"{each.best:.2f}", spread, f"{min(each.cpu):.2f}", *ratios, *memory)


def _growth(results: Results, found: Sequence[Measured]) -> Iterator[str]:
    yield from _head("", "tree", "files", "MB", "seconds", "s / MB", "CPU s / MB", f"/ {FASTEST}", "MB", "MB in all")
    for each in sorted(found, key=lambda each: (each.peer != OWN, each.peer, results.trees[each.tree].files)):
        size = results.trees[each.tree]
        start = [each.peer, each.tree, f"{size.files:,}", f"{size.mb:.1f}"]
        if each.best is None:
            yield _row(*start, each.told, "", "", "", "", "")
            continue
        ratio = _ratio(results.ratio(each.peer, FASTEST, each.tree, COLD))
        rates = f"{each.best / size.mb:.3f}", f"{min(each.cpu) / size.mb:.3f}"
        yield _row(*start, f"{each.best:.2f}", *rates, ratio, f"{each.largest_mb:.0f}", f"{each.sum_mb:.0f}")


def _peers(results: Results) -> Iterator[str]:
    yield from _head("", "what it looks for", "versions")
    for peer, found in results.versions.items():
        yield _row(peer, results.notes[peer], ", ".join(f"{name} {version}" for name, version in found.items()))
    for peer in results.absent:
        yield _row(peer, "not installed here: not measured", "")


def _ratio(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if value >= 1 else f"{value:.1g}" if value < 0.1 else f"{value:.2f}"


def _head(*names: str) -> tuple[str, str]:
    return _row(*names), "|" + "---|" * len(names)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"
