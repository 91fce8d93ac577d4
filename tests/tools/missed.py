"""What is known to come out wrong, for `docs/limits.md`: the programs in the "missed" sections of tests/gauntlet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

GAUNTLET = Path(__file__).parent.parent / "gauntlet"
_MARK = re.compile(r"(?<=# )DET\d+|(?<=, )DET\d+")
_HEADING = re.compile(r"^(?P<level>#+) (?P<text>.+)$")


def missed() -> str:
    """Two lists in Markdown: what is not found and ought to be, and what is found and ought not to be."""
    silent: list[str] = []
    reported: list[str] = []
    for section, name, codes in _programs():
        shown = re.sub(r"\b\w*_\w*\b", r"`\g<0>`", name)
        text = f"- {shown}" + (f" ({', '.join(sorted(codes))})" if codes else "")
        (reported if section.startswith("silent") else silent).append(text)
    return "\n".join(
        ["Not found, though two runs can differ:", "", *silent, "", "Found, though it is none:", "", *reported, ""]
    )


def _programs() -> Iterator[tuple[str, str, set[str]]]:
    """Section and name of each program in a section that is missed, and the codes that it is marked with."""
    for path in sorted(GAUNTLET.glob("*.md")):
        section, fenced = "", False
        found: tuple[str, str, set[str]] | None = None
        for line in path.read_text(encoding="utf-8").splitlines():
            fenced ^= line.startswith("```")
            heading = None if fenced else _HEADING.match(line)
            if heading:
                if found:
                    yield found
                found = None
                if heading["level"] == "#":
                    section = heading["text"]
                elif section.endswith("missed"):
                    found = section, heading["text"], set()
            elif found:
                found[2].update(_MARK.findall(line))
        if found:
            yield found
