"""What of a built site would fail without a network or lead nowhere: `python -m tests.tools.links FOLDER`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

# What a browser fetches by itself, by element: these must be files of the site.
_FETCHED = {
    "audio": ("src",),
    "embed": ("src",),
    "iframe": ("src",),
    "img": ("src", "srcset"),
    "input": ("src",),
    "link": ("href",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "track": ("src",),
    "video": ("src", "poster"),
}
_STYLES = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?!data:|#)[^"')\s;]+)""")


@dataclass
class Page(HTMLParser):
    """A page of the site: the ids in it, what it fetches, and what it links to."""

    text: str
    ids: set[str] = field(default_factory=set)
    fetched: list[str] = field(default_factory=list)
    linked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element names."""
        given = {name: value for name, value in attrs if value}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        self.fetched += [given[name].split()[0] for name in _FETCHED.get(tag, ()) if name in given]
        self.fetched += _STYLES.findall(given.get("style", ""))
        if tag == "a" and "href" in given:
            self.linked.append(given["href"])


def problems(site: Path) -> Iterator[str]:
    """A line for each thing that needs a network to work, and for each link within the site that leads nowhere."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    if not pages:
        yield f"{site} has no pages"
    for path, page in pages.items():
        where = path.relative_to(site)
        yield from (f"{where}: {why}" for target in page.fetched if (why := _wrong(path, target, pages)))
        for target in page.linked:
            if not _is_elsewhere(target) and (why := _wrong(path, target, pages)):
                yield f"{where}: {why}"
    for path in sorted(site.rglob("*.css")):
        for target in _STYLES.findall(path.read_text(encoding="utf-8")):
            if why := _wrong(path, target, pages):
                yield f"{path.relative_to(site)}: {why}"


def _is_elsewhere(target: str) -> bool:
    parts = urlsplit(target)
    return bool(parts.scheme or parts.netloc)


def _wrong(page: Path, target: str, pages: Mapping[Path, Page]) -> str:
    """Why a target is no place in the site, or ""."""
    if target.startswith("data:"):
        return ""
    if _is_elsewhere(target) or target.startswith("/"):
        return f"{target} is not in the site"
    path, anchor = urldefrag(target)
    file = (page.parent / unquote(urlsplit(path).path)).resolve() if path else page
    if not file.is_file():
        return f"{target} is no file"
    if anchor and file in pages and unquote(anchor) not in pages[file].ids:
        return f"{target} has no such anchor"
    return ""


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1]).resolve()))
    print("\n".join(found) or "all pages, styles and scripts are in the site, and all links in it lead somewhere")
    raise SystemExit(bool(found))
