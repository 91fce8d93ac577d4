"""Compare the two ways from a text to `syntax` on all Python files and notebooks of folders.

python -m tests.tools.readings [--every N] FOLDER ...

With N it reads each Nth file. Prints each difference, and how many files and nodes were the same, were read by one way only, or by neither.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from detlint.analyse import undisturbed
from detlint.reading import cst_tree
from detlint.reading.ast_strings import UnclearError
from detlint.reading.lowering import NotPythonError
from detlint.sources import notebook, source
from tests.readings import by_ast, by_libcst, without_places


def main(arguments: list[str]) -> int:
    """Compare, print, and say whether all is the same."""
    parser = argparse.ArgumentParser("tests.tools.readings")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("folders", nargs="+", type=Path)
    options = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    files = [path for folder in options.folders for path in _files(folder)]
    for path in files[:: options.every]:
        try:
            text = notebook.read(str(path), source.read(path).removeprefix("\ufeff")).text
        except source.UnreadableError:
            counts["unreadable"] += 1
            continue
        with undisturbed():
            _compare(path, text, counts)
    print(f"Python {sys.version.split()[0]}:", ", ".join(f"{count:,} {what}" for what, count in counts.items()))
    return int(counts["files different"] > 0)


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders.sort()
        yield from (Path(place) / name for name in sorted(names) if name.endswith((".py", ".ipynb")))


def _compare(path: Path, text: str, counts: Counter[str]) -> None:
    try:
        other: list[str] | str = by_ast(text, "package.inner")
    except (SyntaxError, ValueError, MemoryError, RecursionError, NotPythonError, UnclearError) as error:
        other = f"{type(error).__name__}: {error}"
    try:
        libcst: list[str] | str = by_libcst(text, "package.inner")
    except (NotPythonError, RecursionError) as error:
        libcst = f"{type(error).__name__}: {error}"
    if isinstance(other, str) or isinstance(libcst, str):
        one = "neither" if isinstance(other, str) and isinstance(libcst, str) else None
        kind = one or ("libcst alone" if isinstance(other, str) else "ast alone")
        counts[f"files by {kind}"] += 1
        if kind != "neither":
            print(f"{path}: by {kind}: {other if isinstance(other, str) else libcst}")
        return
    counts["nodes"] += len(libcst)
    if other != libcst and cst_tree.parse(text).code != text:
        counts["files that libcst does not give back as they are, whose places are not compared"] += 1
        other, libcst = without_places(other), without_places(libcst)
    counts["files the same" if other == libcst else "files different"] += 1
    if other != libcst:
        print(f"{path}: different")
        pairs = [pair for pair in zip_longest(libcst, other) if pair[0] != pair[1]]
        for one_line, other_line in pairs[:2]:
            print(f"  libcst {one_line}\n  ast    {other_line}")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
