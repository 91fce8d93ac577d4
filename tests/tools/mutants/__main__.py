"""The command: sites found, a sample drawn, each mutant of it analysed, and those counted that detlint names."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.tools.mutants import __doc__ as purpose
from tests.tools.mutants.results import COUNTED, OPEN, Results, Store, counted
from tests.tools.mutants.running import Way, run
from tests.tools.mutants.sampling import Limits, Plan, planned


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the totals."""
    options = _options(arguments)
    if options.count:
        results = Results.read(options.out)
        results.write(options.out)  # with the verdicts of now
    else:
        limits = Limits(options.seed, options.per_class, options.per_repository, options.big, options.per_big)
        plan = planned(options.folder, limits, options.jobs)
        if options.plan:
            _show(plan)
            return 0
        results = Results.resumed(options.out, options.part)
        run(options.folder, plan, Store(results, options.out), Way(options.jobs, options.limit_seconds))
        results.write(options.out)
    print(counted(results), end="")
    return 0


def _show(plan: Plan) -> None:
    for each in plan.mutants:
        cell = "" if each.cell is None else each.cell
        print(f"{each.id} {each.repository}:{each.path}:{cell}:{each.line} {list(each.tags)} {each.what[:110]}")
    print(f"{len(plan.mutants)} mutants of {sum(plan.sites.values())} sites", plan.sites, file=sys.stderr)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.tools.mutants", description=purpose)
    parser.add_argument("folder", type=Path, nargs="?", help="a folder with one repository a subfolder")
    parser.add_argument(
        "--part", choices=(OPEN, COUNTED), required=True, help="of `counted` nothing but totals is told"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="where results are kept, and a run goes on from")
    parser.add_argument("--jobs", type=int, default=2, help="repositories at once")
    parser.add_argument(
        "--limit-seconds",
        type=float,
        default=180,
        help="of the processor: an analysis of a mutant that takes longer has failed",
    )
    defaults = Limits()
    parser.add_argument("--seed", type=int, default=defaults.seed, help="of the sample")
    parser.add_argument("--per-class", type=int, default=defaults.per_class, help="mutants of a class at most")
    parser.add_argument(
        "--per-repository", type=int, default=defaults.per_repository, help="those of a class in a repository at most"
    )
    parser.add_argument("--big", type=int, default=defaults.big, help="bytes of code from which a repository is big")
    parser.add_argument("--per-big", type=int, default=defaults.per_big, help="mutants of a big repository at most")
    parser.add_argument("--plan", action="store_true", help="show the sample, and run nothing")
    parser.add_argument("--count", action="store_true", help="count again what FILE holds, by the verdicts of now")
    options = parser.parse_args(arguments)
    if not options.count and options.folder is None:
        parser.error("FOLDER is missing")
    if not options.plan and options.out is None:
        parser.error("--out is missing")
    if options.plan and options.part == COUNTED:
        parser.error("the sample of `counted` is not shown")
    return options


if __name__ == "__main__":
    raise SystemExit(main())
