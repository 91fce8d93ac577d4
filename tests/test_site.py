"""What makes the site of the pages: rules' pages, links, navigation, and the look for what leads nowhere."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from detlint import catalogue
from tests import examples
from tests.tools import course, links, missed, site

ROOT = Path(__file__).parent.parent
RULES = catalogue.load().rules


def test_a_rule_has_a_page_with_its_header_its_examples_and_its_sources() -> None:
    rule = RULES["DET302"]
    text = site.rule_page(rule)
    assert text.startswith("# DET302 unordered-gradient\n\nThe gradient of an operation")
    assert "| severity | warning, note |" in text
    assert "| fix | display |" in text
    assert all(f"- <{ref}>" in text for ref in rule.refs)
    assert text.count("```{code-block}") == len(examples.python(rule.page))


def test_what_is_off_by_default_and_what_a_fix_leaves_is_said() -> None:
    assert "| severity | note; off by default |" in site.rule_page(RULES["DET109"])
    assert ":caption: After `--fix --unsafe-fixes`\n" in site.rule_page(RULES["DET703"])
    assert ":caption: After `--fix`\n" in site.rule_page(RULES["DET401"])
    assert ":caption: For PyTorch 2.9\n" in site.rule_page(RULES["DET504"])
    assert ":caption: data.py, After `--fix`\n" in site.rule_page(RULES["DET204"])


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("[DET101](../rules/DET101-unseeded-torch.md)", "[DET101](rules/DET101-unseeded-torch.md)"),
        ("[DET101](../../rules/DET101-unseeded-torch.md)", "[DET101](../rules/DET101-unseeded-torch.md)"),
        ("[How](../CONTRIBUTING.md)", "[How](contributing.md)"),
        ("[the example](examples/segmentation)", "the example"),
        ("[verify.md](verify.md#verdicts)", "[](verify.md#verdicts)"),
        ("[fixes](fixes.md)", "[fixes](fixes.md)"),
    ],
)
def test_links_within_the_repository_lead_to_pages_of_the_site(written: str, wanted: str) -> None:
    assert site.page(ROOT / "docs", "start", written) == wanted


def test_codes_in_prose_lead_to_their_rules_and_others_stay() -> None:
    text = "# DET302\n\nSee DET302, `DET302`, [DET302](x.md) and DET999.\n\n```py\nx = 1  # DET302\n```\n"
    assert site.page(ROOT / "docs", "start", text) == text.replace(
        "See DET302", "See [DET302](rules/DET302-unordered-gradient.md)"
    )
    assert site.page(ROOT / "docs", "rules/x", "DET302") == "[DET302](../rules/DET302-unordered-gradient.md)"
    assert site.page(ROOT / "docs", "x", "DET302") == "[DET302](rules/DET302-unordered-gradient.md)"


def test_the_lists_of_links_are_the_navigation() -> None:
    text = site.page(ROOT / "docs", "index", "# A\n\n## Do\n\n- [Fix](fixes.md): so\n\nText [here](cache.md).\n")
    assert text.endswith("```{toctree}\n:hidden:\n:caption: Do\n\nFix <fixes>\n```\n")


def test_pages_that_are_generated_are_written_once(tmp_path: Path) -> None:
    site.write(tmp_path)
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")}
    assert len(written) == len(RULES) + 1
    (tmp_path / "rules" / "DET999-gone.md").write_text("# gone\n")
    site.write(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")} == written


def problems(folder: Path, **pages: str) -> list[str]:
    for name, text in pages.items():
        (folder / name.replace("_", ".")).write_text(text)
    return list(links.problems(folder))


def test_a_site_without_a_network_has_no_problem(tmp_path: Path) -> None:
    page = '<link rel="stylesheet" href="a.css?v=1"><img src="data:image/png;base64,xx">'
    page += '<a href="https://example.org/x">out</a><a href="b.html#x">b</a><a href="#y">y</a><h2 id="y">'
    assert problems(tmp_path, a_html=page, b_html='<h2 id="x">', a_css="a { background: url(a.css) }") == []


@pytest.mark.parametrize(
    ("page", "told"),
    [
        ('<script src="https://example.org/x.js"></script>', "https://example.org/x.js is not in the site"),
        ('<script src="//example.org/x.js"></script>', "//example.org/x.js is not in the site"),
        ('<img src="/logo.png">', "/logo.png is not in the site"),
        ('<p style="background: url(https://example.org/x.png)">', "https://example.org/x.png is not in the site"),
        ('<a href="gone.html">', "gone.html is no file"),
        ('<a href="#gone">', "#gone has no such anchor"),
    ],
)
def test_what_needs_a_network_or_leads_nowhere_is_told(page: str, told: str, tmp_path: Path) -> None:
    assert problems(tmp_path, a_html=page) == [f"a.html: {told}"]


def test_fonts_of_styles_are_looked_at(tmp_path: Path) -> None:
    style = '@import "https://example.org/font.css";'
    assert problems(tmp_path, a_html="", a_css=style) == ["a.css: https://example.org/font.css is not in the site"]


def test_fonts_and_images_of_pictures_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_text(
        '<svg><image href="//example.org/b.png"/><style>p{src:url("http://a.b/c")}</style></svg>'
    )
    assert problems(tmp_path, a_html='<img src="a.svg">') == [
        "a.svg: http://a.b/c is not in the site",
        "a.svg: //example.org/b.png is not in the site",
    ]


def test_an_empty_folder_is_no_site(tmp_path: Path) -> None:
    assert problems(tmp_path) == [f"{tmp_path} has no pages"]


@pytest.mark.skipif(find_spec("torch") is None, reason="the page says by which torch its programs were run")
def test_a_program_of_the_course_that_was_changed_has_no_output_and_is_stale() -> None:
    page = '<!-- measured -->\n<!-- /measured -->\n```py title="a.py" runs="2"\nprint(1)\n```\n\nText.\n'
    ran = course.measure(page)
    shown = course.rendered(page, ran)
    assert "print(1)\n```\n\n```text\n1\n1\n```\n\nText.\n" in shown
    assert "Measured on " in shown
    assert course.rendered(shown, ran) == shown
    assert course.stale(shown, ran) == []
    changed = shown.replace("print(1)", "print(2)")
    assert "```text" not in course.rendered(changed, ran)
    assert course.stale(changed, ran) == ["a.py"]


def test_what_is_missed_is_told_by_kind() -> None:
    silent, reported = missed.missed().split("Found, though it is none:")
    assert "- a subclass of the loader (DET201)" in silent
    assert "- a queue of tasks" in reported
