"""Run programs of public repositories twice, and lay beside it what detlint says.

python -m tests.tools.run_twice --part open|counted [--python PATH] [--only NAME ...] [--out FILE] CORPUS

CORPUS is a folder of checkouts, named OWNER+NAME. `--python` is the interpreter of an environment with the packages of
`requirements.txt`. Prints a line for each program and the totals; of the part "counted" the totals alone.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from . import recipes
from .comparing import Comparison, compare
from .running import Place


def main(arguments: list[str]) -> int:
    """Run the programs of a part, and print what came of it."""
    parser = argparse.ArgumentParser("tests.tools.run_twice")
    parser.add_argument("--part", choices=recipes.PARTS, required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the folders of the runs here")
    parser.add_argument("corpus", type=Path)
    options = parser.parse_args(arguments)
    for program in recipes.read(options.part):
        if options.only and program.name not in options.only:
            continue
        if options.keep:
            folder = options.keep / program.name
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        else:
            folder = Path(tempfile.mkdtemp())
        try:
            place = Place(program, options.corpus / program.checkout, folder, options.python)
            runs = [place.run(options.timeout) for _ in range(2)]
        finally:
            if not options.keep:
                shutil.rmtree(folder)
        print(_line(program.name, compare(*runs), [run.seconds for run in runs]), flush=True)
    return 0


def _line(name: str, found: Comparison, seconds: list[float]) -> str:
    verdict = f"did not run ({found.error})" if found.error else "equal" if found.equal else "differs"
    seen = ", ".join(f"{count} {kind}" for kind, count in found.seen.items())
    return f"{name}: {verdict} [{found.first or seen}] {max(seconds):.0f} s"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
