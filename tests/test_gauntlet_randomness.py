"""Code as people write it, about random numbers, data loading and switches, judged by the families of rules on these."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from .support import codes

FOLDER = Path(__file__).parent / "gauntlet"
FAMILIES = {"seeds": "DET1", "loading": "DET2", "switches": "DET5"}
SNIPPET = re.compile(r'^## (.+)\n```py(?: torch="(.+)")?\n((?:.*\n)*?)```$', re.MULTILINE)
SECTION = re.compile(r"^# (DET.+)$", re.MULTILINE)
MARK = re.compile(r"# (DET\d{3}(?:, DET\d{3})*)\s*$")


def snippets() -> Iterator[object]:
    for name, family in FAMILIES.items():
        text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
        parts = SECTION.split(text)[1:]
        for title, body in zip(parts[::2], parts[1::2], strict=True):
            for match in SNIPPET.finditer(body):
                marks = [pytest.mark.xfail(strict=True)] if title.endswith("missed") else []
                yield pytest.param(family, match[2], match[3], id=f"{title}: {match[1]}", marks=marks)


@pytest.mark.parametrize(("family", "torch", "text"), list(snippets()))
def test_finds_what_is_marked_and_nothing_else(family: str, torch: str | None, text: str) -> None:
    marked = [
        (number, code)
        for number, line in enumerate(text.splitlines(), 1)
        for match in [MARK.search(line)]
        if match
        for code in match[1].split(", ")
    ]
    assert codes(text, family, torch=torch) == marked
