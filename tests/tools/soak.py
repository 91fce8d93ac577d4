"""The language server for a long time: does it say what a fresh run says, and does it grow?

`python -m tests.tools.soak --minutes 30 FOLDER` copies the Python files of FOLDER, opens the copy in an editor with a
server of its own, and has it edited at random by a seed (`tests.desk`). Every so often what the server has published
is compared with what `detlint` finds in the same state, and its memory, threads and open files are sampled. Ends with
a table, and with status 1 where an answer was another or something grew. Needs Linux for what it samples.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lsprotocol import types

from detlint.sources.magics import LINES
from tests.desk import SETTINGS, Desk
from tests.editor import ABLE, ROOT, Editor, units

_EVERY = 25  # things done between two comparisons
_TOLD = 30  # of what was done before a difference
_GROWTH = 1.25, 24 * 1024  # times the memory, and KiB above it, that are no growth
_MORE = 3  # threads or files above those of the first half that are none
_WAIT = 300.0
_SEVERITIES = {"error": 1, "warning": 2, "note": 3}
Shown = tuple[int, int, int, int, str, int, str, tuple[str, ...]]


@dataclass(frozen=True)
class Sample:
    """What the server held: KiB of memory, threads, open files, processes below it; and how much it had been told."""

    seconds: float
    done: int
    memory: int
    threads: int
    files: int
    children: int


@dataclass
class Outcome:
    """What came of it."""

    samples: list[Sample] = field(default_factory=list)
    compared: int = 0
    findings: int = 0
    differences: list[str] = field(default_factory=list)
    log: str = ""
    status: int | None = None

    def growth(self) -> list[str]:
        """What grew: the later half of the samples beside the earlier one, whose first quarter is left out."""
        if len(self.samples) < 8:
            return []
        count = len(self.samples)
        early, late = self.samples[count // 4 : count // 2], self.samples[3 * count // 4 :]
        before, after = (statistics.median(each.memory for each in some) for some in (early, late))
        factor, more = _GROWTH
        found = [f"memory: {before / 1024:.0f} to {after / 1024:.0f} MiB"] if after > before * factor + more else []
        for name in ("threads", "files", "children"):
            first, last = (min(getattr(each, name) for each in some) for some in (early, late))
            if last > first + _MORE:
                found.append(f"{name}: {first} to {last}")
        return found

    def is_good(self) -> bool:
        """Whether no answer was another, nothing grew, and the server ended well and had nothing to log."""
        return not self.differences and not self.growth() and not self.log and self.status == 0


def copied(source: Path, folder: Path) -> None:
    """A copy of what a run looks at, with a few of its files as notebooks, and settings that make it one project."""
    folder.mkdir(parents=True)
    for path in sorted(source.rglob("*")):
        where = path.relative_to(source)
        wanted = path.suffix in (".py", ".ipynb") or path.name in ("requirements.txt", "setup.cfg")
        if path.is_file() and not path.is_symlink() and wanted and ".git" not in where.parts:
            (folder / where).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / where)
    for number, path in enumerate(sorted(folder.rglob("*.py"))[::12][:4]):
        parts = path.read_text(encoding="utf-8").split("\n\n\n")
        cells = [{"cell_type": "code", "source": part} for part in parts]
        (path.parent / f"book{number}.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    (folder / SETTINGS).write_text("", encoding="utf-8")


def soak(source: Path, seconds: float, seed: int, most: int = sys.maxsize) -> Outcome:
    """Edit a copy of `source` for so many seconds, or until `most` things were done."""
    outcome = Outcome()
    with tempfile.TemporaryDirectory(prefix="detlint-soak-") as made:
        folder = Path(made).resolve() / "project"
        copied(source, folder)
        environment = {name: value for name, value in os.environ.items() if name != "DETLINT_NO_CACHE"}
        editor = Editor([folder], ABLE, wait=_WAIT, environment=environment)
        desk = Desk(editor, folder, seed)
        begun = time.monotonic()
        done = 0
        while time.monotonic() < begun + seconds and done < most:
            for _ in range(min(_EVERY, most - done)):
                desk.act()
                done += 1
                editor.pause(0.5 if done % 7 == 0 else 0.01)  # long enough for an analysis to begin, or not
            desk.finish()
            desk.settle()
            found = _compared(desk, Path(made) / "fresh", outcome)
            outcome.compared += 1
            outcome.differences += [f"after {done}: {line}" for line in found]
            if found:
                print(*found, "before that:", *desk.told[-_TOLD:], sep="\n  ", file=sys.stderr, flush=True)
            outcome.samples.append(_sample(editor, time.monotonic() - begun, done))
            editor.history.clear()
        outcome.status = editor.quit()
        outcome.log = editor.log.decode(errors="replace")
    return outcome


# What the server says and what a run says


def _compared(desk: Desk, folder: Path, outcome: Outcome) -> list[str]:
    """What the server has published otherwise than a fresh run over the same texts finds it."""
    shutil.rmtree(folder, ignore_errors=True)
    skipped = shutil.ignore_patterns(".detlint_cache")
    shutil.copytree(desk.folder, folder, ignore=skipped)
    for path, text in desk.texts().items():
        (folder / path.relative_to(desk.folder)).write_text(text, encoding="utf-8", newline="")
    wanted = _found(desk, folder)
    differences = []
    for uri, (path, cell) in desk.parts().items():
        published = desk.editor.published.get(uri)
        told = [] if published is None else sorted(_told(each, desk) for each in published.diagnostics)
        name = path.relative_to(desk.folder).as_posix()
        expected = [] if wanted is None else sorted(wanted.get((name, cell), []))
        outcome.findings += len(expected)
        for word, one, other in (("not shown", expected, told), ("shown", told, expected)):
            differences += [f"{name} cell {cell}: {word}: {each}" for each in one if each not in other]
        if published is not None and published.version not in (None, desk.editor.versions[uri]):
            differences.append(f"{name} cell {cell}: of version {published.version}")
    for uri in desk.editor.published.keys() - desk.parts().keys():
        if desk.editor.published[uri].diagnostics:
            differences.append(f"{uri}: closed, and still has diagnostics")
    return differences


def _found(desk: Desk, folder: Path) -> dict[tuple[str, int | None], list[Shown]] | None:
    """What `detlint` finds, by file and cell; None where the settings are wrong."""
    command = [
        sys.executable,
        "-m",
        "detlint",
        "check",
        "--no-cache",
        "--jobs",
        "1",
        "--format",
        "json",
        *_options(desk),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*command, "."], cwd=folder, capture_output=True, text=True, encoding="utf-8", env=environment
    )
    if done.returncode == 2:
        assert "detlint.toml" in done.stderr or "no rule matches" in done.stderr, done.stderr
        return None
    found: dict[tuple[str, int | None], list[Shown]] = {}
    broken: set[str] = set()
    for each in json.loads(done.stdout)["findings"]:
        text = _text(folder / each["path"], each["cell"])
        start, end = _point(text, each["line"], each["column"]), _point(text, each["end_line"], each["end_column"])
        related = tuple(f"{one['path']}:{one['line']}: {one['message']}" for one in each["related"])
        row = (*start, *end, each["code"], _SEVERITIES[each["severity"]], each["message"], related)
        found.setdefault((each["path"], each["cell"]), []).append(row)
        if each["code"] == "DET000" and each["cell"] is None:
            broken.add(each["path"])
    for path in broken:  # an editor shows just that
        found[path, None] = [row for row in found[path, None] if row[4] == "DET000"]
    return found


def _options(desk: Desk) -> list[str]:
    """The editor's settings as options of the command line."""
    given = desk.options if isinstance(desk.options, dict) else {}
    options = [f"--{name}={','.join(given[name])}" for name in ("select", "ignore") if name in given]
    return options + ([f"--severity={given['severity']}"] if "severity" in given else [])


def _text(path: Path, cell: int | None) -> str:
    text = path.read_text(encoding="utf-8", errors="replace")
    return text if cell is None else str(json.loads(text)["cells"][cell]["source"])


def _point(text: str, line: int, column: int) -> tuple[int, int]:
    """A place as the protocol counts."""
    lines = [each.rstrip("\r\n") for each in LINES.findall(text)]  # no position is behind the end of a line
    before = lines[line - 1][: column - 1] if line <= len(lines) else ""
    return line - 1, units(before)


def _told(each: types.Diagnostic, desk: Desk) -> Shown:
    start, end = each.range.start, each.range.end
    related = tuple(
        f"{_name(one.location.uri, desk)}:{one.location.range.start.line + 1}: {one.message}"
        for one in each.related_information or ()
    )
    severity = int(each.severity or 0)
    return start.line, start.character, end.line, end.character, str(each.code), severity, each.message, related


def _name(uri: str, desk: Desk) -> str:
    path, _ = desk.parts().get(uri, (None, None))
    whole = uri if path is None else path.as_uri()
    return whole.removeprefix(desk.folder.as_uri() + "/")


# What it holds


def _sample(editor: Editor, seconds: float, done: int) -> Sample:
    process = editor.client._server
    assert process is not None
    own = Path("/proc") / str(process.pid)
    status = dict(line.split(":", 1) for line in (own / "status").read_text().splitlines())
    children = (own / "task" / str(process.pid) / "children").read_text().split()
    files = len(list((own / "fd").iterdir()))
    return Sample(seconds, done, int(status["VmRSS"].split()[0]), int(status["Threads"]), files, len(children))


def table(outcome: Outcome) -> str:
    """The samples, about twenty of them, and what they come to."""
    rows = ["minutes    done  memory MiB  threads  files  processes"]
    step = max(len(outcome.samples) // 20, 1)
    for each in [*outcome.samples[:-1:step], *outcome.samples[-1:]]:
        rows.append(
            f"{each.seconds / 60:7.1f} {each.done:7} {each.memory / 1024:11.1f} {each.threads:8} {each.files:6}"
            f" {each.children:10}"
        )
    rows.append(f"compared {outcome.compared} times, {outcome.findings} findings: {len(outcome.differences)} differ")
    rows += [f"grown: {each}" for each in outcome.growth()]
    rows += [f"ended with status {outcome.status}"] * (outcome.status != 0)
    rows += [f"logged:\n{outcome.log}"] * bool(outcome.log)
    return "\n".join(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print the table, and say by the status whether all is well."""
    parser = argparse.ArgumentParser("python -m tests.tools.soak", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    outcome = soak(options.folder, options.minutes * 60, options.seed)
    print(table(outcome))
    return 0 if outcome.is_good() else 1


if __name__ == "__main__":
    raise SystemExit(main())
