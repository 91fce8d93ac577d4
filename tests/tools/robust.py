"""Run detlint on whatever lies in folders, and count what breaks it.

python -m tests.tools.robust [--seconds N] [--every N] [--most N] PATH ...

Each .py and .ipynb below a path is checked with all rules, written as JSON and fixed in memory (nothing is written), in
two processes with different hash seeds that must say the same. A file that ends its process, takes longer than N seconds
(60) or breaks a promise of `tests.promises` is named. Prints a line for each path, then the slowest files.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from detlint.analyse import UNPARSED, Source, undisturbed
from detlint.sources import source
from tests import promises

_BATCH = 300  # files for which a process lives
_COLUMNS = ("files", "MB", "notebooks", "findings", "fixes", "not Python", "crashes", "hangs", "unstable", "s CPU")
_SLOW = 20_000  # bytes from which on the time for each is compared


def main(arguments: list[str]) -> int:
    """Run, print, and say whether all went well."""
    parser = argparse.ArgumentParser("tests.tools.robust")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--every", type=int, default=1, help="take each Nth file")
    parser.add_argument("--most", type=int, default=sys.maxsize, help="take at most N files of a path, spread evenly")
    parser.add_argument("paths", nargs="*", type=Path)
    options = parser.parse_args(arguments)
    if options.child:
        return serve()
    print("path", *_COLUMNS, sep="\t")
    total: Counter[str] = Counter()
    slow: list[tuple[float, str]] = []
    pair = [Child(seed, options.seconds) for seed in ("0", "1")]
    for path in options.paths:
        counts: Counter[str] = Counter()
        files = list(_files(path))
        files = files[:: max(options.every, -(-len(files) // options.most))]
        for file in files:
            _one(file, pair, counts, slow)
        print(path, *(round(counts[column], 2) for column in _COLUMNS), sep="\t", flush=True)
        total += counts
    print("all", *(round(total[column], 2) for column in _COLUMNS), sep="\t")
    for rate, line in sorted(slow, reverse=True)[:10]:
        print(f"{rate * 1e6:.0f} us a byte: {line}")
    for child in pair:
        child.end()
    return int(any(total[column] for column in ("crashes", "hangs", "unstable")))


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    for folder, folders, names in os.walk(path):
        folders.sort()
        yield from (Path(folder, name) for name in sorted(names) if name.endswith((".py", ".ipynb")))


def _one(file: Path, pair: list[Child], counts: Counter[str], slow: list[tuple[float, str]]) -> None:
    size = file.stat().st_size
    counts["files"] += 1
    counts["notebooks"] += file.suffix == ".ipynb"
    counts["MB"] += size / 1e6  # type: ignore[assignment]
    first, other = (child.ask(file) for child in pair)
    for answer in (first, other):
        if answer.failure:
            counts[answer.failure] += 1
            print(f"{file}: {answer.failure}: {answer.words}", flush=True)
            return
    problems = first.said["problems"]
    if first.said["digest"] != other.said["digest"]:
        problems.append("another hash seed says something else")
    if problems:
        counts["unstable"] += 1
        print(f"{file}: unstable: {'; '.join(problems[:3])}", flush=True)
    counts["not Python"] += first.said["broken"]
    for column in ("findings", "fixes"):
        counts[column] += first.said[column]
    counts["s CPU"] += first.said["seconds"]
    if size > _SLOW:
        slow.append((first.said["checked"] / size, f"{file} ({size:,} bytes, {first.said['checked']:.1f} s)"))


@dataclass
class Answer:
    """What a process says of a file, or how it fails to: as "crashes" or "hangs"."""

    said: dict[str, Any] = field(default_factory=dict)
    failure: str = ""
    words: str = ""


class Child:
    """A process that looks at one file after the other, and is replaced where it ends."""

    def __init__(self, seed: str, seconds: float) -> None:
        self._seed = seed
        self._seconds = seconds
        self._process: subprocess.Popen[str] | None = None
        self._asked = 0

    def ask(self, file: Path) -> Answer:
        """What comes of a file."""
        if self._process is None or self._asked >= _BATCH:
            self.end()
            environment = {**os.environ, "PYTHONHASHSEED": self._seed}
            command = [sys.executable, "-m", "tests.tools.robust", "--child"]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
            self._asked = 0
        self._asked += 1
        process, lines = self._process, queue.SimpleQueue[str]()
        questions, answers = process.stdin, process.stdout
        assert questions is not None
        assert answers is not None
        questions.write(json.dumps(os.fspath(file)) + "\n")
        questions.flush()
        threading.Thread(target=lambda: lines.put(answers.readline()), daemon=True).start()
        try:
            line = lines.get(timeout=self._seconds)
        except queue.Empty:
            self.end()
            return Answer(failure="hangs", words=f"longer than {self._seconds:g} s")
        if not line:
            status = process.wait()
            self.end()
            return Answer(failure="crashes", words=f"the process ended with status {status}")
        said = json.loads(line)
        return Answer(said, "crashes" if said.get("error") else "", said.get("error", ""))

    def end(self) -> None:
        """End the process, whatever it is at."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def serve() -> int:
    """Look at the files that are named on stdin, a line of JSON each."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed is no answer
    for line in sys.stdin:
        path = json.loads(line)
        try:
            with undisturbed():
                said = look(Path(path))
        except Exception as error:
            said = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(said) + "\n")
        answers.flush()
    return 0


def look(path: Path) -> dict[str, Any]:
    """All that detlint makes of one file."""
    begun = time.process_time()
    name = source.module_name(path)
    item = Source(path.name, name, path.read_bytes())
    found = promises.report(item)
    shown = promises.document(item, found)
    checked = time.process_time() - begun
    broken = [judged.finding.message for judged in found.findings if judged.finding.code == UNPARSED]
    failed = next((message for message in broken if "detlint failed" in message), "")
    if failed:
        return {"error": failed}
    problems = []
    if promises.fixable(found):
        problems = list(promises.broken_by_fixes(item.path, name, promises.text_of(item), found))
    return {
        "digest": hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest(),
        "findings": len(found.findings),
        "fixes": len(promises.fixable(found)),
        "broken": int(bool(broken)),
        "problems": problems,
        "checked": checked,
        "seconds": time.process_time() - begun,
    }


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
