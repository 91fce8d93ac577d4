"""A plugin for pytest that keeps each program that a test gives to detlint: `-p tests.tools.changes.collecting`.

Texts and folders come to detlint through the functions of `detlint.engine`. Each process of the run writes the programs
that it meets to a file of its own, a line for each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TextIO

import pytest
from packaging.version import Version

from detlint import catalogue, engine
from detlint.analyse import Source
from detlint.config import Config

from .asking import PROJECT

_OPTION = "--programs-into"
AS_IT_IS = ("utf-8", "surrogateescape")  # a text that is bytes for whoever writes it, whatever its encoding
_SKIPPED = {".git", ".detlint_cache", "__pycache__"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the folder to write to."""
    parser.addoption(_OPTION, type=Path, required=True, metavar="FOLDER")


def pytest_configure(config: pytest.Config) -> None:
    """Put a listener before each function that analyses."""
    config.pluginmanager.register(_Collecting(config))


class _Collecting:
    """What listens, and writes."""

    def __init__(self, config: pytest.Config) -> None:
        worker = getattr(config, "workerinput", {"workerid": "main"})["workerid"]
        self._path: Path = config.getoption(_OPTION) / f"{worker}.jsonl"
        self._file: TextIO | None = None
        self._seen: set[str] = set()
        self._test: dict[str, str] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Listen while tests run."""
        with pytest.MonkeyPatch.context() as patch, self._path.open("w", encoding="utf-8") as self._file:
            patch.setattr(engine, "check_sources", self._listened(engine.check_sources, _of_sources))
            patch.setattr(engine, "check_paths", self._listened(engine.check_paths, _of_paths))
            patch.setattr(engine, "entries_of", self._listened(engine.entries_of, _of_paths))
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Note which test runs."""
        self._test = {"file": item.path.stem, "test": item.nodeid.partition("::")[2]}
        return (yield)

    def _listened(self, front: Callable[..., Any], read: Callable[..., Mapping[str, str]]) -> Callable[..., Any]:
        @wraps(front)
        def listening(given: Any, config: Config, torch: Version, *more: Any, **named: Any) -> Any:
            older = torch != catalogue.load().newest_release()
            self._keep(read(given, config, *more, **named), str(torch) if older else "")
            return front(given, config, torch, *more, **named)

        return listening

    def _keep(self, texts: Mapping[str, str], torch: str) -> None:
        line = json.dumps({**self._test, "texts": texts, "torch": torch}, sort_keys=True)
        if line not in self._seen and self._file is not None:
            self._seen.add(line)
            self._file.write(f"{line}\n")


def _of_sources(
    sources: Sequence[Source], config: Config, documents: Mapping[str, str] | None = None
) -> dict[str, str]:
    return {source.path: _text(source) for source in sources} | dict(documents or {})


def _text(source: Source) -> str:
    return source.text.decode(*AS_IT_IS) if isinstance(source.text, bytes) else source.read()


def _of_paths(paths: Sequence[Path], config: Config, *more: object, **named: object) -> dict[str, str]:
    """The texts of the project that paths belong to; of this one here those under the paths alone."""
    root = config.root.resolve()
    folders = [path.resolve() for path in paths] if PROJECT.is_relative_to(root) else [root]
    if any(PROJECT.is_relative_to(folder) for folder in folders):
        raise ValueError("a test has all of this project analysed, which is no program")
    return {
        path.relative_to(root).as_posix(): path.read_bytes().decode(*AS_IT_IS)
        for folder in folders
        for path in sorted([folder, *folder.rglob("*")])
        if path.is_file() and not _SKIPPED.intersection(path.relative_to(root).parts)
    }
