"""A yardstick: each Python file parsed by the standard library, and no more.

    python parsing.py FOLDER

A linter that is written in Python and reads all code can hardly take less.
"""

from __future__ import annotations

import ast
import gc
import os
import sys
from contextlib import suppress
from multiprocessing import Pool
from pathlib import Path


def parse(path: Path) -> None:
    """Parse a file. One that is no Python of this version is passed over."""
    gc.disable()
    with suppress(OSError, ValueError, SyntaxError, RecursionError):
        ast.parse(path.read_bytes())


def main(folder: Path) -> None:
    """Parse the Python files below a folder, or one file, in a process for each core, the largest first."""
    files = sorted(folder.rglob("*.py"), key=lambda path: path.stat().st_size, reverse=True)
    if len(files) < 2:
        parse(files[0] if files else folder)
        return
    with Pool(os.cpu_count()) as pool:
        for _ in pool.imap_unordered(parse, files, chunksize=8):
            pass


if __name__ == "__main__":
    main(Path(sys.argv[1]))
