"""`--format html`: what the page says is what is found, escaped, alike in each run, and legible."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html import unescape
from pathlib import Path

import pytest

from detlint import catalogue, engine
from detlint.applying import fixer
from detlint.config import Config
from detlint.finding import Verification
from detlint.output import formats
from detlint.output.entries_words import told
from detlint.output.files import Files
from detlint.output.html_diff import Hunk
from detlint.output.html_finding import Articles
from detlint.report import Programs, Report
from detlint.sources import notebook
from detlint.sources.source import lines_of
from detlint.support import page
from tests.reviewed import FILES, made
from tests.support import report as reported

ROOT = Path(__file__).parent.parent
EXAMPLES = "docs/examples/segmentation"


def shown(html: str) -> str:
    """The text of a page."""
    return " ".join(unescape(re.sub(r"<(style|script)>.*?</\1>|<[^>]*>", "", html, flags=re.S)).split())


@pytest.fixture(scope="module")
def example() -> tuple[Report, Programs, str]:
    """The report on an example, its entry points, and the page of both."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        config, torch = Config(root=ROOT), catalogue.load().newest_release()
        report = engine.check_paths([Path(EXAMPLES)], config, torch, jobs=1)
        programs = engine.entries_of([Path(EXAMPLES)], config, torch, jobs=1)
        return report, programs, formats.render("html", report, config, programs=programs)


@pytest.mark.slow
def test_two_runs_write_the_same_bytes() -> None:
    command = [sys.executable, "-m", "detlint", "--format", "html", "--jobs", "1", EXAMPLES]
    pages = [
        subprocess.run(command, cwd=ROOT, capture_output=True, env=os.environ | {"PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2")
    ]
    assert pages[0] == pages[1]
    assert pages[0].startswith(b"<!doctype html>") and pages[0].endswith(b"</html>\n")


def test_the_policy_allows_the_style_and_the_script_of_the_page_and_nothing_else() -> None:
    text = made().texts["html"]
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules.pop("default-src") == rules.pop("base-uri") == rules.pop("form-action") == "'none'"
    for tag in ("style", "script"):
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.S)
        assert rules.pop(f"{tag}-src") == f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
    assert not rules
    assert not re.search(r"\s(style|on\w+|src)=", re.sub(r"<(style|script)>.*?</\1>", "", text, flags=re.S))


def test_what_is_found_cannot_become_a_part_of_the_page() -> None:
    text = made().texts["html"]
    assert "<&>" not in text and "&lt;&amp;&gt;" in text
    assert "\x1b" not in text and "a\\x1b[31m" in text
    assert page.text("</script>\u202e\"'&") == "&lt;/script&gt;\\u202e&quot;&#x27;&amp;"
    assert page.prose("`<b>` & `x") == "<code>&lt;b&gt;</code> &amp; `x"


def test_an_entry_point_is_told_as_detlint_entries_tells_it(example: tuple[Report, Programs, str]) -> None:
    _, programs, text = example
    (entry,) = programs.entries
    sentences = [sentence for _, _, sentence in told(entry, everything=True)]
    assert len(sentences) == 2
    for sentence in (*sentences, "torch late", "2 loaders: 0 with generator, 0 with worker_init_fn"):
        assert sentence in shown(text)
    assert "10 in the files that it loads" in shown(text)
    assert set(re.findall(r'class=file data-p="([\d ]+)"', text)) == {"0"}


def test_a_finding_has_its_lines_its_path_its_reasons_and_its_rule(example: tuple[Report, Programs, str]) -> None:
    report, _, text = example
    assert len(re.findall("<details class=finding", text)) == len(report.findings) == 10
    said = shown(text)
    for judged in report.findings:
        finding, rule = judged.finding, judged.rule
        (article,) = re.findall(f'<details class=finding[^>]*data-c="{finding.code}".*?</details>', text, re.S)
        line = lines_of((ROOT / finding.place.path).read_text())[finding.place.line - 1]
        marked = line[finding.place.column - 1 : finding.place.end_column - 1]
        assert marked and marked in unescape("".join(re.findall("<mark>(.*?)</mark>", article)))
        for related in finding.related:
            assert shown(page.prose(related.message)) in shown(article)
        assert shown(page.prose(judged.why)) in shown(article)
        assert f'href="#{rule.code}"' in article and text.count(f'id="{rule.code}"') == 1
        assert shown(page.prose(rule.summary)) in said


def test_nothing_found_says_what_was_looked_at() -> None:
    text = formats.render("html", Report((), 3, 2, 0.5, notes=("some files are not shown",)), Config(root=ROOT))
    assert "detlint: nothing found in 3 files" in shown(text)
    assert "Looked at 3 files and 2 entry points." in shown(text)
    assert "some files are not shown" in shown(text)
    assert "<main>" not in text and "id=filters" not in text


@pytest.mark.parametrize(("findings", "opened"), [(1, True), (30, True), (31, False), (60, False)])
def test_few_findings_are_shown_opened_and_many_are_not(findings: int, opened: bool) -> None:
    switched = "torch.backends.cudnn.benchmark = True\n"
    found = reported({"train.py": "import torch\n\n" + switched * findings}, ("DET501",))
    text = formats.render("html", found, Config(root=ROOT))
    assert text.count("<details class=finding ") == findings
    assert len(re.findall("<details class=finding [^>]* open>", text)) == (findings if opened else 0)
    assert "withheld" not in shown(text)


def test_what_is_withheld_is_counted() -> None:
    found = reported({"train.py": "import torch\n\ntorch.backends.cudnn.benchmark = True  # noqa: DET501\n"})
    assert "1 finding withheld by comments, settings or a baseline." in shown(
        formats.render("html", found, Config(root=ROOT))
    )


def test_what_was_measured_is_told_with_its_numbers() -> None:
    judged = made().report.findings[-1]
    evidence = {"device": "a GPU", "torch": "2.13", "runs": 7, "modes": {"off": "confirmed"}, "cuda": ""}
    verified = replace(judged.finding, verification=Verification("confirmed", "3 of 7 differ", evidence))
    text = formats.render("html", Report((replace(judged, finding=verified),), 1, 0, 0.0), Config(root=ROOT))
    assert "confirmed: 3 of 7 differ (a GPU, torch 2.13)" in shown(text)
    assert "<dt>runs<dd>7" in text and "<dt>modes<dd>off confirmed" in text and "<dt>cuda" not in text


@pytest.mark.parametrize(("verdict", "head"), [("confirmed", "Measured"), ("simulated", "Simulated")])
def test_what_was_worked_out_is_not_said_to_be_measured(verdict: str, head: str) -> None:
    judged = made().report.findings[-1]
    verified = replace(judged.finding, verification=Verification(verdict, "8 distinct results of 8 orders"))
    report = Report((replace(judged, finding=verified),), 1, 0, 0.0)
    assert f"<dt>{head}<dd>" in formats.render("html", report, Config(root=ROOT))
    assert f'"verdict": "{verdict}"' in formats.render("sarif", report, Config(root=ROOT))
    assert f"verified: {verdict}: 8 distinct results" in formats.render("text", report, Config(root=ROOT))
    assert judged.severity.value in formats.render("text", report, Config(root=ROOT))


# Fixes


def test_the_lines_of_a_fix_turn_a_file_into_what_the_fixer_makes_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path, text in FILES.items():
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_bytes(text.encode())
    settings = replace(made().settings, unsafe=True)
    articles, seen = Articles(Files(lambda: settings)), set()
    for judged in made().report.findings:
        finding = judged.finding
        if finding.fix is None:
            continue
        made_of = fixer.apply([finding], FILES.__getitem__, settings).texts
        hunks = articles.hunks(finding.fix)
        assert {hunk.path for hunk in hunks} == made_of.keys()
        for path, text in made_of.items():
            after = notebook.texts(path, text)
            for cell, before in notebook.texts(path, FILES[path]).items():
                here = [hunk for hunk in hunks if (hunk.path, hunk.cell) == (path, cell)]
                assert applied(lines_of(before), here) == lines_of(after[cell])
                seen.add((finding.code, cell is None))
    assert {("DET201", True), ("DET401", True), ("DET401", False)} <= seen


def applied(lines: list[str], hunks: list[Hunk]) -> list[str]:
    for hunk in reversed(hunks):
        start = hunk.line - 1
        old = [*hunk.before, *hunk.old, *hunk.after]
        assert lines[start : start + len(old)] == old
        lines = [*lines[:start], *hunk.before, *hunk.new, *hunk.after, *lines[start + len(old) :]]
    return lines


# Colours


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_texts_stand_out_from_what_is_behind_them_as_wcag_asks(scheme: int) -> None:
    """https://www.w3.org/TR/WCAG22/#contrast-minimum: 4.5 to 1."""
    block = re.findall(r":root \{(.*?)\}", page.beside("page.css"), re.S)[scheme]
    colors = dict(re.findall(r"--([\w-]+): (#\w{6});", block))
    behind = {"bad": "bad-back", "fair": "fair-back", "good": "good-back", "note": "note-back", "text": "mark"}
    pairs = [*behind.items(), *((name, back) for name in ("text", "faint", "link") for back in ("back", "soft"))]
    pairs += [(name, "back") for name in ("bad", "fair", "good", "note")]
    for text, back in pairs:
        light, dark = sorted((luminance(colors[text]), luminance(colors[back])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, back)
