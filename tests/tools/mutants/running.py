"""Mutants made and analysed, one after the other in a copy of their repository."""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.tools.mutants.analysis import BROKEN, FAILED, FailedError, Finding, analyse, changed, judged, shortened
from tests.tools.mutants.classes import CLASSES
from tests.tools.mutants.edits import mutated
from tests.tools.mutants.results import OPEN, Row, Store
from tests.tools.mutants.sampling import SKIPPED_FOLDERS, Mutant, Plan

_LARGE = 2_000_000  # bytes of a file that is no code, from which it is not copied
_LEFT_OUT = {*SKIPPED_FOLDERS, ".detlint_cache"}
_NO_CODE = (".png", ".jpg", ".gif", ".svg", ".pt", ".pth", ".pdf")
_FIRST = 4  # times as long as others the first analysis of a repository may take, which finds no cache
_KEPT = 12  # findings of a mutant


@dataclass(frozen=True)
class Way:
    """How mutants are run: how many repositories at once, how many seconds a mutant's analysis may take, and who is told."""

    jobs: int = 1
    limit: float = 180.0
    say: Callable[[str], None] = lambda line: print(line, file=sys.stderr, flush=True)


def run(folder: Path, plan: Plan, store: Store, way: Way) -> None:
    """Run the mutants of a plan that the store does not know."""
    wanted = {mutant.id for mutant in plan.mutants}
    results = store.results
    results.sites = plan.sites
    results.mutants = {id_: row for id_, row in results.mutants.items() if id_ in wanted}
    left: dict[str, list[Mutant]] = {}
    for mutant in plan.mutants:
        if mutant.id not in results.mutants:
            left.setdefault(mutant.repository, []).append(mutant)
    results.left = sum(map(len, left.values()))
    stop = threading.Event()
    with ThreadPoolExecutor(way.jobs) as pool:
        names = sorted(left, key=lambda name: plan.sizes[name], reverse=way.jobs > 1)  # the longest not at the end
        done = [pool.submit(_run_repository, folder / name, left[name], store, way, stop) for name in names]
        try:
            for each in done:
                each.result()
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def _run_repository(source: Path, mutants: Sequence[Mutant], store: Store, way: Way, stop: threading.Event) -> None:
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        root = Path(name, source.name)
        copied(source, root)
        before: list[Finding] | None = None
        begun = time.monotonic()
        try:
            before = analyse(root, _FIRST * way.limit)
        except FailedError as error:
            told = f"as it is: {error}"
        store.took(source.name, time.monotonic() - begun)
        for mutant in mutants:
            if stop.is_set():
                return
            begun = time.monotonic()
            row = described(mutant)
            row |= {"result": FAILED, "error": told} if before is None else outcome(root, mutant, before, way.limit)
            row["seconds"] = round(time.monotonic() - begun, 1)
            left = store.add(mutant.id, row)
            way.say(_progress(mutant, row, left, store.results.part == OPEN))


def copied(source: Path, target: Path) -> None:
    """Copy a repository without what no analysis looks at."""

    def ignored(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if name in _LEFT_OUT or _is_left_out(Path(folder, name))]

    shutil.copytree(source, target, ignore=ignored, symlinks=True)


def _is_left_out(path: Path) -> bool:
    if path.name.endswith(_NO_CODE):
        return True
    return path.is_file() and path.stat().st_size > _LARGE and not path.name.endswith((".py", ".ipynb"))


def outcome(root: Path, mutant: Mutant, before: Sequence[Finding], limit: float) -> Row:
    """What came of a mutant in the copy of its repository, which is as before in the end."""
    path = root / mutant.path
    original = path.read_bytes()
    try:
        path.write_text(mutated(mutant.path, original, mutant.edits), encoding="utf-8")
        new, gone = changed(before, analyse(root, limit))
    except SyntaxError as error:
        return {"result": BROKEN, "error": str(error)}
    except FailedError as error:
        return {"result": FAILED, "error": str(error)}
    finally:
        path.write_bytes(original)
    return {
        "result": judged(CLASSES[mutant.code], new),
        "new": [shortened(finding) for finding in new[:_KEPT]],
        "gone": gone[:_KEPT],
    }


def described(mutant: Mutant) -> Row:
    """What is kept of a mutant beside what came of it."""
    return {
        "class": mutant.code,
        "repository": mutant.repository,
        "path": mutant.path,
        "cell": mutant.cell,
        "line": mutant.line,
        "what": mutant.what,
        "tags": list(mutant.tags),
    }


def _progress(mutant: Mutant, row: Row, left: int, named: bool) -> str:
    told = f"{left:4} left, {row['seconds']:6} s"
    place = f"{mutant.repository}:{mutant.path}:{mutant.line}"
    return f"{told} {row['result']:7} {mutant.id} {place} {mutant.what[:80]}" if named else told
