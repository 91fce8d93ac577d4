"""Record what detlint says of a corpus or of the project's own programs, and compare two records.

python -m tests.tools.changes record --out FOLDER CORPUS [--only NAME ...] [--again]
python -m tests.tools.changes record --out FOLDER --totals CORPUS
python -m tests.tools.changes record --out FOLDER --programs [TESTS ...]
python -m tests.tools.changes compare OLD NEW [--reasons FILE] [--only NAME ...]

CORPUS is a folder of checkouts. Of each, FOLDER gets a file with all findings and entry points, the same on each
machine; `costs.json` beside them has seconds and memory. A run that is begun again goes on where it was. With
`--totals`, for files that nobody may read, counts alone are kept and shown. `--programs` asks, with all rules on, about
the programs that tests give to detlint and those of tests/repeat, each time anew.

`compare` ends with status 1 where a difference has no reason in FILE, or where one was right and is lost.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from . import corpus, report, totals
from .asking import Asked
from .differences import differences
from .reasons import REASONS, judged
from .reasons import read as reasons_of
from .records import TOTALS, Costs, read

_DESCRIPTION = "Record what detlint says of a corpus or of the project's own programs, and compare two records."


def main(arguments: Sequence[str] | None = None) -> int:
    """Record or compare; the exit status."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return status


def _record(options: argparse.Namespace) -> int:
    if options.programs:
        if options.totals or options.only or options.again:
            raise ValueError("--programs goes with TESTS, not with --totals, --only or --again")
        from . import programs

        asked = Asked(options.timeout, options.select or "ALL")
        return programs.record(options.paths, options.out, asked, options.jobs)
    if len(options.paths) != 1:
        raise ValueError("give one CORPUS")
    if options.totals and options.only:
        raise ValueError("--totals counts all repositories of a corpus, not --only some")
    paths = corpus.repositories(options.paths[0], options.only)
    record = totals.record if options.totals else corpus.record
    record(paths, options.out, Asked(options.timeout, options.select), options.jobs, options.again)
    return 0


def _compare(options: argparse.Namespace) -> int:
    if (options.old / TOTALS).exists():
        print("\n".join(totals.compared(options.old, options.new)))
        return 0
    old, new = read(options.old, options.only), read(options.new, options.only)
    if unknown := sorted({*options.only} - {*old, *new}):
        raise ValueError(f"neither record has {', '.join(unknown)}")
    told = judged(differences(old, new), reasons_of(options.reasons), {*old, *new})
    costs = report.costs(Costs(options.old), Costs(options.new), {*old, *new})
    print("\n".join([*report.lines(told), *costs]))
    return 0 if told.passes else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tests.tools.changes", description=_DESCRIPTION)
    commands = parser.add_subparsers(required=True)
    record = commands.add_parser("record", help="record what is said now")
    record.set_defaults(run=_record)
    record.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    record.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these repositories alone")
    record.add_argument("--again", action="store_true", help="also those that FOLDER has a record of")
    record.add_argument("--totals", action="store_true", help="keep and show nothing but counts")
    record.add_argument(
        "--programs", action="store_true", help="the project's own programs, or those of files of tests"
    )
    record.add_argument("--select", default="", metavar="RULES", help="[what is on, of programs ALL]")
    record.add_argument("--timeout", type=float, default=1800, metavar="SECONDS", help="for each answer [1800]")
    record.add_argument("--jobs", type=int, default=1, metavar="N", help="repositories or programs at once [1]")
    record.add_argument("paths", nargs="*", type=Path, metavar="CORPUS")
    compare = commands.add_parser("compare", help="list what two records differ in")
    compare.set_defaults(run=_compare)
    compare.add_argument("old", type=Path, metavar="OLD")
    compare.add_argument("new", type=Path, metavar="NEW")
    compare.add_argument("--reasons", type=Path, default=REASONS, metavar="FILE", help="[reasons.toml beside the tool]")
    compare.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these repositories alone")
    return parser


if __name__ == "__main__":
    sys.exit(main())
