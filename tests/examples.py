"""Examples of rules: fenced code on the pages of `rules/` and in `tests/cases/`, whose lines end in marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from detlint import catalogue
from detlint.catalogue import Rule

CASES = Path(__file__).parent / "cases"
_MARK = re.compile(r"#\s*((?:DET\d{3}(?:,\s*)?)+)\s*$")


@dataclass(frozen=True)
class Fence:
    """A fenced text. `info` is what follows the language; `line` is its first line in the file."""

    text: str
    info: str
    line: int

    @property
    def title(self) -> str | None:
        """The file name of a fence that is part of a project."""
        match = re.search(r'title="([^"]+)"', self.info)
        return match.group(1) if match else None


@dataclass(frozen=True)
class Example:
    """A text, or the texts of a project, in a Markdown file about a rule."""

    rule: Rule
    file: Path
    fences: tuple[Fence, ...]

    @property
    def torch(self) -> Version:
        match = re.search(r'torch="([^"]+)"', self.fences[0].info)
        return Version(match.group(1)) if match else catalogue.load().newest_release()

    @property
    def fixed(self) -> bool:
        """Whether it shows what the fixes make of the example ahead of it."""
        return self.fences[0].info.startswith("fixed")

    @property
    def texts(self) -> dict[str, str]:
        """The files by path, without their marks."""
        return {f.title or "example.py": re.sub(r" *# *DET\d{3}[\w, ]*$", "", f.text, flags=re.M) for f in self.fences}


def fences(text: str, languages: str = "py|python") -> Iterator[Fence]:
    """Yield the texts of a Markdown file that are in one of some languages, separated by bars."""
    pattern = re.compile(rf"^```(?:{languages})\b([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    for match in pattern.finditer(text):
        yield Fence(match.group(2), match.group(1).strip(), 1 + text.count("\n", 0, match.start(2)))


def files(rule: Rule) -> list[Path]:
    """The page of a rule, and the files of its cases."""
    return [rule.page, *sorted((CASES / rule.code).glob("*.md"))]


def title(file: Path) -> str:
    """What a page or a file of cases is called in the names of tests."""
    return f"{file.parent.name}-{file.stem}" if CASES in file.parents else file.stem[: len("DET101")]


def python(file: Path) -> list[Fence]:
    """The Python texts of a file."""
    return list(fences(file.read_text(encoding="utf-8")))


def examples(rule: Rule, file: Path) -> list[Example]:
    """The examples of a file: fences with titles in a row make one project, until a title comes again."""
    found: list[Example] = []
    project: list[Fence] = []
    for fence in fences(file.read_text(encoding="utf-8"), "py|python|yaml|json"):
        if project and fence.title in (None, *(other.title for other in project)):
            found.append(Example(rule, file, tuple(project)))
            project = []
        if fence.title is None:
            found.append(Example(rule, file, (fence,)))
        else:
            project.append(fence)
    return found + ([Example(rule, file, tuple(project))] if project else [])


def marks(fence: Fence) -> list[tuple[int, str]]:
    """Line and code of each finding that the marks of a text ask for."""
    found = []
    for number, line in enumerate(fence.text.splitlines(), 1):
        match = _MARK.search(line)
        if match:
            found += [(number, code) for code in re.findall(r"DET\d{3}", match.group(1))]
    return sorted(found)
