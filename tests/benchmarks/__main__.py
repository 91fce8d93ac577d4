"""The command: environments made, trees copied, peers measured, results written."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from tests.benchmarks import report
from tests.benchmarks.environments import prepare, versions
from tests.benchmarks.measuring import Way, measure
from tests.benchmarks.peers import ENVIRONMENTS, PEERS
from tests.benchmarks.results import CHANGED, COLD, SAMPLE, SINGLE, WARM, WHOLE, Results
from tests.benchmarks.trees import UnsuitableError, copied, python_files, typical

_TIMES = (1, 2, 4, 8)
_ONE_IN = 20  # files of the sample


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the tables, write what `--output` names."""
    options = _options(arguments)
    environments = (options.prepare or options.environments).absolute()
    if options.prepare:
        for line in prepare(environments):
            _say(line)
    if not options.folders:
        return 0
    way = Way(environments, options.repeats, options.limit_seconds, _say)
    try:
        results = measured(options.folders, way, options.growth)
    except UnsuitableError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(report.render(results), end="")
    if options.output:
        results.write(options.output)
    return 0


def measured(folders: list[Path], way: Way, growth: bool) -> Results:
    """All measurements on the Python files of these folders. Raises UnsuitableError."""
    files = python_files(folders)
    single = typical(files)
    present = [peer for peer in PEERS if peer.program(way.environments).exists()]
    results = Results(datetime.now(timezone.utc).strftime("%Y-%m-%d"), _machine())
    results.folders = [folder.resolve().name for folder in folders]
    results.absent = [peer.name for peer in PEERS if peer not in present]
    results.versions = {peer.name: versions(peer, way.environments) for peer in present}
    results.notes = {peer.name: peer.note for peer in present}
    for name in results.absent:
        way.say(f"{name} is not installed below {way.environments}: left out")
    load = os.getloadavg()[0]
    for name, chosen, states in (
        (SINGLE, [single], (COLD, WARM)),
        (SAMPLE, files[::_ONE_IN], (COLD,)),
        (WHOLE, files, (COLD, CHANGED, WARM)),
    ):
        with copied(chosen) as tree:
            results.trees[name] = tree.size()
            results.measured += measure(present, tree, name, way, states)
    growing = [peer for peer in present if peer.grows]
    for times in _TIMES if growth else ():
        name = f"{times}x"
        with copied(files, times) as tree:
            results.trees[name] = tree.size()
            found = measure(growing, tree, name, replace(way, repeats=min(way.repeats, 2)), (COLD,))
        results.measured += found
        late = {each.peer for each in found if each.told}  # and later on more of it
        growing = [peer for peer in growing if peer.name not in late]
    results.machine["load"] = f"{load:.1f} before and {os.getloadavg()[0]:.1f} after"
    return results


def _machine() -> dict[str, str]:
    processor = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), processor)
    return {"processor": processor, "cores": str(os.cpu_count()), "system": platform.system()}


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks", description=sys.modules["tests.benchmarks"].__doc__
    )
    parser.add_argument(
        "folders", nargs="*", type=Path, metavar="FOLDER", help="source trees: their Python files are read"
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--prepare", type=Path, metavar="DIR", help=f"make the environments first: {', '.join(ENVIRONMENTS)}"
    )
    where.add_argument("--environments", type=Path, metavar="DIR", help="where they were made")
    parser.add_argument(
        "--repeats", type=int, default=3, help="runs of each, in turns; one that takes 20 s is run once"
    )
    parser.add_argument("--limit-seconds", type=float, default=150, help="what takes longer is ended, and said to")
    parser.add_argument(
        "--no-growth", dest="growth", action="store_false", help="leave out 1, 2, 4 and 8 times the trees"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the results as JSON, too")
    return parser.parse_args(arguments)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
