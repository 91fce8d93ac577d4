"""`terminal.svg`: what a terminal shows of a real run on an example."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from detlint import catalogue, engine
from detlint.config import Config
from detlint.output import formats

ROOT = Path(__file__).parent.parent.parent.parent
PLACE = "docs/examples/segmentation"
COMMAND = "detlint --select DET1,DET5 ."
_WIDTH = 118
_FRAME = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: system-ui, sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def terminal() -> str:
    """The picture of a run; its words are those of detlint."""
    return drawn(PLACE, Text.assemble(("$ ", "bold green"), COMMAND), Text.from_ansi(_output()))


def drawn(title: str, *texts: Text) -> str:
    """A terminal that shows texts, in the form that the installed release of rich gives it."""
    console = Console(record=True, width=_WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for text in texts:
        console.print(text)
    return console.export_svg(title=title, theme=MONOKAI, code_format=_FRAME, unique_id="detlint")


def words(svg: str) -> str:
    """What a picture says, without its form."""
    return "".join(re.sub(r"<style>.*?</style>|<[^>]*>|&#160;", "", svg, flags=re.S).split())


def _output() -> str:
    """What the command prints."""
    _, _, rules, path = COMMAND.split()
    before = Path.cwd()
    os.chdir(ROOT / PLACE)
    try:
        config = Config(select=tuple(rules.split(",")), root=Path())
        report = engine.check_paths([Path(path)], config, catalogue.load().newest_release(), jobs=1)
        return formats.render("text", report, config, color=True)
    finally:
        os.chdir(before)
