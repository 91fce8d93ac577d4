"""Gather what only a GPU can show: `python -m tests.tools.cuda FOLDER [--device cuda:1] [--thorough] [--minutes 7.5]`.

Runs the tests that need a CUDA device, then the sweep over the whole catalogue, and leaves in the folder the tests'
report, the sweep's evidence (to be put into `rules/evidence/`), its table, and `simulated.md`, where what was worked out
on the CPU is laid beside what the device did. The catalogue is gone through in shards, and evidence is written after
each: a sweep that is interrupted, or whose minutes are over, goes on where it was when the command is given again. Needs
Python, pytest, NumPy and a CUDA build of torch, and neither libcst nor the terminal libraries. Run it in the root.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from detlint.verify import evidence, join, report, session
from detlint.verify.job import ORDERS
from detlint.verify.probes import PROBES
from detlint.verify.session import Measurement, Session, Settings, Subject
from detlint.verify.verdicts import Outcome, Verdict, words

ROOT = Path(__file__).parent.parent.parent
_MINUTES = 7.5
_SHARDS = 4
_LEFT = 20.0  # seconds that ending takes
_KEYS = ("device", "torch", "cuda", "cudnn", "hip")
_OPEN = (Verdict.INCONCLUSIVE, Verdict.NOT_OBSERVED, Verdict.DETERMINISTIC_PATH)


def main(argv: Sequence[str] | None = None) -> int:
    """Run both; the exit status is the first that is not 0: of the sweep, 2 if a control failed, 3 if it is to go on."""
    begun = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--thorough", action="store_true")
    parser.add_argument("--minutes", type=float, default=_MINUTES, help="how long a call may take, all in all [7.5]")
    parser.add_argument(
        "--shards", type=int, default=_SHARDS, help="parts of the catalogue that are measured as one [4]"
    )
    parser.add_argument("--rows", nargs="*", default=list(PROBES), help="rows of the catalogue [all]")
    options = parser.parse_args(argv)
    folder = options.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    until = begun + 60 * options.minutes
    where = _described(options.device)
    file = folder / evidence.file_name(where)
    held = evidence.read(file) if file.exists() else None
    tested = 0 if held is not None and (folder / "tests.xml").exists() else _tested(folder)
    # most of the time is spent on the CPU, one thread each
    settings = Settings(options.device, jobs=1 if options.device == "cpu" else max(1, (os.cpu_count() or 1) - 2))
    settings = replace(settings, processes=10, repeats=30) if options.thorough else settings
    swept = sweep(folder, held, join.of_rows(options.rows, PROBES), settings, options.shards, until)
    return tested or swept


def sweep(
    folder: Path, held: Session | None, subjects: Sequence[Subject], settings: Settings, shards: int, until: float
) -> int:
    """Measure what is not held yet, shard by shard, until a time of `time.monotonic`; an exit status."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    longest, size = 0.0, -(-len(subjects) // shards)
    while left := [one for one in subjects if held is None or one not in {each.subject for each in held.measurements}]:
        begun = time.monotonic()
        if until - begun < max(longest, _LEFT):
            break
        timer = threading.Timer(until - begun - _LEFT / 2, os.kill, (os.getpid(), signal.SIGTERM))
        timer.start()
        try:
            found = session.hold(_spread(left, size), settings, _show)
        finally:
            timer.cancel()
        if found.complaint:
            print(f"\nnothing is confirmed or refuted: {found.complaint}")
            return 2
        held = _merged(held, found)
        _write(folder, held)
        if found.interrupted:
            break
        longest = max(longest, time.monotonic() - begun)
    if held is not None:
        done = len(subjects) - len(left)
        print(f"\n{done} of {len(subjects)} forms of rows are measured; {folder} has the evidence")
    return 3 if left else 0


def _spread(left: Sequence[Subject], size: int) -> list[Subject]:
    """So many of what is left, from all over it: neighbours take about as long."""
    return list(left[:: max(1, -(-len(left) // size))])


def _described(device: str) -> dict[str, str]:
    """The device and its versions, as a worker tells them. Raises SystemExit where it cannot be used."""
    code = "import json, sys; from detlint.verify.environment import describe; print(json.dumps(describe(sys.argv[1])))"
    command = [sys.executable, "-c", code, device]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{device} cannot be used")
    told: dict[str, str] = json.loads(done.stdout)
    return told


def _merged(before: Session | None, found: Session) -> Session:
    """Both sessions as one; of one that was interrupted, only what was measured to the end."""
    if before is not None and any(before.environment.get(key) != found.environment.get(key) for key in _KEYS):
        raise SystemExit("the folder has evidence of another device or release")
    whole = [one for one in found.measurements if not found.interrupted or _is_whole(one, found.settings)]
    earlier = () if before is None else before.measurements
    return replace(found, measurements=(*earlier, *whole), interrupted=False)


def _is_whole(one: Measurement, settings: Settings) -> bool:
    off = one.outcomes.get("off", Outcome(Verdict.INCONCLUSIVE))
    return off.verdict not in _OPEN or off.processes == settings.processes


def _write(folder: Path, held: Session) -> None:
    file = folder / evidence.file_name(held.environment)
    part = file.with_suffix(".part")
    part.write_text(evidence.render(held), encoding="utf-8")
    part.replace(file)
    told = [report.header(held), report.table(held.measurements), *report.footer(held)]
    (folder / "sweep.txt").write_text("\n".join(told) + "\n", encoding="utf-8")
    (folder / "simulated.md").write_text(compared(held), encoding="utf-8")


def compared(held: Session) -> str:
    """What was worked out on the CPU beside what the device did, where the two do not agree, as Markdown."""
    lines, count = [], 0
    for one in held.measurements:
        worked_out, off = one.outcomes.get(ORDERS), one.outcomes.get("off")
        if worked_out is None or off is None or worked_out.verdict is not Verdict.SIMULATED:
            continue
        if off.verdict not in (Verdict.CONFIRMED, Verdict.NOT_OBSERVED):
            continue
        count += 1
        if (worked_out.distinct > 1) != (off.verdict is Verdict.CONFIRMED):
            cells = [one.subject.row, one.subject.dtype, words(worked_out), f"{off.verdict.value}: {words(off)}"]
            lines.append(f"| {' | '.join(cells)} |")
    head = f"{count} forms of rows were both simulated and measured on {held.environment['device']}; {len(lines)} disagree."
    table = ["| row | dtype | simulated | measured |", "|---|---|---|---|", *lines] if lines else []
    return "\n".join(["# Simulated and measured", "", head, "", *table]).rstrip() + "\n"


def _show(done: int, total: int, doing: str) -> None:
    if sys.stderr.isatty() or done % 50 == 0:
        print(f"\r\x1b[K{done} of {total}  {doing[:60]}", end="", file=sys.stderr, flush=True)


def _tested(folder: Path) -> int:
    """Run the tests that need the device, with their output shown and kept."""
    command = [sys.executable, "-m", "pytest", "-m", "cuda", "--noconftest"]  # conftest needs libcst
    command += ["tests/test_verify_cuda.py", f"--junitxml={folder}/tests.xml"]
    print("==", *command, flush=True)
    with (
        (folder / "tests.txt").open("w", encoding="utf-8") as kept,
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running,
    ):
        assert running.stdout is not None
        for line in running.stdout:
            print(line, end="", flush=True)
            kept.write(line)
        return running.wait()


if __name__ == "__main__":
    raise SystemExit(main())
