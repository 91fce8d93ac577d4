"""What holds for every program, tried on programs that are made up.

`pytest --hypothesis-profile=long tests/test_generated_programs.py` tries many more, other ones each time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from packaging.version import Version

from detlint import catalogue, engine, reading
from detlint.analyse import UNPARSED, Source, undisturbed
from detlint.output.json import render
from detlint.reading import cst_tree
from detlint.reading.ast_strings import UnclearError
from detlint.report import Report
from detlint.tree import syntax as s
from tests import promises
from tests.programs import is_python, programs
from tests.readings import by_ast, by_libcst, told, without_places

pytestmark = pytest.mark.slow

TORCH: Version = catalogue.load().newest_release()
SOME = settings(max_examples=max(5, settings.default.max_examples // 4) if settings.default else 5)
PLAIN = (s.Name, s.Call, s.Attribute, s.Subscript, s.Collection, s.Dictionary, s.Conditional, s.Lambda)


@given(programs())
def test_both_ways_tell_the_same(text: str) -> None:
    """Nodes, spans, names, scopes and bindings."""
    assume(is_python(text))
    with undisturbed():
        libcst = by_libcst(text, "package.inner")
        try:
            found = by_ast(text, "package.inner")
        except UnclearError:
            read = reading.read(text, "package.inner")
            found = told(read.file, read.spans)
        if cst_tree.parse(text).code != text:  # it drops some ends of lines and spaces, and then its places are off
            found, libcst = without_places(found), without_places(libcst)
        assert found == libcst


@given(programs())
def test_the_text_at_a_span_is_that_of_the_node(text: str) -> None:
    assume(is_python(text))
    read = reading.read(text)
    for node in s.walk(read.file):
        start, end = read.spans.of(node)
        assert 0 <= start <= end <= len(text)
        if type(node) in PLAIN and start < end and not _is_target(node):
            again = reading.read(f"(\n{text[start:end]}\n)\n").file.body.statements
            assert len(again) == 1 and isinstance(again[0], s.ExpressionStatement)
            assert _shape(again[0].value) == _shape(node)


def _is_target(node: s.Node) -> bool:
    """Whether something is bound to a node, which reads otherwise than as a value."""
    bound = (
        node if not isinstance(node, s.Collection) else next((n for n in s.walk(node) if isinstance(n, s.Name)), None)
    )
    return getattr(bound, "stored", False)


def _shape(node: s.Node) -> list[tuple[str, object]]:
    """A node and those below it, without their places."""
    return [(type(each).__name__, getattr(each, "id", getattr(each, "attribute", None))) for each in s.walk(node)]


@given(programs())
def test_a_finding_stands_in_its_file_and_a_fix_changes_what_it_says(text: str) -> None:
    assume(is_python(text))
    item = Source("train.py", "train", text)
    with undisturbed():
        found = promises.report(item)
        assert UNPARSED not in {judged.finding.code for judged in found.findings}
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for judged in found.findings:
            place = judged.finding.place
            assert (1, 1) <= (place.line, place.column) <= (place.end_line, place.end_column)
            assert place.end_column <= len(lines[place.end_line - 1]) + 1
        assert promises.document(item, found) == promises.document(item, promises.report(item))
        assert list(promises.broken_by_fixes(item.path, item.name, text, found)) == []


@given(st.text(max_size=60) | programs().map(lambda text: text[len(text) // 3 : -3]))
def test_a_text_that_is_no_program_is_a_finding(text: str) -> None:
    with undisturbed():
        found = promises.report(Source("train.py", "train", text)).findings
    messages = [judged.finding.message for judged in found if judged.finding.code == UNPARSED]
    assert not any("detlint failed" in message for message in messages)
    assert is_python(text) <= (not messages)


# Runs over several files


def _said(report: Report) -> str:
    return render(replace(report, seconds=0.0), lambda path: Path(path).read_text(encoding="utf-8"))


def _in_folder(texts: list[str], do: Callable[[list[Path]], None]) -> None:
    """Do something in a folder with these files, some of which import others."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            paths = [Path(f"m{number}.py") for number in range(len(texts))]
            for number, (path, text) in enumerate(zip(paths, texts, strict=True)):
                path.write_bytes(f"from m{(number + 1) % len(texts)} import f, A\n{text}\n".encode())
            do(paths)
        finally:
            os.chdir(before)


PROJECTS = st.lists(programs().filter(is_python), min_size=3, max_size=5)


@SOME
@given(PROJECTS)
def test_neither_cache_nor_order_nor_processes_matter(texts: list[str]) -> None:
    def runs(paths: list[Path]) -> None:
        alone = _said(engine.check_paths(paths, promises.CONFIG, TORCH, jobs=1))
        assert _said(engine.check_paths(paths[::-1], promises.CONFIG, TORCH, jobs=1)) == alone
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("detlint.gathering._BATCH", 1)
            assert _said(engine.check_paths(paths, promises.CONFIG, TORCH, jobs=3)) == alone
        cached = replace(promises.CONFIG, cache_dir=Path("cache"))
        for _ in range(2):
            assert _said(engine.check_paths(paths, cached, TORCH, jobs=1)) == alone

    _in_folder(texts, runs)


@settings(SOME, max_examples=1)
@given(st.lists(programs().filter(is_python), min_size=10, max_size=10))
def test_the_seed_of_hashes_does_not_matter(texts: list[str]) -> None:
    def runs(paths: list[Path]) -> None:
        command = [sys.executable, "-m", "detlint", "--select", "ALL", "--unsafe-fixes", "--diff", "."]
        said = set()
        for seed in "012":
            environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parent.parent)}
            done = subprocess.run(command, capture_output=True, env=environment)
            assert done.returncode in (0, 1), done.stderr
            said.add((done.stdout, done.stderr))
        assert len(said) == 1

    _in_folder(texts, runs)
