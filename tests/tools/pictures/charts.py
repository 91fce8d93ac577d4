"""The charts, each from its data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.results import COLD, SAMPLE, SINGLE, WARM, WHOLE, Results
from tests.tools.pictures.chart import Chart, Scale

WIDTH = 860
FOLDER = Path(__file__).parent.parent.parent.parent / "docs" / "pictures"
_PEERS = ("detlint", "ruff", "flake8", "flake8 with TorchFix", "TorchFix", "pylint")


def repeats() -> str:
    """How many programs have how many equal runs, before their fixes and after them."""
    data = _read("repeats")
    rows = [row for row in data["programs"] if not row["control"]]
    controls = [row for row in data["programs"] if row["control"]]
    runs, top, pitch = data["runs"], 84, 44
    bands = ((1, 1, "none but itself"), (2, runs - 1, "some"), (runs, runs, f"all {runs}"))
    height = top + pitch * len(bands) + 66
    whole = sum(row["after"]["equal"] == runs for row in rows)
    about = f"Of {len(rows)} programs {whole} give the same bits in all of {runs} runs after their fixes."
    chart = Chart(WIDTH, height, f"How many of {runs} runs give the bits of the first", about)
    chart.key(20, 56, (("before", "programs as written"), ("after", "after detlint --fix")))
    scale = Scale(0, len(rows), 130, WIDTH - 60)
    y = float(top)
    for least, most, words in bands:
        chart.text(118, y + 20, words, "small", "end")
        for offset, side in enumerate(("before", "after")):
            count = sum(least <= row[side]["equal"] <= most for row in rows)
            chart.bar(scale.start, y + 2 + 16 * offset, max(scale(count) - scale.start, 1), 13, side)
            chart.text(scale(count) + 7, y + 13 + 16 * offset, str(count), "small")
        y += pitch
    kept = sum(row["before"] == row["after"] for row in controls)
    unsafe = sum(row["unsafe"] for row in rows)
    said = f"Every bit that is saved counts. {unsafe} programs have unsafe fixes, too."
    said = f"{said} {kept} of {len(controls)} programs that repeat as they are still do."
    chart.text(20, height - 36, said, "faint small")
    chart.text(20, height - 18, _where(data), "faint small")
    return chart.svg()


def spread() -> str:
    """The losses of ten runs, before the fixes and after them."""
    data = _read("spread")
    height, top, bottom = 408, 92, 334
    chart = Chart(
        WIDTH,
        height,
        f"The loss in {data['runs']} runs of one program",
        "Before the fixes each run takes a way of its own; after them all runs are one line.",
    )
    highest = max(value for side in ("before", "after") for run in data[side] for value in _smooth(run))
    steps = len(data["before"][0])
    up = Scale(0, highest * 1.05, bottom, top)
    middle = WIDTH / 2
    for side, left, right, words in (
        ("before", 60.0, middle - 16, "as written"),
        ("after", middle + 44, WIDTH - 24.0, "after detlint --fix"),
    ):
        across = Scale(0, steps - 1, left, right)
        distinct = len({tuple(run) for run in data[side]})
        told = "all runs are one line" if distinct == 1 else f"{distinct} different runs"
        chart.text(left, 66, f"{words}: {told}")
        chart.up(up, [(n / 2, f"{n / 2:g}") for n in range(int(highest * 2) + 1)], left, right)
        chart.across(across, [(n, str(n)) for n in range(0, steps, 60)], bottom, bottom)
        for run in data[side]:
            chart.curve(((across(i), up(value)) for i, value in enumerate(_smooth(run))), side)
        chart.text((left + right) / 2, bottom + 36, "step", "faint small", "middle")
    program = f"tests/repeat/{data['program']}.md with {data['options']}; means of ten steps."
    chart.text(20, height - 12, f"{program} {_where(data)}", "faint small")
    return chart.svg()


def _smooth(run: Sequence[float], around: int = 10) -> list[float]:
    """Each value as the mean of itself and those before it."""
    parts = [run[max(i - around + 1, 0) : i + 1] for i in range(len(run))]
    return [sum(part) / len(part) for part in parts]


def speed() -> str:
    """How long a run takes beside other tools, on three sizes of code."""
    results = Results.read(FOLDER.parent / "performance.json")
    titles = {SINGLE: "one file", SAMPLE: "a sample of the files", WHOLE: "all files"}
    sections = [(tree, f"{titles[tree]}: {results.trees[tree].lines:,} lines") for tree in (SINGLE, SAMPLE, WHOLE)]
    names = [*_PEERS, "detlint again, nothing changed"]
    top, pitch = 84, 21
    height = top + len(sections) * (pitch * (len(names) + 1) + 8) + 48
    chart = Chart(WIDTH, height, "Seconds of a first run", "Bars on a logarithmic scale, by tool and size of the code.")
    chart.key(20, 56, (("after", "detlint"), ("other", "other tools, which look for other things")))
    scale = Scale(0.005, 100, 250, WIDTH - 110, log=True)
    chart.across(scale, [(n, f"{n:g} s") for n in (0.01, 0.1, 1, 10, 100)], top - 8, height - 52)
    y = float(top)
    for tree, words in sections:
        chart.text(20, y + 12, words, "faint")
        y += pitch
        for name in names:
            peer, state = ("detlint", WARM) if "again" in name else (name, COLD)
            found = results.of(peer, tree, state)
            if found is None:
                continue
            chart.text(234, y + 12, name, "small", "end")
            kind = "after" if peer == "detlint" else "other"
            best = scale.high if found.best is None else max(found.best, scale.low)
            chart.bar(scale.start, y + 2, scale(best) - scale.start, 13, kind)
            told = found.told if found.best is None else f"{found.best:.2f} s"
            chart.text(scale(best) + 7, y + 13, told, "small")
            y += pitch
        y += 8
    machine = results.machine
    told = f"{machine['processor']}, {machine['cores']} cores, {results.date}. docs/performance.md has all numbers."
    chart.text(20, height - 14, f"The fastest of a few runs. {told}", "faint small")
    return chart.svg()


def overhead() -> str:
    """What the fixes, the deterministic mode and recording cost at run time."""
    data, ran = _read("overhead"), _read("repeats")
    fixed = sorted(row["cpu"][1] / row["cpu"][0] for row in ran["programs"] if not row["control"])
    middle = fixed[len(fixed) // 2]
    rows: list[tuple[str, float, tuple[float, float] | None, str]]
    rows = [(f"{len(fixed)} programs after --fix", middle, (fixed[0], fixed[-1]), "after")]
    for key, words in (("deterministic", "deterministic mode"), ("recorded", "bisect records all")):
        rows += [(f"{words}: {name}", found[key], None, "other") for name, found in data["models"].items()]
    top, pitch = 60, 26
    height = top + pitch * len(rows) + 86
    chart = Chart(
        WIDTH, height, "Processor time, as a multiple of the same without", "Bars on a logarithmic scale, from 1."
    )
    scale = Scale(0.5, 32, 250, WIDTH - 90, log=True)
    chart.across(scale, [(n, f"{n:g}") for n in (0.5, 1, 2, 4, 8, 16, 32)], top - 8, height - 76)
    chart.line(scale(1), top - 8, scale(1), height - 66, "axis")
    y = top + 4.0
    for name, ratio, ends, kind in rows:
        start, end = sorted((scale(1), scale(ratio)))
        chart.text(234, y + 12, name, "small", "end")
        chart.bar(start, y + 2, end - start, 14, kind)
        told = f"{ratio:.2f}"
        if ends is not None:
            chart.line(scale(ends[0]), y + 9, scale(ends[1]), y + 9, "axis")
            told += f" (median; {ends[0]:.2f} to {ends[1]:.2f})"
        chart.text(max(scale(ends[1]) if ends else end, scale(1)) + 7, y + 13, told, "small")
        y += pitch
    plain = ", ".join(f"{name} {found['plain_ms']:.3g} ms" for name, found in data["models"].items())
    chart.text(20, height - 32, f"The fastest steps of training on a CPU, one thread: {plain}.", "faint small")
    chart.text(20, height - 14, _where(data), "faint small")
    return chart.svg()


def _where(data: dict[str, Any]) -> str:
    machine = data["machine"]
    return f"CPU {machine['processor']}, torch {machine['torch']}, {machine['date']}."


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return found


DRAWN = {"repeats": repeats, "spread": spread, "speed": speed, "overhead": overhead}
