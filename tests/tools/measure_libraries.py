"""Measure rows on libraries: `python -m tests.tools.measure_libraries ENVIRONMENTS [NAME ...]`.

For each release that a file of `tests/tools/libraries/programs/` names, an environment is made in ENVIRONMENTS, where there
is none, and every program of the file is run in it: twice in fresh processes under each way of seeding (nothing, random,
numpy, torch, all three, and the argument that takes a seed). What came of it is kept in `docs/libraries.json`, in the
place of what was measured before of the release; `python -m tests.tools.docs` shows it in `docs/libraries.md`.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from tests.tools.libraries import page, programs, running
from tests.tools.libraries.claims import CONFIRMED, verdict


def main(arguments: Sequence[str]) -> int:
    """Measure libraries, and print each row that is not confirmed."""
    parser = argparse.ArgumentParser("python -m tests.tools.measure_libraries", description=__doc__)
    parser.add_argument("environments", type=Path, metavar="ENVIRONMENTS")
    parser.add_argument("names", nargs="*", metavar="NAME", help="these libraries alone")
    parser.add_argument("--release", default="", metavar="PART", help="releases that have this in them")
    parser.add_argument(
        "--only", nargs="+", default=[""], metavar="PART", help="programs whose headings have one of these"
    )
    options = parser.parse_args(arguments)
    for library in programs.read():
        if options.names and library.name not in options.names:
            continue
        chosen = [each for each in library.programs if any(part in each.name for part in options.only)]
        for release in library.releases if chosen else ():
            if options.release not in release:
                continue
            python = running.environment(options.environments.resolve(), release)
            found, errors = running.measure(python, chosen)
            about = {"date": str(date.today()), "python": platform.python_version()}
            page.keep(library, release, about, found, errors)
            for program in chosen:
                told, ways = verdict(program, release, found[program.name])
                if told != CONFIRMED:
                    print(f"{release}: {program.name}: {told} {', '.join(ways)} {errors.get(program.name, '')}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
