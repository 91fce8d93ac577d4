"""How many of the planted programs of tests/bisect/lines repeat after `detlint repeat`, and after what else.

python -m tests.tools.repeating [--only WORD] [--ways WAY ...] [--out FILE]

Each program is run twice as it is, with a call that seeds every generator put ahead of it, after `detlint --fix` (with
unsafe fixes, too), and as `detlint repeat` leaves it: all of them in the same way, beginning with the same files. Prints
a line for each program, with + where two runs are equal, and the totals, of those with a planted cause and of the others.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from detlint import bisecting, catalogue, fixing
from detlint.bisect.comparing import outcome
from detlint.bisect.running import runs
from detlint.bisect.running.runs import Plan
from detlint.bisect.running.warm import Origins
from detlint.repeat.rounds import Result, Rounds
from detlint.repeat.tree import Tree
from detlint.repeat.trial import Trials
from tests.planted import SCRIPT
from tests.test_bisect_lines import Program, programs

SNIPPET = """\
import os, random
import numpy as np
import torch
os.environ["PYTHONHASHSEED"] = "0"
os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
torch.cuda.manual_seed_all(0)
torch.backends.cudnn.benchmark = False
torch.backends.cudnn.deterministic = True
torch.use_deterministic_algorithms(True)
"""
WAYS = ("as it is", "snippet", "fix", "unsafe fix", "repeat")


@contextmanager
def within(folder: Path) -> Iterator[None]:
    """Work in a folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def texts(program: Program, way: str, folder: Path) -> Mapping[str, str]:
    """The files of a program under a way that changes them beforehand."""
    files = dict(program.files)
    if way == "snippet":
        files[SCRIPT] = SNIPPET + files[SCRIPT]
    elif way.endswith("fix"):
        for name, text in files.items():
            (folder / name).write_text(text)
        settings, torch = bisecting.everything([folder])
        with within(folder):
            made = fixing.fix_paths([Path()], replace(settings, root=Path()), torch, unsafe=way.startswith("unsafe"))
        files |= {change.path: change.new for change in made.outcome.changes}
    return files


def placed(files: Mapping[str, str], folder: Path) -> Tree:
    """A tree of these files and a copy of it, both below a folder."""
    for name in ("mine", "copy"):
        (folder / name).mkdir()
    for name, text in files.items():
        (folder / "mine" / name).write_text(text)
    return Tree.copied(folder / "mine", folder / "copy")


def planned(program: Program, tree: Tree, origins: Origins) -> Plan:
    """How a program is run in a tree."""
    return Plan((SCRIPT,), perturbed=program.perturb, origins=origins, before=tree.restore)


def repeats(program: Program, files: Mapping[str, str], folder: Path, origins: Origins) -> bool:
    """Whether two runs of these files are equal."""
    tree = placed(files, folder)
    with within(tree.root), tree.entered():
        return runs.run(planned(program, tree, origins), folder / "records").outcome.status == outcome.EQUAL


def made(program: Program, folder: Path, origins: Origins) -> Result:
    """What `detlint repeat` makes of a program."""
    tree = placed(program.files, folder)
    with within(tree.root), tree.entered():
        trials = Trials(planned(program, tree, origins), folder / "records", lambda line: None)
        codes = frozenset(catalogue.load().rules)
        return Rounds(trials, tree, codes, SCRIPT, lambda line: None, lambda line: None).run()


def measured(only: str, ways: Sequence[str]) -> Iterator[dict[str, object]]:
    """A row for each program."""
    with Origins() as origins:
        for program in programs():
            if only not in program.name:
                continue
            row: dict[str, object] = {"name": program.name, "planted": bool(program.planted)}
            for way in ways:
                with tempfile.TemporaryDirectory() as place:
                    folder = Path(place).resolve()
                    if way == "repeat":
                        result = made(program, folder, origins)
                        row[way] = result.verdict == "repeats"
                        row["changes"] = [each.title for each in result.changes]
                        row["remains"] = "" if result.remains is None else result.remains.title
                        row["tried"] = [f"{each.title}: {each.reason}" for each in result.tried]
                        row["runs"] = result.runs
                    else:
                        (folder / "texts").mkdir()
                        row[way] = repeats(program, texts(program, way, folder / "texts"), folder, origins)
            yield row


def main() -> int:
    """Measure, and print."""
    parser = argparse.ArgumentParser("tests.tools.repeating", description=__doc__)
    parser.add_argument("--only", default="", metavar="WORD", help="programs whose name has this")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the rows as JSON")
    parser.add_argument(
        "--ways", nargs="+", choices=WAYS, default=WAYS, metavar="WAY", help=f"of {', '.join(WAYS)} [all]"
    )
    options = parser.parse_args()
    rows = []
    for row in measured(options.only, options.ways):
        rows.append(row)
        marks = " ".join("+" if row[way] else "-" for way in options.ways)
        print(
            f"{marks}  {row['name']}: {row.get('changes') or row.get('remains', '')} {row.get('tried') or ''}",
            flush=True,
        )
        if options.out:
            options.out.write_text(json.dumps(rows, indent=1))
    totals = {
        kind: Counter(way for row in rows for way in options.ways if row[way] and row["planted"] is kind)
        for kind in (True, False)
    }
    for kind, count in totals.items():
        print("planted" if kind else "clean", sum(row["planted"] is kind for row in rows), dict(count))
    return 0


if __name__ == "__main__":
    sys.exit(main())
