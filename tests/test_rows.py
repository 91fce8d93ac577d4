"""`detlint entries` on programs as people write them: tests/rows/*.md, each a heading, the row, and its files.

The row names what is not at its default: generators (with the option that they hang on), loaders (how many, how many
with a generator, how many with a `worker_init_fn`) and switches. The first file is `train.py`. Where lines of it end in
`# first`, each generator is first drawn from in one of these.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from detlint.cli import cli

ROWS = Path(__file__).parent / "rows"
_PROGRAM = re.compile(r"^## (?P<name>.+)\n(?P<row>`.+`)\n(?P<files>(?:```(?:py|yaml|json).*\n(?:.*\n)*?```\n)+)", re.M)
_FILE = re.compile(r'^```(?:py|yaml|json)(?: title="(?P<path>.+)")?\n(?P<text>(?:.*\n)*?)```$', re.M)
_SWITCHES = {
    "algorithms": ("deterministic_algorithms", "off"), "benchmark": ("cudnn_benchmark", "default"),
    "cudnn": ("cudnn_deterministic", "default"), "workspace": ("cublas_workspace", "unset"),
}  # fmt: skip


class Program(NamedTuple):
    """A program, and what must be told of it: by what is not at its default, the word and perhaps an option."""

    name: str
    row: dict[str, str]
    files: dict[str, str]


def programs(file: str) -> list[Program]:
    """The programs of a file of tests/rows."""
    text = (ROWS / f"{file}.md").read_text(encoding="utf-8")
    found = []
    for match in _PROGRAM.finditer(text):
        row = dict(each.split(": ") for each in re.findall(r"`([^`]+)`", match["row"]) if each != "nothing")
        files = {file["path"] or "train.py": file["text"] for file in _FILE.finditer(match["files"])}
        found.append(Program(match["name"], row, files))
    assert len(found) == text.count("\n## ") + text.startswith("## "), f"{file}.md has a program that is not read"
    return found


def told(entry: dict[str, Any], named: dict[str, str]) -> dict[str, str]:
    """What is told of an entry point and not at its default; the option where one is asked for."""
    found = {
        name: (known["state"], known["option"])
        for name, known in entry["generators"].items()
        if known["state"] != "unused"
    }
    for name, (field, default) in _SWITCHES.items():
        if entry[field]["state"] != default:
            found[name] = (entry[field]["state"], entry[field]["at"] and entry[field]["at"]["option"])
    row = {name: f"{word} {option}" if " " in named.get(name, "") else word for name, (word, option) in found.items()}
    if entry["loaders"]["total"]:
        row["loaders"] = " ".join(map(str, entry["loaders"].values()))
    return row


@pytest.mark.parametrize("file", sorted(path.stem for path in ROWS.glob("*.md")))
def test_the_rows_of_programs(file: str, tmp_path: Path) -> None:
    wrong: dict[str, tuple[object, object]] = {}
    for number, program in enumerate(programs(file)):
        entry = answer(program, tmp_path / str(number))
        wanted = {name: word for name, word in program.row.items() if name != "process"}
        if entry is None:
            if wanted:
                wrong[program.name] = ("no program", wanted)
            continue
        lines = program.files["train.py"].splitlines()
        first = {number for number, line in enumerate(lines, 1) if line.endswith("# first")}
        drawn = {known["first_draw"]["line"] for known in entry["generators"].values() if known["first_draw"]}
        if told(entry, wanted) != wanted:
            wrong[program.name] = (told(entry, wanted), wanted)
        elif first and not (drawn and drawn <= first):
            wrong[program.name] = (f"first drawn from in lines {drawn}", f"in {first}")
    assert wrong == {}


def answer(program: Program, folder: Path) -> dict[str, Any] | None:
    """What `entries` tells of the program; nothing where it tells of none, as it does nothing of interest."""
    for path, text in {"pyproject.toml": "", **program.files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    arguments = ["entries", "--all", "--no-cache", "--jobs", "1", "--format", "json", str(folder)]
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    process = program.row.get("process")
    found = [
        e for e in json.loads(result.stdout.replace(f"{folder}/", ""))["entries"] if Path(e["path"]).name == "train.py"
    ]
    if not found:
        return None
    entry: dict[str, Any]
    (entry,) = (e for e in found if (e["kind"] == "process" if process else e["kind"] != "process"))
    return entry
