"""Gather what only a GPU can show: `python -m tests.tools.cuda FOLDER [--device cuda:1] [--thorough]`.

Runs the tests that need a CUDA device, then the sweep over the whole catalogue, and leaves in the folder the sweep's
evidence (to be put into `rules/evidence/`), its table and the tests' report. Needs Python, pytest, NumPy and a CUDA build
of torch, and neither libcst nor the terminal libraries. Run it in the repository's root.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def main() -> int:
    """Run both; the exit status is the first that is not 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--thorough", action="store_true")
    options = parser.parse_args()
    folder = options.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    tests = [
        sys.executable,
        "-m",
        "pytest",
        "-m",
        "cuda",
        "--noconftest",  # it needs libcst
        "tests/test_verify_cuda.py",
        f"--junitxml={folder}/tests.xml",
    ]
    sweep = [sys.executable, "-m", "detlint", "verify", "--all", "--device", options.device, "--output", str(folder)]
    sweep += ["--jobs", str(max(1, (os.cpu_count() or 1) - 2))]  # most of the time is spent on the CPU, one thread each
    sweep += ["--thorough"] * options.thorough
    tested = _logged(tests, folder / "tests.txt")
    swept = _logged(sweep, folder / "sweep.txt")
    return tested or swept


def _logged(command: list[str], log: Path) -> int:
    """Run a command with its output shown and kept."""
    print("==", *command, flush=True)
    with log.open("w", encoding="utf-8") as kept:
        running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert running.stdout is not None
        for line in running.stdout:
            print(line, end="", flush=True)
            kept.write(line)
        return running.wait()


if __name__ == "__main__":
    raise SystemExit(main())
