"""What other tools report in the examples of the rules: `python -m tests.tools.peers ENVIRONMENTS`.

The tools are installed into ENVIRONMENTS, each into one of its own, and run on the examples as files. What is kept in
`docs/peers.json` is shown in `docs/peers.md`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from detlint import catalogue
from detlint.catalogue import FAMILIES
from tests.examples import files, python, title

DOCS = Path(__file__).parent.parent.parent / "docs"
KEPT = DOCS / "peers.json"
GAUNTLET = Path(__file__).parent.parent / "gauntlet" / "peers.md"
WRONGLY = "wrongly"  # the folder of what must not be reported
_MARK = re.compile(r"#\s*((?:DET\d{3}(?:,\s*)?)+)\s*$")
_PLACE = re.compile(r"^(?P<path>[^:\s]+\.py):(?P<line>\d+):", re.MULTILINE)
_ROW = re.compile(r"^│[^│]+│\s*(?P<line>\d+) │", re.MULTILINE)

Lines = frozenset[tuple[str, int]]


@dataclass(frozen=True)
class Tool:
    """A tool: what pip installs, in steps, its command, and whether it is run on one file at a time."""

    name: str
    packages: tuple[tuple[str, ...], ...]
    command: tuple[str, ...]
    each: bool = False


TOOLS = (
    Tool("ruff", (("ruff==0.17.5",),), ("ruff", "check", "--isolated", "--output-format=concise", "--select=NPY,S311")),
    Tool("TorchFix", (("TorchFix==0.7.0", "flake8==7.5.0"),), ("torchfix", "--select=ALL")),
    Tool(
        "torchdetscan",  # its requirements would bring an old torch, which it needs only for its tests of kernels
        (("--no-deps", "torchdetscan==0.1"), ("rich",)),
        ("torchdetscan", "--pytorch-version=2.3"),
        each=True,
    ),
    Tool(
        "flake8-numpy-random",
        (("flake8-numpy-random==0.1.0", "flake8==3.9.2"),),
        ("flake8", "--isolated", "--select=NPR"),
    ),
)


def examples() -> Mapping[str, str]:
    """All examples as files: those of pages and cases by family and file, and what others report wrongly."""
    found = {}
    for rule in catalogue.load().rules.values():
        for file in files(rule) if rule.code[3] != "0" else ():
            for fence in python(file):
                if not fence.info.startswith("fixed"):
                    found[f"{rule.code[3]}/{title(file)}-{fence.line}.py"] = fence.text
    texts = re.findall(r"^```py[^\n]*\n(.*?)^```$", GAUNTLET.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return found | {f"{WRONGLY}/{number}.py": text for number, text in enumerate(texts)}


def marked(files: Mapping[str, str]) -> Lines:
    """The lines that detlint reports, by file."""
    return frozenset(
        (path, number)
        for path, text in files.items()
        for number, line in enumerate(text.splitlines(), 1)
        if _MARK.search(line)
    )


def reported(tool: Tool, environments: Path, folder: Path, paths: Sequence[str]) -> Lines:
    """The lines that a tool reports, for whatever reason."""
    program = environments / tool.name / "bin" / tool.command[0]
    found: set[tuple[str, int]] = set()
    for group in [[path] for path in paths] if tool.each else [list(paths)]:
        done = subprocess.run(
            [program, *tool.command[1:], *group],
            cwd=folder, capture_output=True, text=True, env=os.environ | {"COLUMNS": "200"},
        )  # fmt: skip
        if done.returncode not in (0, 1) or "Traceback" in done.stderr:
            raise RuntimeError(f"{tool.name} failed: {done.stderr or done.stdout}")
        if tool.each:
            found |= {(group[0], int(row["line"])) for row in _ROW.finditer(done.stdout)}
        else:
            found |= {(place["path"], int(place["line"])) for place in _PLACE.finditer(done.stdout)}
    return frozenset(found)


def measure(environments: Path) -> dict[str, object]:
    """Counts of lines for each tool, by family of rules; what they report beside the marks; what they report wrongly."""
    texts = examples()
    wanted = marked(texts)
    tools = {}
    with tempfile.TemporaryDirectory() as folder:
        for path, text in texts.items():
            file = Path(folder, path)
            file.parent.mkdir(exist_ok=True)
            file.write_text(_MARK.sub("", text) if path.startswith(WRONGLY) else _unmarked(text), encoding="utf-8")
        for tool in TOOLS:
            _install(tool, environments)
            lines = reported(tool, environments, Path(folder), sorted(texts))
            tools[tool.name] = {
                "packages": " ".join(each for step in tool.packages for each in step),
                "command": " ".join(tool.command),
                "families": Counter(path[0] for path, _ in lines & wanted),
                "beside": len({each for each in lines - wanted if not each[0].startswith(WRONGLY)}),
                "wrongly": len({path for path, _ in lines if path.startswith(WRONGLY)}),
            }
    return {
        "date": str(date.today()),
        "files": len(texts),
        "wrongly": sum(path.startswith(WRONGLY) for path in texts),
        "families": Counter(path[0] for path, _ in wanted),
        "tools": tools,
    }


def _unmarked(text: str) -> str:
    return "\n".join(_MARK.sub("", line).rstrip() for line in text.splitlines()) + "\n"


def _install(tool: Tool, environments: Path) -> None:
    place = environments / tool.name
    if not (place / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    for step in tool.packages:
        subprocess.run([str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", *step], check=True)


def peers() -> str:
    """The table for `docs/peers.md`, of what was measured last."""
    return "\n".join(_table(json.loads(KEPT.read_text(encoding="utf-8")))) + "\n"


def _table(data: dict[str, object]) -> Iterator[str]:
    tools, families = data["tools"], data["families"]
    assert isinstance(tools, dict) and isinstance(families, dict)
    yield f"Measured on {data['date']}, on {data['files']} examples. Lines that a tool reports, of those that detlint does:"
    yield ""
    yield f"| | detlint | {' | '.join(tools)} |"
    yield f"|---|---|{'---|' * len(tools)}"
    for digit, count in sorted(families.items()):
        cells = (str(tool["families"].get(digit, 0)) for tool in tools.values())
        yield f"| {FAMILIES[digit]} | {count} | {' | '.join(cells)} |"
    yield f"| lines beside these | 0 | {' | '.join(str(tool['beside']) for tool in tools.values())} |"
    cells = (str(tool["wrongly"]) for tool in tools.values())
    yield f"| snippets reported, of {data['wrongly']} that repeat | 0 | {' | '.join(cells)} |"
    yield from ("", "| tool | installed | run as |", "|---|---|---|")
    for name, tool in tools.items():
        yield f"| {name} | `{tool['packages']}` | `{tool['command']}` |"


if __name__ == "__main__":
    KEPT.write_text(json.dumps(measure(Path(sys.argv[1]).resolve()), indent=1) + "\n", encoding="utf-8")
