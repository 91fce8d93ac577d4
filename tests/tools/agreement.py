"""Compare what the interpreter of values says of programs with a record of what the link said.

    python -m tests.tools.agreement RECORD [--only TEXT] [--show N] [--corpus FOLDER]

RECORD is a folder that `python -m tests.tools.changes record --programs` made, or with the FOLDER of checkouts that it
is of, `record FOLDER`. For each group of programs, or each checkout: how much agrees, and what kinds of difference there
are; with `--show` so many programs that differ, and all differences of a checkout.
"""

from __future__ import annotations

import json
import os
import sys
import time
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
from detlint.programs.commands import Command
from detlint.programs.entries import Entry
from detlint.programs.entry_points import followed
from detlint.programs.solving import Problem, solve
from detlint.reading import NotPythonError
from detlint.sources import notebook
from tests.tools.solving import documents

Told = dict[tuple[str, str, str, str], Mapping[str, Any]]
_KEYS = ("deterministic_algorithms", "cudnn_benchmark", "cudnn_deterministic", "cublas_workspace", "loaders")


def recorded(rows: list[Mapping[str, Any]]) -> Told:
    """Recorded entry points, by what tells them apart: of processes, the programs that start them."""
    return {
        (row["path"], row["kind"], row["function"] or "", (row.get("started_by") or {}).get("path", "")): row
        for row in rows
    }


def told(texts: Mapping[str, str], torch: str, old: Told, read: Documents) -> tuple[Told, list[Entry]]:
    """The entry points of a project that starts where a record says and reads its documents, by the interpreter."""
    from detlint.output.entries_json import _entry

    files: dict[str, ir.File] = {}
    places: dict[str, Places] = {}
    for path, text in texts.items():
        if path.endswith((".py", ".ipynb")):
            try:
                document = notebook.read(path, text)
                files[path], places[path] = lower(document.text, path, origins=document.origins)
            except (NotPythonError, notebook.NotebookError):
                continue
    rules = catalogue.load()
    libraries = known(rules, Version(torch) if torch else rules.newest_release())

    def place(code: Code) -> Place:
        name = code.function.removeprefix(f"{ir.COMMAND} ")
        return places[code.file].place(code.file, name, code.node)

    begun = [Entry(path, kind) for path, kind, *_ in old if kind in ("main", "script", "notebook") and path in files]
    for (path, kind, name, _), row in old.items():
        if kind == "command":
            functions = (f for f in files[path].functions.values() if f.qualified not in (ir.TOP, ir.MAIN))
            at = ((f.name, place(Code(path, f.qualified, -1))) for f in functions if not (f.klass or f.owner))
            target, where = next((target, where) for target, where in at if where.line == row["line"])
            begun.append(Entry(path, kind, name, where, target=target))
    commands = tuple(dict.fromkeys(Command(e.path, e.target) for e in begun if e.kind == "command"))
    started = frozenset(entry.path for entry in begun if entry.kind != "command")
    solution = solve(Problem(files, started, libraries, commands=commands, documents=read, alone=True))
    found = followed(solution.solver, begun, place, rules.names("program", "initialiser"))
    return recorded([_entry(entry) for entry in found.entries]), found.entries


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


def _of_checkouts(record: Path, corpus: Path, only: str, show: int) -> None:
    """Compare checkout by checkout."""
    for path in sorted(record.glob("*.json")):
        folder = corpus / path.stem
        if only not in path.name or not folder.is_dir():
            continue
        old = recorded(json.loads(path.read_text(encoding="utf-8"))["asked"][0]["entries"]["entries"])
        here = Path.cwd()
        os.chdir(folder)
        try:
            paths = sorted(each for each in Path().rglob("*") if each.suffix in (".py", ".ipynb") and each.is_file())
            texts = {str(each): each.read_text("utf-8", "replace") for each in paths}
        finally:
            os.chdir(here)
        start = time.perf_counter()
        new, _ = told(texts, "", old, documents(folder))
        found = list(differences(old, new))
        counts = Counter(kind for kind, _ in found)
        same = len(old) - len({words.partition(")")[0] for _, words in found})
        click.echo(f"{path.stem}: {same} of {len(old)}, {dict(counts)}, {time.perf_counter() - start:.1f} s")
        for kind, words in found[:show]:
            click.echo(f"  {kind}: {words}")


@click.command()
@click.argument("record", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--only", default="", help="Groups whose name has this in it.")
@click.option("--show", default=0, help="How many programs that differ to show in whole.")
@click.option("--test", default="", help="Programs of tests whose name has this in it.")
@click.option("--corpus", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Checkouts, by name.")
def main(record: Path, only: str, show: int, test: str, corpus: Path | None) -> None:
    """Compare what the interpreter of values says with a record."""
    if corpus is not None:
        _of_checkouts(record, corpus, only, show)
        return
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
                new, _ = told(program["texts"], program["torch"], old, Documents(Given(program["texts"])))
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
