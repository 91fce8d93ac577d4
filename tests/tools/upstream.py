"""Compare the rows on operations with the installed torch: `python -m tests.tools.upstream`.

Three things are asked of it: the two lists in the documentation of `torch.use_deterministic_algorithms`, the operators
with the tag `nondeterministic_seeded`, and the names that its libraries hold where they raise. Each disagreement is a line
of a table; those that are right as they stand are told by `docs/upstream.md`. A build without CUDA holds no names of
CUDA's kernels, and says so.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from pathlib import Path

from packaging.version import Version

from detlint import catalogue
from detlint.catalogue import Row

HEADS = ("operation", "torch says", "the rows say")
_ITEM = re.compile(r"\* :(?:class|func):`(?P<name>[\w.]+)`")
_LISTS = (("operations will act", "path"), ("normally-nondeterministic operations will throw", "raises"))


def documented(text: str) -> dict[str, str]:
    """What the documentation says of each operation: "path" or "raises", or both."""
    found: dict[str, str] = {}
    starts = [(text.index(words), effect) for words, effect in _LISTS if words in text]
    ends = [*(start for start, _ in starts[1:]), text.find("In addition, several operations")]
    for (start, effect), end in zip(starts, ends, strict=True):
        for item in _ITEM.finditer(text, start, end):
            name = item["name"]
            found[name] = effect if found.get(name, effect) == effect else "path or raises"
    return found


def effects(rows: list[Row], name: str, release: Version) -> set[str]:
    """What the rows say that the flag does to an operation in a release."""
    found = set()
    for row in rows:
        if name in row.list("names") and row.holds_for(release):
            told = [each for each in ("path", "raises") if row.text(each) and row.holds_for(release, each)]
            found |= {*told} or {"nothing"}
    return found


def disagreements(text: str, rows: list[Row], release: Version) -> Iterator[tuple[str, str, str]]:
    """What the documentation says and no row does, and what rows say raises that it leaves out."""
    told = documented(text)
    for name, effect in sorted(told.items()):
        known = effects(rows, name, release)
        if not {*effect.split(" or ")} <= known:
            yield name, effect, " or ".join(sorted(known)) or "no row"
    raising = {
        name: row
        for row in rows
        if row.text("package") == "torch" and row.text("raises") and row.holds_for(release, "raises")
        for name in row.list("names")
        if name.startswith("torch.") and "." in name
    }
    last = {name.rpartition(".")[2].rstrip("_").lower().replace("_", "") for name in told}
    for name, row in sorted(raising.items()):
        if name.rpartition(".")[2].rstrip("_").lower().replace("_", "") not in last:
            yield name, "not listed", f"raises ({row.id})"


def untabled(tagged: set[str], drawing: set[str]) -> list[str]:
    """The operators with the tag that no row of what draws names."""
    return sorted(name for name in tagged if not name.startswith("_") and name.rstrip("_") not in drawing)


def unheld(rows: list[Row], release: Version, held: list[Path]) -> Iterator[tuple[str, str, str]]:
    """Rows whose error none of these files holds."""
    for row in rows:
        raises = row.text("package") == "torch" and row.text("raises") and row.holds_for(release, "raises")
        for error in row.text("error").split(" / ") if raises and row.text("error") else ():
            words = error.partition(" ")[0].partition("{")[0]
            if not any(_holds(file, words) for file in held):
                yield row.id, f"no file holds `{words}`", "raises"


def _holds(file: Path, words: str) -> bool:
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(words.encode()) >= 0


def main() -> None:
    """Print the tables."""
    import torch

    release = Version(torch.__version__.partition("+")[0])
    rules = catalogue.load()
    rows = list(rules.rows("ops", "op"))
    print(f"torch {torch.__version__}\n\n| {' | '.join(HEADS)} |\n|{'---|' * len(HEADS)}")
    for line in disagreements(torch.use_deterministic_algorithms.__doc__ or "", rows, release):
        print(f"| {' | '.join(line)} |")
    tagged = {
        name
        for name in dir(torch.ops.aten)
        for overload in getattr(getattr(torch.ops.aten, name), "overloads", list)()
        if torch.Tag.nondeterministic_seeded in getattr(getattr(torch.ops.aten, name), overload).tags
    }
    drawing = {
        name.rpartition(".")[2].rstrip("_")
        for row in rules.rows("randomness", "consumer")
        for name in [*row.list("names"), *row.list("methods")]
    }
    print("\nTagged `nondeterministic_seeded`, in no row:", ", ".join(untabled(tagged, drawing)) or "none")
    if torch.version.cuda is None:
        print("\nA build without CUDA: which names its kernels raise with is not compared.")
        return
    files = [*Path(torch.__file__).parent.glob("lib/libtorch_c*.so")]
    for line in unheld(rows, release, files):
        print(f"| {' | '.join(line)} |")


if __name__ == "__main__":
    main()
