"""Run programs of public repositories twice, and lay beside it what detlint says.

python -m tests.tools.run_twice --part open|counted [--python PATH] [--out FILE] [--only NAME ...] CORPUS

CORPUS is a folder of checkouts, named OWNER+NAME. `--python` is the interpreter of an environment with torch for a CPU
and the packages of `requirements.txt`, `tests/tools/run_twice/__init__.py` says what is compared. Prints a line for each
program and the totals; of the part "counted" the totals alone, and `--out` has no more of it. `--out` is written after
each program. With `--only` it keeps what it has of the others.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from . import recipes
from .fixed import WAYS, Fixed
from .measuring import Measure
from .totals import line, totals


def main(arguments: list[str]) -> int:
    """Measure the programs of a part, and print what came of it."""
    parser = argparse.ArgumentParser("tests.tools.run_twice")
    parser.add_argument("--part", choices=recipes.PARTS, required=True)
    parser.add_argument("--python", default=sys.executable, metavar="PATH", help="runs the programs [this one]")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results as JSON")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these programs alone")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="for each run [600]")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the folders of all runs here")
    parser.add_argument("--no-shuffle", action="store_true", help="leave the order of listings as it is")
    parser.add_argument("--no-static", action="store_true", help="run programs twice, and ask detlint nothing")
    parser.add_argument("--no-bisect", action="store_true", help="do not run `detlint bisect` on what differs")
    parser.add_argument("--repeat", action="store_true", help="run `detlint repeat` on what differs")
    parser.add_argument(
        "--fix", choices=WAYS, default="", help="run all again, fixed; both: unsafe where runs differ, safe where not"
    )
    parser.add_argument("corpus", type=Path)
    options = parser.parse_args(arguments)
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        fixed = Fixed(Path(folder) / "fixed", options.fix) if options.fix else None
        measure = Measure(
            options.corpus.resolve(),
            options.python,
            options.timeout,
            options.keep,
            shuffle=not options.no_shuffle,
            static=not options.no_static,
            bisect=not options.no_bisect,
            repeat=options.repeat,
            fixed=fixed,
        )
        rows = _rows(measure, options)
    print(json.dumps(totals(rows), indent=2))
    return 0


def _rows(measure: Measure, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure each program, and print and write as much of it as may be seen of its part."""
    programs = recipes.read(options.part)
    rows = _earlier(options.out) if options.part == "open" and options.only else {}
    for program in programs:
        if not options.only or program.name in options.only:
            rows[program.name] = measure.row(program)
            if options.part == "open":
                print(line(rows[program.name]), flush=True)
            if options.out:
                ordered = [rows[each.name] for each in programs if each.name in rows]
                options.out.write_text(_document(options.part, ordered), encoding="utf-8")
    return list(rows.values())


def _earlier(path: Path | None) -> dict[str, dict[str, Any]]:
    """The rows of an earlier run by name: where some programs are run again, those of the others are kept."""
    if not path or not path.exists():
        return {}
    return {row["name"]: row for row in json.loads(path.read_text(encoding="utf-8"))["programs"]}


def _document(part: str, rows: list[dict[str, Any]]) -> str:
    results: dict[str, Any] = {"part": part, "totals": totals(rows)}
    if part == "open":
        results["programs"] = rows
    return json.dumps(results, indent=2) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
