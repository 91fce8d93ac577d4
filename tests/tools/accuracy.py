"""How accurate detlint is on real code, for `docs/accuracy.md`: `python -m tests.tools.accuracy FILE ...`.

A FILE is what `tests.tools.mutants` or `tests.tools.run_twice` wrote about a part. It is kept in `docs/accuracy.json`,
in the place of what was measured before, of the open part without the code. `python -m tests.tools.docs` shows it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from tests.tools.mutants.classes import CLASSES
from tests.tools.mutants.results import Counts
from tests.tools.revision import revision
from tests.tools.run_twice.totals import after_fixes

KEPT = Path(__file__).parents[2] / "docs" / "accuracy.json"
MUTANTS, TWICE = "mutants", "twice"
PARTS = ("open", "counted")
_Z = 1.959964  # of the normal distribution, for 95 %

Data = Mapping[str, Any]


def main(arguments: Sequence[str]) -> int:
    """Keep what was measured."""
    parser = argparse.ArgumentParser("python -m tests.tools.accuracy", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    kept = read()
    for file in parser.parse_args(arguments).files:
        measured = json.loads(file.read_text(encoding="utf-8"))
        if measured.get("left"):
            print(f"error: {file} is not complete: {measured['left']} mutants have not been run", file=sys.stderr)
            return 2
        kind = measured.get("kind", TWICE)
        kept.setdefault(kind, {})[measured["part"]] = _mutants(measured) if kind == MUTANTS else _twice(measured)
    KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def read() -> dict[str, dict[str, Any]]:
    """What was measured last, by kind and part; nothing where there was none."""
    if not KEPT.exists():
        return {}
    kept: dict[str, dict[str, Any]] = json.loads(KEPT.read_text(encoding="utf-8"))
    return kept


def mutants(data: Data) -> str:
    """The tables of the mutants, for each part."""
    return "".join(f"{line}\n" for line in _sections(data, MUTANTS, _mutant_tables))


def twice(data: Data) -> str:
    """The tables of the programs that were run twice, for each part."""
    return "".join(f"{line}\n" for line in _sections(data, TWICE, _twice_tables))


def interval(count: int, of: int) -> tuple[float, float]:
    """Wilson's interval for a share, at 95 %."""
    if not of:
        return 0.0, 1.0
    share, spread = count / of, _Z * _Z / of
    middle = (share + spread / 2) / (1 + spread)
    half = _Z * (share * (1 - share) / of + spread / (4 * of)) ** 0.5 / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def _sections(data: Data, kind: str, tables: Callable[[Data], Iterator[str]]) -> Iterator[str]:
    if kind not in data:
        yield "Not measured yet."
        return
    for number, part in enumerate(PARTS):
        measured = data[kind].get(part)
        if number:
            yield ""
        yield f"### {part.capitalize()}: {'repositories that were read' if part == 'open' else 'repositories that nobody reads'}"
        yield ""
        if not measured:
            yield "Not measured yet."
            continue
        yield f"Measured on {measured['date']}, with detlint at {measured['revision']}."
        yield ""
        yield from tables(measured)


def _mutants(measured: Data) -> Data:
    """What is kept of a result: of each mutant its place and what came of it, not the code."""
    kept = {name: measured[name] for name in ("date", "revision", "totals")}
    rows = [
        {name: row[name] for name in ("repository", "path", "line", "result")} | {"id": id_, "new": _codes(row)}
        for id_, row in measured.get("mutants", {}).items()
    ]
    return kept | (
        {"rows": sorted(rows, key=lambda row: (row["repository"], row["path"], row["line"], row["id"]))} if rows else {}
    )


def _codes(row: Data) -> list[str]:
    return sorted({f"{finding['code']} {finding['severity']}" for finding in row.get("new", [])})


def _mutant_tables(measured: Data) -> Iterator[str]:
    totals = {code: Counts(**counts) for code, counts in measured["totals"].items()}
    every = sum(totals.values(), Counts())
    yield "| | what is undone | sites | run | failed | invalid | valid | caught | noted | missed | caught, % | 95 % |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|"
    for code, counts in totals.items():
        yield _row(code, CLASSES[code].title, counts)
    yield _row("all", "", every)
    if rows := measured.get("rows"):
        by_repository = Counter(row["repository"].replace("+", "/") for row in rows)
        named = ", ".join(f"{name} {count}" for name, count in sorted(by_repository.items()))
        yield ""
        yield f"Mutants by repository: {named}."


def _row(code: str, title: str, counts: Counts) -> str:
    low, high = interval(counts.caught, counts.valid)
    rates = (
        (f"{100 * counts.caught / counts.valid:.0f}", f"{100 * low:.0f}-{100 * high:.0f}") if counts.valid else ("", "")
    )
    numbers = (counts.sites, counts.run, counts.failed + counts.broken, counts.invalid, counts.valid)
    cells = (code, title, *numbers, counts.caught, counts.noted, counts.missed, *rates)
    return f"| {' | '.join(map(str, cells))} |"


def _twice(measured: Data) -> Data:
    kept = {"date": measured.get("date", str(date.today())), "revision": measured.get("revision", revision())}
    return kept | {name: measured[name] for name in ("totals", "programs") if name in measured}


def _twice_tables(measured: Data) -> Iterator[str]:
    totals = measured["totals"]
    yield f"{totals['programs']} programs of {totals['repositories']} repositories, of which {totals['did not run']} did not run."
    yield ""
    yield from ("| two runs | programs | detlint names a cause | detlint is silent |", "|---|---|---|---|")
    for outcome in ("differ", "equal"):
        yield f"| {outcome} | {totals[outcome]} | {totals[f'{outcome}, named']} | {totals[f'{outcome}, silent']} |"
    yield ""
    counts = [
        *totals["differ in"].items(),
        *(
            (f"`detlint {command}`: {name}", count)
            for command in ("bisect", "repeat")
            for name, count in totals.get(command, {}).items()
        ),
        *((f"after the fixes: {name}", count) for name, count in totals.get("differ, fixed", {}).items()),
    ]
    yield from ("| of those that differ | programs |", "|---|---|")
    yield from (f"| {name} | {count} |" for name, count in counts)
    counts = [
        *((f"detlint names {name}", totals[f"equal, {name}"]) for name in _OF_EQUAL if f"equal, {name}" in totals),
        *((f"after the fixes: {name}", count) for name, count in totals.get("equal, fixed", {}).items()),
    ]
    if counts:
        yield from ("", "| of those that are equal | programs |", "|---|---|")
        yield from (f"| {name} | {count} |" for name, count in counts)
    if programs := measured.get("programs"):
        yield ""
        asked = {name: tell for name, tell in _ASKED.items() if any(name in row for row in programs)}
        heads = ("program", "repository", "two runs", "detlint names", *(_TITLES[name] for name in asked))
        yield from (f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}")
        yield from (_program(row, asked) for row in programs)


def _program(row: Data, asked: Mapping[str, Callable[[Data], str]]) -> str:
    """A row of the table; `asked` tells what came of each further question, by its name in the results."""
    if not row["ran"]:
        return f"| {row['name']} | {row['repository']} | did not run | |{' |' * len(asked)}"
    runs = "equal" if row["equal"] else f"differ in {', '.join(row['differs'])}"
    codes = [f"{name} not seeded" for name in row.get("not seeded", ())]
    codes += [code for severity in ("error", "warning") for code in row.get("codes", {}).get(severity, {})]
    said = (tell(row) if name in row else "" for name, tell in asked.items())
    return f"| {' | '.join((row['name'], row['repository'], runs, ', '.join(codes), *said))} |"


def _bisected(row: Data) -> str:
    """Where `bisect` says that two runs part."""
    found = row["bisect"]
    return ", ".join(str(found[name]) for name in ("verdict", "operation", "code") if found.get(name))


def _fixed(row: Data) -> str:
    """What came of a program by the fixes, and in what its two runs differ where they still do."""
    word = after_fixes(row)
    return f"differ in {', '.join(row['fixed']['differs'])}" if word == "differs" else word


def _repeated(row: Data) -> str:
    """What `repeat` made of a program: how many changes, and what remains."""
    found = row["repeat"]
    changes = len(found.get("changes", ()))
    told = f"{found['verdict']}, {changes} {'change' if changes == 1 else 'changes'}"
    left = found.get("remains") or ""
    return f"{told}; left: {left.partition(' (')[0]}" if left else told


_OF_EQUAL = ("an error", "a generator that is not seeded in time")
_ASKED = {"bisect": _bisected, "repeat": _repeated, "fixed": _fixed}
_TITLES = {"bisect": "`detlint bisect`", "repeat": "`detlint repeat`", "fixed": "after the fixes"}


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
