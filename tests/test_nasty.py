"""Names and texts that would drive a terminal, a runner or a browser: no format, and no line of ours, lets them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from detlint.cli import cli
from detlint.output import formats
from detlint.support.printed import in_json, no_command, one_line, printable
from tests.test_formats import READERS

RED, TITLE, BIDI, C1 = "\x1b[31m", "\x1b]0;owned\x07", "\u202e\u2066", "\x9b31m"
DRIVING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
NAMES = (
    "::error::a.py",
    "a\n::error file=x,line=1::owned.py",
    f"{RED}red.py",
    f"{BIDI}yp.py",
    f"{C1}.py",
    "a%0A::set-output name=x::y.py",
    "<script>alert(1)</script>.py",
    "'\"&<!--]]>.py",
    "a#b?c%20d.py",
    "\r\x08gone.py",
    "a\u2028b.py",
    "-rf.py",
    "tab\there.py",
)
FOLDER = f"dir {RED}::warning::"
TEXT = f"""\
import torch
import os
y = "{RED}{TITLE}{BIDI}{C1}\x0c</pre><script>]]>%0A::error::x"; torch.backends.cudnn.benchmark = True
print(torch.empty(2))  # {TITLE}{BIDI}
names = os.listdir("{RED}{BIDI}")
for name in names: print(name)
broken = torch.rand(2, out="{RED}")
"""
BROKEN = f"x = = '{RED}{BIDI}'\n"


@pytest.fixture
def nasty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of such files, all of them with findings."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "detlint.toml").write_text('select = ["ALL"]\n')
    (tmp_path / FOLDER).mkdir()
    for number, name in enumerate(NAMES):
        text = BROKEN if number % 6 == 5 else TEXT
        for folder in (tmp_path, *[tmp_path / FOLDER] * (number < 2)):
            (folder / name.replace("/", "\u2215")).write_text(text, encoding="utf-8", newline="")
    cells = [{"cell_type": "code", "source": TEXT.replace("\x0c", "")}]
    (tmp_path / f"{RED}book.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    return tmp_path


def detlint(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, [*arguments, "--jobs", "1", "--no-cache"])
    assert result.exit_code in (0, 1), result.output
    return result


def clean(text: str) -> None:
    """That a text drives nothing, and begins no line with a command."""
    assert not DRIVING.search(text), DRIVING.findall(text)
    assert not [line for line in re.split(r"[\r\n]", text) if line.strip().startswith("::")]


@pytest.mark.parametrize("name", [name for name in formats.NAMES if name != "github"])
def test_no_format_lets_a_name_or_an_excerpt_drive_what_shows_it(nasty: Path, name: str) -> None:
    result = detlint("--format", name)
    clean(result.stdout)
    clean(result.stderr)
    if name == "text":
        heads = [line for line in result.stdout.splitlines() if re.search(r":\d+:\d+: \w+ DET\d+ ", line)]
        assert len(heads) >= 30
        assert "\\x1b[31m" in result.stdout and "\\u202e" in result.stdout
        carets = [
            (a, b)
            for a, b in zip(result.stdout.splitlines(), result.stdout.splitlines()[1:], strict=False)
            if "^^" in b
        ]
        assert all(len(b) <= len(a) for a, b in carets if "torch.empty(2)" in a)
        shown = next(a[b.index("^") : b.rindex("^") + 1] for a, b in carets if "benchmark" in a)
        assert shown == "torch.backends.cudnn.benchmark = True"


def test_a_command_to_github_is_one_and_says_what_it_means(nasty: Path) -> None:
    result = detlint("--format", "github")
    assert not DRIVING.search(result.stdout)
    lines = result.stdout.splitlines()
    assert all(
        re.match(r"::(error|warning|notice) title=detlint \(DET\d+\),file=[^:,]*,line=\d+", line) for line in lines
    )
    rows = list(READERS["github"](result.stdout))
    assert {row[1] for row in rows} >= {
        "::error::a.py",
        "a\n::error file=x,line=1::owned.py",
        "a%0A::set-output name=x::y.py",
    }


@pytest.mark.parametrize("name", ["json", "gitlab", "rdjson", "sarif"])
def test_json_says_the_names_as_they_are(nasty: Path, name: str) -> None:
    text = detlint("--format", name).stdout
    data = json.loads(text)
    if name == "json":
        found = {each["path"] for each in data["findings"]}
    elif name == "sarif":
        places = [
            result["locations"][0]["physicalLocation"]["artifactLocation"] for result in data["runs"][0]["results"]
        ]
        for place in places:
            assert re.fullmatch(r"[A-Za-z0-9._~/%-]+", place["uri"]), place
            assert not urlsplit(place["uri"]).scheme and not urlsplit(place["uri"]).netloc
        found = {unquote(place["uri"]) for place in places}
    else:
        found = {row[1] for row in READERS[name](text)}
    assert found >= {each.replace("/", "\u2215") for each in NAMES}
    assert any(each.startswith(f"{FOLDER}/") for each in found)


def test_xml_is_well_formed_and_says_no_more_than_text(nasty: Path) -> None:
    suite = ElementTree.fromstring(detlint("--format", "junit").stdout)
    assert {each.tag for each in suite.iter()} == {"testsuites", "testsuite", "testcase", "failure"}
    assert any("<script>" in (each.get("classname") or "") for each in suite.iter("testcase"))


def test_what_is_said_beside_the_report_is_clean_too(nasty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clean(detlint("entries").output)
    clean(detlint("entries", "--format", "json").output)
    clean(detlint("--statistics").output)
    result = detlint("--fix", "--unsafe-fixes")
    clean(result.stderr)
    assert "fixed: " in result.stderr
    for arguments in ([f"{RED}none.py"], ["--select", f"{RED}"], ["--baseline", f"{BIDI}.json"], ["--breaks", RED]):
        result = CliRunner().invoke(cli, arguments)
        assert result.exit_code == 2
        clean(result.stderr)
    (nasty / "detlint.toml").write_text(f'"{json.dumps(RED)[1:-1]}" = 1\n')
    result = CliRunner().invoke(cli, ["."])
    assert result.exit_code == 2 and "unknown setting" in result.stderr
    clean(result.stderr)


def test_what_is_printed_says_what_it_was() -> None:
    text = f"é 漢 😀 {RED}{BIDI}{C1}\t\n"
    assert printable(text) == "é 漢 😀 \\x1b[31m\\u202e\\u2066\\x9b31m\t\n"
    assert one_line(text) == "é 漢 😀 \\x1b[31m\\u202e\\u2066\\x9b31m\\t\\n"
    assert json.loads(in_json(json.dumps(text, ensure_ascii=False))) == text
    assert [no_command(each) for each in ("::a", "  ::a", "a::b")] == ["./::a", "./  ::a", "a::b"]
