"""Small helpers that tests share."""

from __future__ import annotations

import textwrap

from detlint import catalogue, engine
from detlint import syntax as s
from detlint.config import Config
from detlint.engine import Report, Source
from detlint.model import Module


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


def report(files: dict[str, str], select: tuple[str, ...] = ("ALL",)) -> Report:
    """The report on texts by path."""
    sources = [
        Source(path, path.removesuffix(".py").replace("/", ".").removesuffix(".__init__"), textwrap.dedent(text))
        for path, text in files.items()
    ]
    return engine.check_sources(sources, Config(select=select), catalogue.load().newest_release())


def codes(text: str, *select: str) -> list[tuple[int, str]]:
    """Line and code of each finding in a text."""
    found = report({"example.py": text}, select or ("ALL",)).findings
    return [(judged.finding.place.line, judged.finding.code) for judged in found]
