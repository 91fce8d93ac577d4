"""The formats for code review: what they say is what the report says, in the form that their readers take."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import jsonschema
import pytest
import xmlschema
from click.testing import CliRunner

from detlint import catalogue
from detlint.cli import cli
from detlint.config import Config
from detlint.output import formats
from detlint.report import Report
from tests.reviewed import BENCHMARK, LINES, made

DATA = Path(__file__).parent / "data"

# Each format read back, as rule, path, line and message


Row = tuple[str, str, int, str]


def github(text: str) -> Iterator[Row]:
    """As the runner of GitHub Actions reads commands."""
    for line in text.splitlines():
        match = re.fullmatch("::(?:error|warning|notice) (.*?)::(.*)", line)
        assert match, line
        pairs = (pair.split("=", 1) for pair in match[1].split(","))
        properties = {key: unescaped(value, "%3A", "%2C") for key, value in pairs}
        code = properties["title"].removeprefix("detlint (").removesuffix(")")
        yield code, properties["file"], int(properties["line"]), unescaped(match[2])


def unescaped(text: str, *more: str) -> str:
    for escape in (*more, "%0D", "%0A", "%25"):
        text = text.replace(escape, chr(int(escape[1:], 16)))
    return text


def gitlab(text: str) -> Iterator[Row]:
    for issue in json.loads(text):
        place = issue["location"]
        yield issue["check_name"], place["path"], place["lines"]["begin"], issue["description"]


def rdjson(text: str) -> Iterator[Row]:
    for each in json.loads(text)["diagnostics"]:
        place = each["location"]
        yield each["code"]["value"], place["path"], place["range"]["start"]["line"], each["message"]


def sarif(text: str) -> Iterator[Row]:
    (run,) = json.loads(text)["runs"]
    for result in run["results"]:
        if result["suppressions"]:
            continue
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uriBaseId"] in run["originalUriBaseIds"]
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        message = re.sub(r"\{(\{\d+\})\}", r"\1", result["message"]["text"])
        yield result["ruleId"], unquote(place["artifactLocation"]["uri"]), place["region"]["startLine"], message


def junit(text: str) -> Iterator[Row]:
    for case in ElementTree.fromstring(text).iter("testcase"):
        name = re.fullmatch(r"(\w+) \S+ at (cell \d+:)?(\d+):\d+", case.get("name", ""))
        path, failure = case.get("classname"), case.find("failure")
        assert name and path and failure is not None
        line = LINES[path] if name[2] else int(name[3])
        yield name[1], path, line, failure.get("message", "")


def html(text: str) -> Iterator[Row]:
    path = ""
    for shown in Shown(text).texts:
        if match := re.fullmatch(r"(error|warning|note) (\w+) (cell \d+:)?(\d+):\d+ (.*)", shown, re.S):
            yield match[2], path, LINES[path] if match[3] else int(match[4]), match[5]
        else:
            path = shown.rpartition(" ")[0]


class Shown(HTMLParser):
    """The texts of the headings of files, and of the lines that open findings."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._inside, self._quote = False, ""
        self.feed(text.partition("<main>")[2].partition("</main>")[0])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("h3", "summary"):
            self._inside, self._quote = True, ""
            self.texts.append("")
        if ("class", "msg") in attrs:
            self._quote = "`"  # messages write code so
        if tag == "code":
            self.handle_data(self._quote)

    def handle_endtag(self, tag: str) -> None:
        if tag == "code":
            self.handle_data(self._quote)
        self._inside = self._inside and tag not in ("h3", "summary")

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.texts[-1] += data


READERS: dict[str, Callable[[str], Iterator[Row]]] = {
    "github": github, "gitlab": gitlab, "rdjson": rdjson, "sarif": sarif, "junit": junit, "html": html,
}  # fmt: skip


def test_each_format_has_a_reader() -> None:
    assert READERS.keys() == set(formats.NAMES) - {"text", "concise", "grouped", "json"}, "add a reader to READERS"


@pytest.mark.parametrize("name", READERS)
def test_each_format_tells_the_rule_the_place_and_the_message_of_each_finding(name: str) -> None:
    rows = list(READERS[name](made().texts[name]))
    assert len(rows) == len(made().report.findings) >= 8
    for row, judged in zip(rows, made().report.findings, strict=True):
        finding = judged.finding
        line = LINES.get(finding.place.path, finding.place.line)
        message = finding.message
        if name in ("github", "junit", "html"):
            message = message.replace("\x1b", "\\x1b").replace("\ufffe", "\\ufffe")
        if name == "html":
            message = message.replace("\r", "\\r")
        assert row[:3] == (finding.code, finding.place.path, line)
        assert row[3].startswith(message)


def test_related_places_are_told_with_their_messages() -> None:
    (judged,) = (each for each in made().report.findings if each.finding.code == "DET101")
    wanted = [(related.message, related.place.line) for related in judged.finding.related]
    assert len(wanted) == 2
    result = next(r for r in json.loads(made().texts["sarif"])["runs"][0]["results"] if r["ruleId"] == "DET101")
    links = re.findall(r"^\[(.*)\]\((\d)\)$", result["message"]["text"], re.M)
    assert [(text, int(number)) for text, number in links] == [(wanted[0][0], 1), (wanted[1][0], 2)]
    found = [
        (each["message"]["text"], each["physicalLocation"]["region"]["startLine"])
        for each in result["relatedLocations"]
    ]
    assert found == wanted
    result = next(r for r in json.loads(made().texts["rdjson"])["diagnostics"] if r["code"]["value"] == "DET101")
    found = [(each["message"], each["location"]["range"]["start"]["line"]) for each in result["related_locations"]]
    assert found == wanted
    for message, line in wanted:
        assert f"train.py:{line}:" in made().texts["junit"] and message in made().texts["junit"]
        assert f"train.py:{line}:" in made().texts["github"] and message in made().texts["github"]


# The forms that readers ask for


def test_sarif_is_valid_by_its_schema() -> None:
    schema = json.loads((DATA / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads(made().texts["sarif"]))


def test_sarif_tells_what_suppresses_a_finding_and_other_formats_leave_it_out() -> None:
    (run,) = json.loads(made().texts["sarif"])["runs"]
    told = [result["suppressions"] for result in run["results"] if result["suppressions"]]
    assert told[0] == [{"kind": "external", "status": "accepted"}]
    (comment,) = told[1]
    assert (comment["kind"], comment["justification"]) == ("inSource", "measured")
    assert comment["location"]["physicalLocation"]["region"]["startColumn"] > 38
    (hidden,) = (each.judged.finding for each in made().report.suppressed if each.kind == "noqa")
    for name in READERS.keys() - {"sarif"}:
        assert (hidden.code, "train.py", hidden.place.line) not in [
            row[:3] for row in READERS[name](made().texts[name])
        ]


def test_sarif_tells_what_could_not_be_followed() -> None:
    (run,) = json.loads(made().texts["sarif"])["runs"]
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is True
    notes = [(note["level"], note["message"]["text"]) for note in invocation["toolExecutionNotifications"]]
    assert notes == [("warning", "train.py: too deep"), ("note", "some are not shown")]


def test_sarif_has_the_pages_of_the_rules_that_were_found() -> None:
    (run,) = json.loads(made().texts["sarif"])["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted({result["ruleId"] for result in run["results"]})
    for rule in rules:
        page = rule["help"]["markdown"]
        assert catalogue.load().rules[rule["id"]].prose[:60] in page
        assert ".md)" not in page
        assert max(len(rule[key]["text"]) for key in ("shortDescription", "fullDescription")) <= 1024  # GitHub's limit


def test_fingerprints_are_the_same_in_sarif_and_for_gitlab_and_no_two_are_alike() -> None:
    (run,) = json.loads(made().texts["sarif"])["runs"]
    known = [r["partialFingerprints"]["detlint/v1"] for r in run["results"]]
    assert len(set(known)) == len(known)
    shown = [r["partialFingerprints"]["detlint/v1"] for r in run["results"] if not r["suppressions"]]
    assert [issue["fingerprint"] for issue in json.loads(made().texts["gitlab"])] == shown


def test_severities_are_those_that_readers_know() -> None:
    wanted = [judged.severity.value for judged in made().report.findings]
    assert {"error", "warning", "note"} == set(wanted)
    told = re.findall("^::([a-z]+)", made().texts["github"], re.M)
    assert [{"notice": "note"}.get(word, word) for word in told] == wanted
    words = {"major": "error", "minor": "warning", "info": "note"}
    assert [words[issue["severity"]] for issue in json.loads(made().texts["gitlab"])] == wanted
    words = {"ERROR": "error", "WARNING": "warning", "INFO": "note"}
    assert [words[each["severity"]] for each in json.loads(made().texts["rdjson"])["diagnostics"]] == wanted


def test_rdjson_has_the_fields_of_a_diagnostic_result_and_no_others() -> None:
    where: dict[str, Any] = {
        "path": str,
        "range": {"start": {"line": int, "column": int}, "end": {"line": int, "column": int}},
    }
    lines: dict[str, Any] = {"start": {"line": int}, "end": {"line": int}}
    diagnostic = {
        "message": str, "location": where, "severity": str, "code": {"value": str},
        "suggestions": [{"range": lines, "text": str}], "related_locations": [{"message": str, "location": where}],
    }  # fmt: skip
    assert_shape(json.loads(made().texts["rdjson"]), {"source": {"name": str}, "diagnostics": [diagnostic]})


def assert_shape(value: Any, shape: Any) -> None:
    if isinstance(shape, dict):
        assert value.keys() <= shape.keys()
        for key, each in value.items():
            assert_shape(each, shape[key])
    elif isinstance(shape, list):
        assert value
        for each in value:
            assert_shape(each, shape[0])
    else:
        assert isinstance(value, shape)


def test_junit_is_valid_by_the_schema_of_jenkins(tmp_path: Path) -> None:
    schema = xmlschema.XMLSchema(DATA / "junit-10.xsd")
    schema.validate(made().texts["junit"])
    (suite,) = ElementTree.fromstring(made().texts["junit"])
    assert suite.get("tests") == suite.get("failures") == str(len(made().report.findings))
    clean = formats.render("junit", Report((), 3, 0, 0.5), Config(root=tmp_path))
    schema.validate(clean)
    (suite,) = ElementTree.fromstring(clean)
    assert (suite.get("tests"), suite.get("failures"), len(suite.findall("testcase"))) == ("1", "0", 1)


# The command line


@pytest.mark.parametrize("name", formats.NAMES)
def test_every_format_can_be_chosen_and_written_to_a_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(f"import torch\n{BENCHMARK}\n")
    result = CliRunner().invoke(cli, ["--format", name, "--output", "out", "train.py"])
    assert (result.exit_code, result.output) == (1, "")
    assert "DET501" in Path("out").read_text(encoding="utf-8")
    assert Path("out").read_bytes().endswith(b"\n")
    Path("train.py").write_text("")
    result = CliRunner().invoke(cli, ["--format", name, "train.py"])
    assert (result.exit_code, "DET501" in result.stdout) == (0, False)


def test_statistics_are_text() -> None:
    result = CliRunner().invoke(cli, ["--format", "sarif", "--statistics", "."])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "detlint: --statistics counts in text: leave out --format sarif\n"
