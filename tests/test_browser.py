"""Pages looked at in a browser: they ask for nothing, fit a phone, and their filters and keys do what they say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from playwright.sync_api import Browser, Page

from detlint import catalogue, engine
from detlint.bisect.comparing import outcome, spread
from detlint.bisect.showing import page as bisect_page
from detlint.bisect.showing import report
from detlint.config import Config
from detlint.finding import Safety
from detlint.output import formats
from detlint.output.html_finding import FIXES
from detlint.report import Judged, Report
from tests.browser import browser, opened
from tests.test_bisect_page import both

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
CONFIG, EXAMPLES = Config(root=ROOT), [Path("docs/examples/segmentation"), Path("docs/examples/segmentation_mended")]
DESKTOP, PHONE = 1280, 390
COLORS = 40  # more than those of a page on which no text was drawn


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def checked() -> Report:
    """The report on the examples."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return engine.check_paths(EXAMPLES, CONFIG, catalogue.load().newest_release(), jobs=1)


@pytest.fixture
def found(checked: Report) -> Sequence[Judged]:
    """What is found in the examples."""
    return checked.findings


@pytest.fixture(scope="module")
def pages(checked: Report, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A report on the examples, one that found nothing, and what bisect writes."""
    folder = tmp_path_factory.mktemp("pages")
    config = CONFIG
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        programs = engine.entries_of(EXAMPLES, config, catalogue.load().newest_release(), jobs=1)
        mended = replace(checked, findings=())
        texts = {
            "report": formats.render("html", checked, config, programs=programs),
            "nothing": formats.render("html", mended, config),
        }
    a, b = both(folder)
    compared = outcome.compare(a, b)
    told = report.text(compared, "train.py", lambda line: [])
    texts["bisect"] = bisect_page.build(compared, "train.py", told, spread.spread(a, b))
    made = {name: folder / f"{name}.html" for name in texts}
    for name, text in texts.items():
        made[name].write_text(text, encoding="utf-8")
    return made


@pytest.mark.parametrize(
    ("name", "width", "dark"),
    [
        ("report", DESKTOP, False),
        ("report", DESKTOP, True),
        ("report", PHONE, False),
        ("nothing", PHONE, True),
        ("bisect", DESKTOP, True),
        ("bisect", PHONE, False),
    ],
)
def test_a_page_asks_for_nothing_complains_of_nothing_and_fits(
    name: str, width: int, dark: bool, chromium: Browser, pages: dict[str, Path], tmp_path: Path
) -> None:
    with opened(chromium, pages[name], width, dark) as shown:
        for button in shown.page.locator(".entry > summary").all():
            button.click()
        assert shown.overflow() <= 0
        assert shown.picture(tmp_path / f"{name}.png") > COLORS
        assert shown.asked == [pages[name].as_uri()]
        assert shown.said == []


def counts(page: Page) -> tuple[int, str]:
    """How many findings are seen, and how many are said to be."""
    return page.locator(".finding:visible").count(), page.locator("#shown").inner_text()


def test_filters_leave_what_they_say(chromium: Browser, pages: dict[str, Path], found: Sequence[Judged]) -> None:
    with opened(chromium, pages["report"], DESKTOP) as shown:
        page = shown.page
        assert counts(page) == (10, "10 of 10")
        page.get_by_label("note (4)").uncheck()
        assert counts(page) == (6, "6 of 10")
        page.get_by_label("Rule").select_option("DET5")
        assert counts(page) == (1, "1 of 10")
        page.get_by_role("button", name="Reset").click()
        assert counts(page) == (10, "10 of 10")
        page.get_by_label("Search").fill("DATA.PY default_rng")
        assert counts(page) == (1, "1 of 10")
        assert page.locator(".file:visible h3").inner_text() == "docs/examples/segmentation/data.py 1 of 6"
        page.get_by_label("Search").fill("no such words")
        assert counts(page) == (0, "0 of 10")
        assert page.get_by_text("No finding passes these filters.").is_visible()
        page.get_by_role("button", name="Reset").click()
        for safety in Safety:
            left = sum(judged.finding.fix is not None and judged.finding.fix.safety is safety for judged in found)
            page.get_by_label("Fix").select_option(FIXES[safety])
            assert counts(page) == (left, f"{left} of 10")
        page.get_by_role("button", name="Reset").click()
        for promise in ("resume", "cross-machine"):
            left = sum(promise in judged.rule.breaks for judged in found)
            page.get_by_label("Breaks").select_option(label=f"{promise} ({left})")
            assert counts(page) == (left, f"{left} of 10")
        assert shown.said == []


def test_a_program_leads_to_what_is_found_in_its_files(chromium: Browser, pages: dict[str, Path]) -> None:
    with opened(chromium, pages["report"], PHONE) as shown:
        page = shown.page
        page.get_by_label("Program").select_option("1")  # the one that is mended
        assert counts(page) == (0, "0 of 10")
        page.locator(".entry > summary").first.click()
        page.get_by_role("button", name="Show only these").first.click()
        assert counts(page) == (10, "10 of 10")


def test_findings_open_and_close_by_keys(chromium: Browser, pages: dict[str, Path]) -> None:
    with opened(chromium, pages["report"], DESKTOP) as shown:
        page = shown.page
        page.get_by_role("button", name="Close all").click()
        assert page.locator(".finding[open]").count() == 0
        for _ in range(2):  # over Reset to the first finding
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.locator(".finding[open]").count() == 1
        assert page.locator(".finding[open] pre").first.is_visible()
        page.get_by_role("button", name="Open all").click()
        assert page.locator(".finding[open]").count() == 10


def test_without_scripts_all_is_there_and_no_filter_is_shown(chromium: Browser, pages: dict[str, Path]) -> None:
    with opened(chromium, pages["report"], DESKTOP, scripts=False) as shown:
        assert shown.page.locator(".finding:visible").count() == 10
        assert not shown.page.locator("#filters").is_visible()
        assert not shown.page.locator(".only").first.is_visible()


def test_a_report_of_thousands_of_findings_can_be_used(
    chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    many, files = 100, 10
    for number in range(files):
        lines = "torch.backends.cudnn.benchmark = True\n" * many
        (tmp_path / f"train{number}.py").write_text(f"import torch\n{lines}")
    config = Config(root=tmp_path)
    found = engine.check_paths([Path()], config, catalogue.load().newest_release(), jobs=1)
    text = formats.render("html", found, config)
    (tmp_path / "many.html").write_text(text, encoding="utf-8")
    assert len(found.findings) == many * files
    assert len(text) < 1500 * many * files
    with opened(chromium, tmp_path / "many.html", PHONE) as shown:
        assert shown.page.locator(".finding[open]").count() == 0
        shown.page.get_by_label("Search").fill("train7.py")
        assert counts(shown.page) == (many, f"{many} of {many * files}")


def test_the_tables_of_the_documentation_can_be_filtered(chromium: Browser, tmp_path: Path) -> None:
    script = (ROOT / "docs" / "_static" / "filter.js").read_text(encoding="utf-8")
    table = MarkdownIt().enable("table").render((ROOT / "docs" / "rules.md").read_text(encoding="utf-8"))
    table = table.replace("<table>", '<table class="filter rules">')
    path = tmp_path / "rules.html"
    path.write_text(f'<meta charset="utf-8">{table}<script>{script}</script>', encoding="utf-8")
    rules = catalogue.load().rules.values()
    with opened(chromium, path, DESKTOP) as shown:
        rows, count = shown.page.locator("tbody tr"), shown.page.locator("output")
        assert count.inner_text() == f"{len(rules)} of {len(rules)}"
        shown.page.get_by_label("fix").select_option("unsafe")
        unsafe = [rule for rule in rules if rule.fix is Safety.UNSAFE]
        assert 0 < len(unsafe) < len(rules)
        assert count.inner_text() == f"{len(unsafe)} of {len(rules)}"
        assert rows.filter(visible=True).count() == len(unsafe)
        shown.page.get_by_label("text in a row").fill(unsafe[0].name)
        assert unsafe[0].code in rows.filter(visible=True).first.inner_text()
        assert not shown.said
