"""A real browser without a window, for tests of pages and pictures: Debian's chromium, driven by playwright."""

from __future__ import annotations

import shutil
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_PATIENCE = 120_000  # milliseconds; a machine may be busy
_FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run",
)  # fmt: skip
_COLORS = """async (data) => {
  const bitmap = await createImageBitmap(await (await fetch("data:image/png;base64," + data)).blob());
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
  context.drawImage(bitmap, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer);
  return new Set(pixels).size;
}"""


@contextmanager
def browser() -> Iterator[Browser]:
    """The browser; where there is none the test is skipped."""
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        pytest.skip(f"no browser here: none of {', '.join(_NAMES)} is installed")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=_FLAGS, timeout=_PATIENCE)
        yield started
        started.close()


@dataclass
class Opened:
    """A page that is open, what its console said, and which addresses it asked for."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def overflow(self) -> int:
        """By how many pixels it is wider than the window."""
        return int(self.page.evaluate("document.scrollingElement.scrollWidth - innerWidth"))

    def picture(self, path: Path) -> int:
        """Writes what the window shows to a file; how many colours that has."""
        data = self.page.screenshot(path=path)
        blank = self.page.context.new_page()
        found = int(blank.evaluate(_COLORS, b64encode(data).decode()))
        blank.close()
        return found


@contextmanager
def opened(browser: Browser, path: Path, width: int, dark: bool = False, scripts: bool = True) -> Iterator[Opened]:
    """A file in a window of a width in pixels."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if dark else "light",
        java_script_enabled=scripts,
    )
    context.set_default_timeout(_PATIENCE)
    found = Opened(context.new_page())
    found.page.on("console", lambda message: found.said.append(message.text))
    found.page.on("pageerror", lambda error: found.said.append(str(error)))
    found.page.on("request", lambda request: found.asked.append(request.url))
    found.page.goto(path.as_uri())
    yield found
    context.close()
