"""Small helpers that tests share."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import TypeVar

from packaging.version import Version

from detlint import catalogue, engine
from detlint.analyse import Source
from detlint.config import Config
from detlint.report import Report
from detlint.semantics.model import Module
from detlint.tree import syntax as s

# What has pytest load detlint's plugin, which loads itself where detlint is installed with it.
PYTEST_PLUGIN = () if "detlint" in entry_points(group="pytest11").names else ("-p", "detlint.plugins.pytest.plugin")
_KNOWN = any(each.name == "DET" for each in entry_points(group="flake8.extension"))
FLAKE8_PLUGIN = (
    "" if _KNOWN else "[flake8:local-plugins]\nextension = DET = detlint.plugins.flake8:Plugin\n"
)  # settings


def module(text: str, path: str = "example.py", name: str = "example") -> Module:
    """The model of a text."""
    rules = catalogue.load()
    return Module(textwrap.dedent(text), path, name, rules, rules.newest_release())


def nodes(module: Module, kind: type[s.Node], text: str) -> list[s.Node]:
    """The nodes of a kind whose source is `text`."""
    return [node for node in module.nodes if isinstance(node, kind) and module.source(node) == text]


def expression(module: Module, text: str, which: int = -1) -> s.Expression:
    """The last (or `which`) expression whose source is `text`."""
    found = [n for n in nodes(module, s.Expression, text) if not getattr(n, "stored", False)]
    node = found[which]
    assert isinstance(node, s.Expression)
    return node


def report(files: dict[str, str], select: tuple[str, ...] = ("ALL",), torch: str | None = None) -> Report:
    """The report on texts by path, for a version of torch or the newest one."""
    sources = [
        Source(path, path.removesuffix(".py").replace("/", ".").removesuffix(".__init__"), textwrap.dedent(text))
        for path, text in files.items()
    ]
    release = Version(torch) if torch else catalogue.load().newest_release()
    return engine.check_sources(sources, Config(select=select), release)


def codes(text: str, *select: str, torch: str | None = None) -> list[tuple[int, str]]:
    """Line and code of each finding in a text."""
    found = report({"example.py": text}, select or ("ALL",), torch).findings
    return [(judged.finding.place.line, judged.finding.code) for judged in found]


@dataclass(frozen=True)
class Snippet:
    """A text of tests/gauntlet, and line and code of each finding that its trailing `# DETnnn` marks ask for."""

    section: str
    name: str
    text: str
    torch: str | None = None

    @property
    def marks(self) -> list[tuple[int, str]]:
        return marks(self.text)


@dataclass(frozen=True)
class Several:
    """A project of tests/gauntlet: texts by path, each with marks as a snippet's."""

    section: str
    name: str
    files: Mapping[str, str]

    @property
    def marks(self) -> list[tuple[str, int, str]]:
        return sorted((path, line, code) for path, text in self.files.items() for line, code in marks(text))


Case = TypeVar("Case", Snippet, Several)


def marks(text: str) -> list[tuple[int, str]]:
    """Line and code of each finding that the `# DETnnn` marks at the ends of a text's lines ask for."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        marked = re.search(r"# ((?:DET\d{3}(?:, )?)+)$", line)
        found += [(number, code) for code in re.findall(r"DET\d{3}", marked.group(1))] if marked else []
    return found


_SNIPPET = re.compile(
    r'^# (?P<section>.+)$|^###? (?P<name>.+)\n```py(?: torch="(?P<torch>.+)")?\n(?P<text>(?:.*\n)*?)```$', re.M
)


_PROJECT = re.compile(
    r"^# (?P<section>.+)$|^## (?P<name>.+)\n(?P<files>(?:```py title=\".+\"\n(?:.*\n)*?```$\n?)+)", re.M
)
_FILE = re.compile(r'^```py title="(?P<path>.+)"\n(?P<text>(?:.*\n)*?)```$', re.M)


def snippets(file: str) -> list[Snippet]:
    """The snippets of a file of tests/gauntlet, each a heading and a block of Python, perhaps below a section's heading."""
    found = []
    section = file
    text = (Path(__file__).parent / "gauntlet" / f"{file}.md").read_text(encoding="utf-8")
    for match in _SNIPPET.finditer(text):
        section = match["section"] or section
        if match["name"]:
            found.append(Snippet(section, match["name"], match["text"], match["torch"]))
    return found


def projects() -> list[Several]:
    """The projects of tests/gauntlet/projects.md, each a heading and a block for each of its files."""
    found = []
    section = ""
    text = (Path(__file__).parent / "gauntlet" / "projects.md").read_text(encoding="utf-8")
    for match in _PROJECT.finditer(text):
        section = match["section"] or section
        if match["name"]:
            texts = {one["path"]: one["text"] for one in _FILE.finditer(match["files"])}
            found.append(Several(section, match["name"], texts))
    return found


def by_section(cases: Iterable[Case]) -> dict[str, dict[str, Case]]:
    """Snippets or projects by name, of each section: what one test goes through, and tells of those that are wrong."""
    sections: dict[str, dict[str, Case]] = {}
    for case in cases:
        others = sections.setdefault(case.section, {})
        assert case.name not in others, f"{case.section} has two of the name {case.name!r}"
        others[case.name] = case
    return sections


def documented(page: str, before: str, language: str) -> str:
    """The first code of a language on a page of the project after some text."""
    text = (Path(__file__).parent.parent / page).read_text(encoding="utf-8")
    return text[text.index(before) :].partition(f"```{language}\n")[2].partition("```")[0]
