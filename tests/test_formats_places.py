"""The formats for code review: the places they name, and the fixes that they offer, lead into the files."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from detlint import catalogue, engine
from detlint.applying import fixer
from detlint.applying.rewriting import still_runs
from detlint.config import Config
from detlint.finding import Place, Safety
from detlint.output import formats
from detlint.output.files import Text
from detlint.output.offers import replacements, whole_lines
from detlint.report import Judged, Report
from detlint.sources import notebook
from tests.reviewed import BENCHMARK, EMPTY, FILES, ODD, made, shown

# Places


def test_regions_and_ranges_hold_the_text_that_is_found() -> None:
    for finding, result, diagnostic in shown():
        place = finding.place
        raw = FILES[place.path]
        wanted = cut(notebook.texts(place.path, raw)[place.cell], place) if place.cell is not None else cut(raw, place)
        region = result["locations"][0]["physicalLocation"]["region"]
        ends = (region["startLine"], region["startColumn"], region["endLine"], region["endColumn"])
        found = cut(raw, Place(place.path, *ends))
        assert (json.loads(f'"{found}"') if place.cell is not None else found) == wanted
        start, end = (diagnostic["location"]["range"][key] for key in ("start", "end"))
        lines = raw.encode().splitlines(keepends=True)[start["line"] - 1 : end["line"]]
        lines[-1] = lines[-1][: end["column"] - 1]
        assert b"".join(lines)[start["column"] - 1 :].decode() == found


def cut(text: str, place: Place) -> str:
    lines = Text(text)
    return text[lines.offset(place.line, place.column) : lines.offset(place.end_line, place.end_column)]


@pytest.mark.parametrize(("text", "end"), [("a\nbc", (2, 3)), ("a\nbc\n", (3, 1)), ("", (1, 1)), ("a\r\n", (2, 1))])
def test_a_text_ends_on_a_line_that_is_there(text: str, end: tuple[int, int]) -> None:
    assert Text(text).position(len(text)) == end
    assert Text(text).offset(*end) == len(text)


def test_a_place_in_a_notebook_also_names_its_cell() -> None:
    (result,) = (
        result
        for result in json.loads(made().texts["sarif"])["runs"][0]["results"]
        if result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "string.ipynb"
    )
    (location,) = result["locations"]
    assert location["logicalLocations"] == [{"name": "cell 2", "kind": "cell"}]
    assert location["properties"] == {"cell": 1, "line": 2, "column": 20}
    for name in ("gitlab", "github", "rdjson"):
        assert "cell 2, line 2" in made().texts[name]


def test_columns_are_left_out_of_an_annotation_of_several_lines() -> None:
    several = [line for line in made().texts["github"].splitlines() if "DET503" in line]
    assert [re.findall(r"(\w+)=\d+", line) for line in several] == [["line", "endLine"]]


def test_files_are_named_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    for path in ("a.py", "../b c.py"):
        Path(path).write_text(f"import torch\n{BENCHMARK}\n")
    paths = [here / "a.py", Path("../b c.py"), Path("../here/./a.py")]
    release = catalogue.load().newest_release()
    found = [engine.check_paths([path], Config(root=here), release, jobs=1).findings[0] for path in paths]
    report = Report(tuple(found), 3, 0, 0.0)
    run = json.loads(formats.render("sarif", report, Config(root=here)))["runs"][0]
    uris = [result["locations"][0]["physicalLocation"]["artifactLocation"] for result in run["results"]]
    outside = (tmp_path / "b c.py").as_uri()
    assert sorted((uri["uri"], uri.get("uriBaseId")) for uri in uris) == sorted(
        [("a.py", "SRCROOT"), ("a.py", "SRCROOT"), (outside, None)]
    )
    issues = json.loads(formats.render("gitlab", report, Config(root=here)))
    assert [issue["location"]["path"] for issue in issues] == ["a.py", "../b c.py", "a.py"]


def test_a_name_that_is_no_utf8_is_escaped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"\xff.py")
    try:
        Path(name).write_text(f"import torch\n{BENCHMARK}\n")
    except OSError:
        pytest.skip("this file system has names in UTF-8 only")
    report = engine.check_paths([Path()], Config(root=tmp_path), catalogue.load().newest_release(), jobs=1)
    texts = {each: formats.render(each, report, Config(root=tmp_path)) for each in formats.NAMES}
    assert "%FF.py" in texts.pop("sarif")
    for text in texts.values():
        assert "\\udcff.py" in text


# Fixes


def test_fixes_made_by_readers_are_those_that_the_fixer_makes() -> None:
    offered = set()
    for finding, result, diagnostic in shown():
        path, old = finding.place.path, FILES[finding.place.path]
        wanted = dict(fixer.apply([finding], FILES.__getitem__, made().settings).texts)
        for fix in result.get("fixes", ()):
            (change,) = fix["artifactChanges"]
            assert {path: replaced(old, change["replacements"])} == wanted
            assert finding.fix is not None and fix["description"]["text"] == finding.fix.title
            offered.add(("sarif", path, finding.code))
        for suggestion in diagnostic.get("suggestions", ()):
            new = suggested(old, suggestion)
            assert {path: new} == wanted
            assert still_runs(path, old, new)
            offered.add(("rdjson", path, finding.code))
    by_format = {name: {each[1:] for each in offered if each[0] == name} for name in ("sarif", "rdjson")}
    assert by_format["sarif"] == by_format["rdjson"]
    expected = {(ODD, "DET401"), ("list.ipynb", "DET401"), ("string.ipynb", "DET401"), ("near/near.py", "DET201")}
    assert expected <= by_format["sarif"]
    assert ("train.py", "DET101") not in by_format["sarif"]  # it needs a copy of the runtime first


def replaced(text: str, changes: list[Any]) -> str:
    for change in reversed(changes):
        region = change["deletedRegion"]
        ends = (region["startLine"], region["startColumn"], region["endLine"], region["endColumn"])
        start, end = Text(text).offset(*ends[:2]), Text(text).offset(*ends[2:])
        text = text[:start] + change["insertedContent"]["text"] + text[end:]
    return text


def suggested(text: str, suggestion: Any) -> str:
    lines = text.splitlines(keepends=True)
    first, last = (suggestion["range"][key]["line"] for key in ("start", "end"))
    ending = re.search(r"[\r\n]*\Z", lines[last - 1])
    assert ending and suggestion["text"]
    return "".join((*lines[: first - 1], suggestion["text"], ending[0], *lines[last:]))


def test_what_no_suggestion_can_do_is_said() -> None:
    said = {(finding.code, finding.place.path): diagnostic["message"] for finding, _, diagnostic in shown()}
    assert "fix with `detlint --fix`: Seed with" in said["DET101", "train.py"]
    assert "fix with" not in said["DET201", "near/near.py"]


def test_only_safe_fixes_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def with_safety(judged: Judged, safety: Safety) -> Judged:
        assert judged.finding.fix is not None
        return replace(judged, finding=replace(judged.finding, fix=replace(judged.finding.fix, safety=safety)))

    judged = next(each for each in made().report.findings if each.finding.place.path == ODD)
    monkeypatch.chdir(tmp_path)
    Path(ODD).parent.mkdir()
    Path(ODD).write_bytes(FILES[ODD].encode())
    for safety, said in ((Safety.UNSAFE, "`detlint --fix --unsafe-fixes`"), (Safety.DISPLAY, "fix by hand")):
        report = Report((with_safety(judged, safety),), 1, 0, 0.0)
        texts = {name: formats.render(name, report, Config(root=tmp_path)) for name in ("sarif", "rdjson")}
        assert "fixes" not in json.loads(texts["sarif"])["runs"][0]["results"][0]
        (diagnostic,) = json.loads(texts["rdjson"])["diagnostics"]
        assert "suggestions" not in diagnostic and said in diagnostic["message"]


def test_what_would_repeat_much_is_no_suggestion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(f"import torch\nx = '{'a' * 5000}'; {EMPTY}\n")
    report = engine.check_paths([Path()], Config(root=tmp_path), catalogue.load().newest_release(), jobs=1)
    (diagnostic,) = json.loads(formats.render("rdjson", report, Config(root=tmp_path)))["diagnostics"]
    assert "suggestions" not in diagnostic and "fix with `detlint --fix`" in diagnostic["message"]
    (run,) = json.loads(formats.render("sarif", report, Config(root=tmp_path)))["runs"]
    (change,) = run["results"][0]["fixes"][0]["artifactChanges"]
    assert [each["insertedContent"]["text"] for each in change["replacements"]] == ["zeros"]


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("a\nb\nc\n", "a\nB\nc\n", (2, 2, "B")),
        ("a\nc\n", "a\nb\nc\n", (2, 2, "b\nc")),
        ("a\n", "a\nb\n", (1, 1, "a\nb")),
        ("a\nb\nc\n", "a\nc\n", (2, 3, "c")),
        ("a\nb\n", "a\n\n", (1, 2, "a\n")),
        ("a\r\nb\r\n", "a\r\nc\r\nd\r\n", (2, 2, "c\r\nd")),
        ("a\nb", "a\nc", (2, 2, "c")),
        ("a\n", "", None),
    ],
)
def test_a_change_as_whole_lines(old: str, new: str, lines: tuple[int, int, str] | None) -> None:
    assert whole_lines(Text(old), new) == lines
    if lines is not None:
        given = {"range": {"start": {"line": lines[0]}, "end": {"line": lines[1]}}, "text": lines[2]}
        assert suggested(old, given) == new


@pytest.mark.parametrize(
    ("old", "new", "made"),
    [
        ("x = True\n", "x = False\n", [((1, 5, 1, 9), "False")]),
        ("a\nb\n", "a\nb\nc\n", [((2, 2, 2, 2), "\nc")]),
        ("a\r\nb\r\nc\r\nd\r\n", "A\r\nb\r\nc\r\nD\r\n", [((1, 1, 1, 2), "A"), ((4, 1, 4, 2), "D")]),
        ("f(x)", "f(g(x))", [((1, 3, 1, 4), "g(x)")]),
    ],
)  # fmt: skip
def test_a_change_as_replacements(old: str, new: str, made: list[Any]) -> None:
    found = [
        ((r.span.line, r.span.column, r.span.end_line, r.span.end_column), r.text) for r in replacements(Text(old), new)
    ]
    assert found == made
