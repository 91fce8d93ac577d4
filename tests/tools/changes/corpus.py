"""Record a folder of repositories, each by processes of its own."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.tools.revision import revision

from .asking import COMMANDS, Answer, Asked, Cost, ask
from .records import Costs, Record, path_of, row

Answers = dict[str, Answer]


def repositories(corpus: Path, only: Sequence[str] = ()) -> list[Path]:
    """The repositories in a folder, or those named. Raises ValueError where there is none of a name, or none at all."""
    found = {path.name: path for path in sorted(corpus.iterdir()) if path.is_dir() and not path.name.startswith(".")}
    if unknown := sorted({*only} - {*found}):
        raise ValueError(f"{corpus} has no {', '.join(unknown)}")
    if not found:
        raise ValueError(f"{corpus} has no folders")
    return [path for name, path in found.items() if not only or name in only]


def record(paths: Iterable[Path], out: Path, asked: Asked, jobs: int, again: bool) -> None:
    """Record repositories, `jobs` at once; those that have a record are left alone, unless they are wanted `again`."""
    out.mkdir(parents=True, exist_ok=True)
    costs = Costs(out)
    which = revision()
    left = []
    for path in paths:
        if again or not path_of(out, path.name).exists():
            left.append(path)
        else:
            by = costs.rows.get(path.name, {}).get("revision", "an unknown revision")
            say(f"{path.name}: recorded before, by {by}")

    def keep(path: Path, answers: Answers, taken: dict[str, Cost]) -> None:
        made = row(**answers)
        costs.add(path.name, which, taken)
        Record(path.name, [made]).write(out)
        said = [_said(command, made[command], taken[command]) for command in COMMANDS]
        say(f"{path.name}: {', '.join(said)}")

    each_asked(left, asked, jobs, keep)


def each_asked(
    paths: Sequence[Path], asked: Asked, jobs: int, keep: Callable[[Path, Answers, dict[str, Cost]], None]
) -> None:
    """Ask about repositories, `jobs` at once, and hand on the answers of each, of one at a time."""
    lock, stop = threading.Lock(), threading.Event()

    def one(path: Path) -> None:
        if not stop.is_set():
            found = {command: ask(path.absolute(), command, asked) for command in COMMANDS}
            answers = {command: answer for command, (answer, _) in found.items()}
            with lock:
                keep(path, answers, {command: cost for command, (_, cost) in found.items()})

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for _ in pool.map(one, paths):
                pass
        except BaseException:  # those that run are waited for
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def _said(command: str, answer: Answer, cost: Cost) -> str:
    what = "findings" if command == "check" else "entries"
    told = f"{command} failed: {answer['failed']}" if "failed" in answer else f"{len(answer[what])} {what}"
    return f"{told} in {cost.seconds:.1f} s"


def say(line: str) -> None:
    """Tell whoever waits how far it is."""
    print(line, file=sys.stderr, flush=True)
