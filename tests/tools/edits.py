"""What an edit costs: how soon the findings of its file stand, and those of the project, and are they those of a fresh run?

`python -m tests.tools.edits FOLDER...` takes the Python files of each folder for a project, makes edits of one line in
random ones of them, each upon the one before, and prints a table: seconds until the findings in the edited file stand
as far as they ask nothing of other files, and until all do. Every so many edits the answers are compared with those
of a fresh run, all that they say included. Ends with status 1 where one differs.
"""

from __future__ import annotations

import argparse
import ast
import gc
import os
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from detlint.report import Report
from detlint.workspace import Workspace
from tests.tools.soak import copied

_DRAW = "torch.rand(2)"
_IMPORT = re.compile(r"(?:import|from)\s+\w[\w.]*")
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")


@dataclass
class Edit:
    """What was done to a file, and what it cost: seconds; how many programs were followed, None where none was linked."""

    kind: str
    path: str
    own: float = 0.0
    whole: float = 0.0
    followed: int | None = None


@dataclass
class Outcome:
    """What came of the edits of a project. `memory` are KiB of the process after each of them."""

    edits: list[Edit] = field(default_factory=list)
    files: int = 0
    programs: int = 0
    first: float = 0.0
    compared: int = 0
    differences: list[str] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)


# Edits


def _comment(lines: list[str], chance: random.Random) -> bool:
    lines.insert(chance.randrange(len(lines) + 1), chance.choice(("# a comment", "")))
    return True


def _number(lines: list[str], chance: random.Random) -> bool:
    found = [number for number, line in enumerate(lines) if line.startswith(" ") and _NUMBER.search(line)]
    if not found:
        return False
    number = chance.choice(found)
    lines[number] = _NUMBER.sub(str(chance.randrange(100)), lines[number], count=1)
    return True


def _call(lines: list[str], chance: random.Random) -> bool:
    """A new call that draws, at the start of a function."""
    return _put(lines, chance, _DRAW)


def _put(lines: list[str], chance: random.Random, text: str) -> bool:
    found = [node for node in ast.walk(ast.parse("\n".join(lines))) if isinstance(node, ast.FunctionDef)]
    if not found:
        return False
    first = chance.choice(found).body[0]
    lines.insert(first.lineno - 1, " " * first.col_offset + text)
    return True


def _function(lines: list[str], chance: random.Random) -> bool:
    lines.append(f"def another_{chance.randrange(10**6)}(x): return x + {_DRAW}")
    return True


def _imports(lines: list[str], chance: random.Random) -> bool:
    found = [number for number, line in enumerate(lines) if _IMPORT.match(line) and "__future__" not in line]
    if not found:
        return False
    number = chance.choice(found)
    lines[number] = chance.choice((f"{lines[number]}; import random", lines[number] and "import torch"))
    return True


KINDS: dict[str, Callable[[list[str], random.Random], bool]] = {
    "a comment or an empty line": _comment,
    "another number": _number,
    "a new call that draws": _call,
    "a new function": _function,
    "another import": _imports,
}
DELETED = "a deleted file"


def edited(text: str, kind: str, chance: random.Random) -> str | None:
    """A text with one of its lines changed so; None where it has none for it, or would be no Python."""
    lines = text.split("\n")
    try:
        if not KINDS[kind](lines, chance):
            return None
        changed = "\n".join(lines)
        ast.parse(changed)
    except (SyntaxError, ValueError):
        return None
    return None if changed == text else changed


# A project that is edited


class Edits:
    """A project in the working folder, which is edited at random by a seed."""

    def __init__(self, seed: int) -> None:
        self.workspace = Workspace.of(Path())
        self.outcome = Outcome()
        self._chance = random.Random(seed)
        begun = time.process_time()
        self.workspace.load()
        self.outcome.first = time.process_time() - begun
        self.outcome.files = len(self.workspace.paths)
        self.outcome.programs = self.workspace.followed

    def edit(self, kind: str) -> Edit:
        """Do something, and take the time until it is answered."""
        while True:
            path = self._chance.choice(sorted(self.workspace.paths))
            if kind == DELETED:
                Path(path).unlink()
                text = None
                break
            text = edited(Path(path).read_text(encoding="utf-8", errors="replace"), kind, self._chance)
            if text is not None and path.endswith(".py"):
                break
        done = Edit(kind, path)
        gc.collect()
        begun = time.process_time()
        if text is None:
            self.workspace.refresh()
        else:
            self.workspace.update(path, text)
            standing = self.workspace.standing()
            done.own = time.process_time() - begun
        before = self.workspace.links
        self.workspace.report()
        done.whole = time.process_time() - begun
        if text is not None:
            done.own = done.whole if standing is None else done.own
            Path(path).write_text(text, encoding="utf-8")
        done.followed = None if self.workspace.links == before else self.workspace.followed
        self.outcome.edits.append(done)
        self.outcome.memory.append(_memory())
        return done

    def compare(self) -> None:
        """Compare the answers with those of a fresh run over the same texts."""
        fresh = Workspace.of(Path())
        fresh.load()
        self.outcome.compared += 1
        self.outcome.differences += differences(self.workspace.report(), fresh.report())


def differences(told: Report, fresh: Report) -> list[str]:
    """What two reports say otherwise, to the letter. More documents may have been looked for than a fresh run does."""
    unseen = fresh.documents.items() - told.documents.items()
    if unseen:
        return [f"not looked for: {sorted(unseen)}"]
    one, other = (replace(each, seconds=0.0, documents={}) for each in (told, fresh))
    if one == other:
        return []
    some, others = ({repr(each) for each in (*report.findings, *report.suppressed)} for report in (one, other))
    found = [f"told: {each}" for each in sorted(some - others)] + [f"fresh: {each}" for each in sorted(others - some)]
    return found or [f"told: {one}", f"fresh: {other}"]


def _memory() -> int:
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    return int(next(line for line in status.read_text().splitlines() if line.startswith("VmRSS")).split()[1])


def tried(source: Path, count: int, every: int, seed: int, kinds: Sequence[str]) -> Outcome:
    """Make edits in a copy of a folder, and compare after every so many."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="detlint-edits-") as made:
        folder = Path(made).resolve() / "project"
        copied(source, folder)
        os.chdir(folder)
        try:
            edits = Edits(seed)
            for number in range(1, count + 1):
                done = edits.edit(kinds[number % len(kinds)])
                print(f"{number}: {done}, {edits.outcome.memory[-1] >> 10} MiB", file=sys.stderr, flush=True)
                if every and (number % every == 0 or number == count):
                    edits.compare()
                    print(*edits.outcome.differences[:20], sep="\n", end="", file=sys.stderr, flush=True)
            return edits.outcome
        finally:
            os.chdir(before)


# The table


def table(name: str, outcome: Outcome) -> Iterator[str]:
    """What the edits of a project cost, all of them and by their kind."""
    yield f"{name}: {outcome.files} files, {outcome.programs} programs, first run {outcome.first:.1f} s"
    yield ""
    yield "| edit | | own findings: median | p90 | most | all findings: median | p90 | most | linked | programs followed |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    kinds = list(dict.fromkeys(each.kind for each in outcome.edits))
    for kind in (*kinds, ""):
        some = [each for each in outcome.edits if kind in ("", each.kind)]
        own, whole = ([getattr(each, what) for each in some] for what in ("own", "whole"))
        linked = [each.followed for each in some if each.followed is not None]
        times = " | ".join(_spread(each) for each in (own, whole))
        share = f"{len(linked)} of {len(some)} | {statistics.mean(linked) if linked else 0:.0f}"
        yield f"| {kind or 'all'} | {len(some)} | {times} | {share} |"
    yield ""
    same = "the same each time" if not outcome.differences else f"{len(outcome.differences)} differences"
    yield f"Compared with a fresh run {outcome.compared} times: {same}."
    if outcome.memory:
        half = outcome.memory[len(outcome.memory) // 2]
        yield f"Memory: {half / 1024:.0f} MiB after half of the edits, {outcome.memory[-1] / 1024:.0f} after all."


def _spread(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    return f"{statistics.median(ordered):.2f} | {ordered[int(len(ordered) * 0.9)]:.2f} | {ordered[-1]:.2f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print the tables, and say by the status whether all answers were those of a fresh run."""
    parser = argparse.ArgumentParser("python -m tests.tools.edits", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--edits", type=int, default=50)
    parser.add_argument("--compare", type=int, default=10, help="after so many edits each; 0: never")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", default=",".join((*KINDS, DELETED)))
    options = parser.parse_args(arguments)
    bad = False
    for folder in options.folders:
        outcome = tried(folder.absolute(), options.edits, options.compare, options.seed, options.kinds.split(","))
        print(*table(folder.name, outcome), sep="\n", flush=True)
        bad = bad or bool(outcome.differences)
    return int(bad)


if __name__ == "__main__":
    raise SystemExit(main())
