"""`jupyterlab.svg`: what JupyterLab shows of a notebook, as a browser laid it out."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from playwright.sync_api import ViewportSize

from tests.browser import browser
from tests.support import documented

FILE = Path(__file__).parent.parent.parent.parent / "docs" / "pictures" / "jupyterlab.json"
_CELLS = (
    "import torch\n\ntorch.backends.cudnn.benchmark = True",
    "model = torch.nn.Linear(3, 3)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)",
)
_SIZE: ViewportSize = {"width": 900, "height": 480}
_PATIENCE = 120_000  # milliseconds; a machine may be busy
_OPTIONS = ("--no-browser", "--allow-root", "--IdentityProvider.token=", "--ServerApp.port_retries=0")
_LOOK = """() => {
  const at = (box) => [box.x, box.y, box.width, box.height].map(each => Math.round(each * 10) / 10);
  const seen = (element, box) => {
    const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return box.width > 0 && top !== null && (element.contains(top) || top.contains(element));
  };
  const shapes = [];
  for (const element of document.querySelectorAll("body *")) {
    const style = getComputedStyle(element), box = element.getBoundingClientRect();
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (box.x >= innerWidth || box.y >= innerHeight) continue;
    if (element.closest("svg")) {
      if (element.tagName !== "svg" || !seen(element, box)) continue;
      const view = element.viewBox.baseVal, paths = [];
      for (const each of element.querySelectorAll("path")) {
        const fill = getComputedStyle(each).fill;
        if (fill.startsWith("rgb") && !each.closest("defs")) paths.push([each.getAttribute("d"), fill]);
      }
      if (view.width) shapes.push({ icon: at(box), view: [view.x, view.y, view.width, view.height], paths });
      continue;
    }
    const shown = seen(element, box) || element.contains(document.querySelector(".jp-Notebook"));
    if (shown && !/, 0\\)$|transparent/.test(style.backgroundColor))
      shapes.push({ box: at(box), fill: style.backgroundColor });
    if (shown && parseFloat(style.borderTopWidth) && parseFloat(style.borderLeftWidth))
      shapes.push({ box: at(box), stroke: style.borderTopColor });
    if (element.classList.contains("cm-lintRange"))
      shapes.push({ wave: at(box), stroke: element.classList.contains("cm-lintRange-error") ? "#dd1111" : "#ff9900" });
    for (const node of element.childNodes) {
      if (node.nodeType !== Node.TEXT_NODE || !node.data.trim()) continue;
      const range = document.createRange(), lines = [];
      for (let i = 0; i < node.length; i++) {
        range.setStart(node, i);
        range.setEnd(node, i + 1);
        const here = range.getBoundingClientRect(), last = lines[lines.length - 1];
        if (!here.width) continue;
        if (last && Math.abs(last.y - here.y) < 3) {
          last.text += node.data[i];
          last.width = here.right - last.x;
        } else lines.push({ x: here.x, y: here.y, width: here.width, height: here.height, text: node.data[i] });
      }
      for (const line of lines)
        if (seen(element, line) && line.x + line.width < innerWidth)
          shapes.push({
            text: line.text, box: at(line), fill: style.color, size: parseFloat(style.fontSize),
            weight: style.fontWeight, mono: style.fontFamily.includes("mono"),
          });
    }
  }
  return shapes;
}"""


def jupyterlab() -> dict[str, Any]:
    """The shapes that JupyterLab shows of a notebook and its findings. Needs jupyterlab-lsp and a browser."""
    with _served() as address, browser() as chromium:
        context = chromium.new_context(viewport=_SIZE)
        context.set_default_timeout(_PATIENCE)
        page = context.new_page()
        page.goto(f"{address}/lab/tree/train.ipynb")
        page.wait_for_selector(".cm-lintRange")
        page.get_by_role("button", name="No", exact=True).click()  # to news
        page.keyboard.press("Control+b")
        page.locator(".jp-CodeCell .cm-content").first.click(button="right")
        page.get_by_text("Show diagnostics panel").click()
        page.wait_for_selector(".lsp-diagnostics-listing td")
        page.keyboard.press("Control+s")
        page.mouse.move(450, 440)
        page.wait_for_timeout(5000)  # until what the status line says meanwhile has gone
        return {"browser": chromium.version, **_SIZE, "shapes": page.evaluate(_LOOK)}


def drawn() -> str:
    """The picture."""
    screen = json.loads(FILE.read_text(encoding="utf-8"))
    size = f"0 0 {screen['width']} {screen['height']}"
    shapes = [_shape(each) for each in screen["shapes"]]
    head = (
        f'<svg viewBox="{size}" xmlns="http://www.w3.org/2000/svg">\n<rect width="100%" height="100%" fill="#ffffff"/>'
    )
    return "\n".join((head, *shapes, "</svg>\n"))


def _shape(shape: dict[str, Any]) -> str:
    """One shape as SVG."""
    if "icon" in shape:
        x, y, width, height = shape["icon"]
        left, top, across, down = shape["view"]
        moved = f"translate({x} {y}) scale({width / across:.4f} {height / down:.4f}) translate({-left} {-top})"
        paths = "".join(f'<path d="{escape(path)}" fill="{fill}"/>' for path, fill in shape["paths"])
        return f'<g transform="{moved}">{paths}</g>'
    x, y, width, height = shape["wave"] if "wave" in shape else shape["box"]
    if "wave" in shape:
        waves = "".join(f"q1 {-2 if n % 2 else 2} 2 0" for n in range(round(width / 2)))
        return f'<path d="M{x} {y + height - 1:.1f}{waves}" fill="none" stroke="{shape["stroke"]}"/>'
    if "text" in shape:
        family = (
            "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" if shape["mono"] else "system-ui, sans-serif"
        )
        style = (
            f'font-family="{family}" font-size="{shape["size"]}" font-weight="{shape["weight"]}" fill="{shape["fill"]}"'
        )
        place = f'x="{x}" y="{y + height * 0.79:.1f}" textLength="{width}" lengthAdjust="spacingAndGlyphs"'
        return f'<text xml:space="preserve" {place} {style}>{escape(shape["text"])}</text>'
    paint = f'fill="{shape["fill"]}"' if "fill" in shape else f'fill="none" stroke="{shape["stroke"]}"'
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" {paint}/>'


@contextlib.contextmanager
def _served() -> Iterator[str]:
    """JupyterLab, set up as the page says, in a folder with a notebook; its address."""
    with tempfile.TemporaryDirectory() as made, socket.socket() as free:
        home, folder = Path(made) / ".jupyter", Path(made) / "project"
        home.mkdir()
        folder.mkdir()
        (home / "jupyter_server_config.json").write_text(documented("docs/editors.md", "## JupyterLab", "json"))
        (folder / "pyproject.toml").write_text("[tool.detlint]\n")
        cells: list[dict[str, Any]] = [
            {"cell_type": "code", "id": str(n), "metadata": {}, "source": text, "outputs": [], "execution_count": None}
            for n, text in enumerate(_CELLS)
        ]
        metadata = {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python", "mimetype": "text/x-python", "file_extension": ".py"},
        }
        book = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
        (folder / "train.ipynb").write_text(json.dumps(book))
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        path = os.pathsep.join((os.environ["PATH"], str(Path(sys.executable).parent)))
        environment = {**os.environ, "HOME": made, "PATH": path}
        command = ["jupyter", "lab", f"--port={port}", *_OPTIONS]
        with subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL) as server:
            try:
                _wait(port)
                yield f"http://127.0.0.1:{port}"
            finally:
                server.terminate()


def _wait(port: int) -> None:
    """Wait until something listens."""
    for _ in range(_PATIENCE // 500):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.5)
    raise TimeoutError("JupyterLab does not start")
