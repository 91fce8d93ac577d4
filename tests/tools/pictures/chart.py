"""Charts as SVG of plain shapes: legible on light and on dark, alike to the byte wherever they are drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

_STYLE = """
.back { fill: #ffffff; stroke: #d5d9e0; } text { fill: #1c2128; font: 13px system-ui, sans-serif; }
.title { font-size: 16px; font-weight: 600; } .faint { fill: #57606a; } .small { font-size: 11.5px; }
.grid { stroke: #e1e4e9; } .axis { stroke: #8a94a0; }
.before { fill: #c2410c; } .after { fill: #1d6fb8; } .other { fill: #98a2ae; }
.line { fill: none; stroke-width: 1.5; stroke-linejoin: round; } .line.before { fill: none; stroke: #c2410c; }
.line.after { fill: none; stroke: #1d6fb8; stroke-width: 2; } .link { stroke: #c8cdd4; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
  .back { fill: #12161c; stroke: #38414d; } text { fill: #e6eaf0; } .faint { fill: #a2adba; }
  .grid { stroke: #262d36; } .axis { stroke: #6b7684; } .link { stroke: #465060; }
  .before { fill: #ff8a4c; } .after { fill: #66b2ff; } .other { fill: #6b7684; }
  .line.before { stroke: #ff8a4c; } .line.after { stroke: #66b2ff; }
}"""
_FONT = 6.7  # pixels of a letter of 13 pixels, on average


@dataclass(frozen=True)
class Scale:
    """Numbers as pixels, on a line or by their logarithms."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The pixel of a number."""
        turn = math.log10 if self.log else float
        part = (turn(value) - turn(self.low)) / (turn(self.high) - turn(self.low))
        return self.start + part * (self.end - self.start)


class Chart:
    """A picture that grows by shapes."""

    def __init__(self, width: int, height: int, title: str, about: str) -> None:
        """`about` says in a sentence what is to be seen, for those who cannot see it."""
        self.width, self.height = width, height
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-labelledby="title about">',
            f'<title id="title">{escape(title)}</title><desc id="about">{escape(about)}</desc>',
            f"<style>{_STYLE}</style>",
            f'<rect class="back" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
        ]
        self.text(20, 30, title, "title")

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> None:
        """Words whose base line is at a place; `anchor` says which end of them is there."""
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{escape(words)}</text>'
        )

    def line(self, x: float, y: float, to_x: float, to_y: float, kind: str) -> None:
        """A straight line."""
        self._parts.append(f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" class="{kind}"/>')

    def bar(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        """A bar; one of almost nothing is a line."""
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1.5):.1f}" height="{height:.1f}" rx="2" class="{kind}"/>'
        )

    def dot(self, x: float, y: float, kind: str, radius: float = 5.5) -> None:
        """A round mark."""
        self._parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="{kind}"/>')

    def curve(self, points: Iterable[tuple[float, float]], kind: str) -> None:
        """Points in a line."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._parts.append(f'<polyline points="{path}" class="line {kind}"/>')

    def across(self, scale: Scale, ticks: Sequence[tuple[float, str]], top: float, bottom: float) -> None:
        """A scale along the bottom, with a line up for each number."""
        for value, words in ticks:
            self.line(scale(value), top, scale(value), bottom, "grid")
            self.text(scale(value), bottom + 18, words, "faint small", "middle")

    def up(self, scale: Scale, ticks: Sequence[tuple[float, str]], left: float, right: float) -> None:
        """A scale along the left, with a line across for each number."""
        for value, words in ticks:
            self.line(left, scale(value), right, scale(value), "grid")
            self.text(left - 8, scale(value) + 4, words, "faint small", "end")

    def key(self, x: float, y: float, kinds: Sequence[tuple[str, str]]) -> None:
        """What the colours mean, one behind the other."""
        for kind, words in kinds:
            self.dot(x + 6, y - 4.5, kind)
            self.text(x + 17, y, words)
            x += 17 + _FONT * len(words) + 22

    def svg(self) -> str:
        """The picture."""
        return "\n".join((*self._parts, "</svg>\n"))
