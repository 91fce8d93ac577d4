"""Compare what the interpreter of values says of programs with a record of what the link said.

    python -m tests.tools.agreement RECORD [--only TEXT] [--show N]

RECORD is a folder that `python -m tests.tools.changes record --programs` made. For each group of programs: how many
generators of how many entry points are in the same state, and what else agrees; with `--show` so many that do not.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from packaging.version import Version

from detlint import catalogue
from detlint.documents.documents import Documents, Given
from detlint.domain.codes import Code
from detlint.finding import Place
from detlint.ir import nodes as ir
from detlint.ir.lower_files import lower
from detlint.ir.places import Places
from detlint.models import known
from detlint.programs.entries import Entry
from detlint.programs.entry_points import followed
from detlint.programs.solving import solve
from detlint.reading import NotPythonError

Told = dict[tuple[str, str, str], Mapping[str, Any]]
_KEYS = ("deterministic_algorithms", "cudnn_benchmark", "cudnn_deterministic", "cublas_workspace", "loaders")


def recorded(rows: list[Mapping[str, Any]]) -> Told:
    """Recorded entry points, by what tells them apart."""
    return {(row["path"], row["kind"], row["function"] or ""): row for row in rows}


def told(texts: Mapping[str, str], torch: str, starts: list[tuple[str, str, bool]]) -> tuple[Told, list[Entry]]:
    """The entry points of a project, by the interpreter of values."""
    from detlint.output.entries_json import _entry

    files: dict[str, ir.File] = {}
    places: dict[str, Places] = {}
    for path, text in texts.items():
        if path.endswith(".py"):
            try:
                files[path], places[path] = lower(text, path)
            except NotPythonError:
                continue
    rules = catalogue.load()
    libraries = known(rules, Version(torch) if torch else rules.newest_release())
    begun = [Entry(path, kind, self_check=check) for path, kind, check in starts if path in files]
    solution = solve(
        files, frozenset(entry.path for entry in begun), libraries=libraries, documents=Documents(Given(texts))
    )

    def place(code: Code) -> Place:
        return places[code.file].place(code.file, code.function, code.node)

    found = followed(solution.solver, begun, place, rules.names("program", "initialiser"))
    return recorded([_entry(entry) for entry in found.entries]), found.entries


def starts_of(old: Told) -> list[tuple[str, str, bool]]:
    """The files that programs were recorded to start with."""
    return [(path, kind, False) for path, kind, _ in old if kind in ("main", "script")]


def differences(old: Told, new: Told) -> Iterator[tuple[str, str]]:
    """What differs: the kind of difference, and in words."""
    for key, row in old.items():
        other = new.get(key)
        if other is None:
            yield "entry", f"{key} is missing"
            continue
        for generator, stream in row["generators"].items():
            states = stream["state"], other["generators"][generator]["state"]
            if states[0] != states[1]:
                yield "state", f"{key} {generator}: {states[0]} -> {states[1]}"
            elif _line(stream["first_draw"]) != _line(other["generators"][generator]["first_draw"]):
                draws = stream["first_draw"], other["generators"][generator]["first_draw"]
                yield "first draw", f"{key} {generator}: {_line(draws[0])} -> {_line(draws[1])}"
        for name in _KEYS:
            one, two = row[name], other[name]
            if name != "loaders":
                one, two = one["state"], two["state"]
            if one != two:
                yield name, f"{key} {name}: {one} -> {two}"
    for key in new.keys() - old.keys():
        yield "entry", f"{key} is new"


def _line(draw: Mapping[str, Any] | None) -> object:
    return None if draw is None else (draw["path"], draw["line"], draw["what"])


@click.command()
@click.argument("record", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--only", default="", help="Groups whose name has this in it.")
@click.option("--show", default=0, help="How many programs that differ to show in whole.")
@click.option("--test", default="", help="Programs of tests whose name has this in it.")
def main(record: Path, only: str, show: int, test: str) -> None:
    """Compare what the interpreter of values says with a record."""
    whole = Counter[str]()
    for path in sorted(record.glob("*.json")):
        if only not in path.name or path.name == "costs.json":
            continue
        counts = Counter[str]()
        for program in json.loads(path.read_text(encoding="utf-8"))["asked"]:
            if test and not any(test in name for name in program["tests"]):
                continue
            old = recorded(program["entries"]["entries"])
            counts["programs"] += 1
            try:
                new, _ = told(program["texts"], program["torch"], starts_of(old))
                found = list(differences(old, new))
            except Exception:
                found = [("crash", traceback.format_exc(limit=-3))]
            counts.update({kind for kind, _ in found})
            counts["agree"] += not found
            if found and show > 0:
                show -= 1
                click.echo(f"== {program['tests'][:2]}")
                for name, text in program["texts"].items():
                    click.echo(f"-- {name}\n{text}")
                click.echo("\n".join(f"{kind}: {words}" for kind, words in found))
        whole.update(counts)
        click.echo(f"{path.stem}: {dict(counts)}")
    click.echo(f"all: {dict(whole)}")
    sys.exit(0)


if __name__ == "__main__":
    main()
