"""The pictures of the documentation: whole in themselves, drawn from their data, and to be seen on any background."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser

from tests.browser import browser, opened
from tests.tools.pictures import charts, drawing, terminal

PICTURES = ["repeats", "spread", "speed", "overhead", "terminal", "neovim", "emacs", "jupyterlab"]
COLORS = 40  # more than those of a picture on which no text was drawn


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_whole_in_itself(name: str) -> None:
    text = (charts.FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert {each.get("href") for each in root.iter()} == {None}
    assert not re.findall(r"@font-face|@import|url\((?!#)", text)
    assert set(re.findall(r"https?://[^\"\s<]*", text)) == {"http://www.w3.org/2000/svg"}


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_can_be_seen_on_light_and_on_dark(name: str, chromium: Browser, tmp_path: Path) -> None:
    path = charts.FOLDER / f"{name}.svg"
    for dark in (False, True):
        with opened(chromium, path, 900, dark) as shown:
            assert shown.picture(tmp_path / f"{name}.png") > COLORS
            assert shown.asked == [path.as_uri()]
            width = shown.page.evaluate("document.documentElement.viewBox.baseVal.width")
            right = shown.page.evaluate(
                "Math.max(...[...document.querySelectorAll('text')].map(each => each.getBBox().x + each.getBBox().width))"
            )
            assert right <= width or name == "terminal", "a text runs over the edge"


def test_a_picture_that_is_not_what_its_data_say_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in charts.FOLDER.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(charts, "FOLDER", tmp_path)
    (tmp_path.parent / "performance.json").write_bytes((terminal.ROOT / "docs" / "performance.json").read_bytes())
    assert drawing.stale(write=False) == []
    data = tmp_path / "repeats.json"
    data.write_text(data.read_text().replace('"distinct": 10', '"distinct": 9').replace('"equal": 1,', '"equal": 2,'))
    picture = tmp_path / "terminal.svg"
    picture.write_text(picture.read_text().replace("DET106", "DET107"))
    assert drawing.stale(write=True) == [tmp_path / "repeats.svg", picture]
    assert drawing.stale(write=False) == []
