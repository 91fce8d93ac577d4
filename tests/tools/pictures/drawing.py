"""The pictures of the documentation: which are stale to their data, and drawn anew."""

from __future__ import annotations

from pathlib import Path

from tests.tools.pictures import charts, editors, jupyterlab, terminal


def stale(write: bool) -> list[Path]:
    """The pictures that are not what their data say; `write` draws them.

    Those of terminals count by their words alone, as releases of rich draw them in other ways.
    """
    found = []
    for name, draw in {**charts.DRAWN, "jupyterlab": jupyterlab.drawn}.items():
        path, text = charts.FOLDER / f"{name}.svg", draw()
        if _text(path) != text:
            found.append(path)
            if write:
                path.write_text(text, encoding="utf-8")
    for name, text in {"terminal": terminal.terminal(), **editors.drawn()}.items():
        path = charts.FOLDER / f"{name}.svg"
        if terminal.words(_text(path)) != terminal.words(text):
            found.append(path)
        if write:
            path.write_text(text, encoding="utf-8")
    return found


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
