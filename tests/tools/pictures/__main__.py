"""Draw the pictures of the documentation, or measure what they show.

`python -m tests.tools.pictures` draws all, `--check` tells which are stale, `--measure NAME` measures anew.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import re
import sys
from pathlib import Path
from typing import Any

import numpy
import torch

from detlint import __version__
from tests.tools.pictures import drawing, editors, jupyterlab, overhead, repeats
from tests.tools.pictures.charts import FOLDER

MEMORY = Path("/dev/shm")
MEASURED = {
    "repeats": lambda: repeats.repeats(MEMORY),
    "spread": lambda: repeats.spread(MEMORY),
    "overhead": overhead.overhead,
    "editors": editors.editors,
    "jupyterlab": jupyterlab.jupyterlab,
}


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="tell which pictures are stale, and draw none")
    parser.add_argument("--measure", action="append", choices=MEASURED, default=[], help="measure anew, then draw")
    options = parser.parse_args()
    for name in options.measure:
        measured = {"machine": _machine(), **MEASURED[name]()}
        (FOLDER / f"{name}.json").write_text(_json(measured), encoding="utf-8")
    found = drawing.stale(write=not options.check)
    for path in found:
        print(f"{path.name} {'is stale: run `python -m tests.tools.pictures`' if options.check else 'drawn'}")
    return int(options.check and bool(found))


def _json(measured: dict[str, Any]) -> str:
    """The data as JSON, lists of numbers in a line."""
    text = json.dumps(measured, indent=1) + "\n"
    return re.sub(r"\[[-\d.,\s]+\]", lambda match: " ".join(match[0].split()), text)


def _machine() -> dict[str, Any]:
    """Where and when something was measured."""
    return {
        "date": datetime.date.today().isoformat(),
        "processor": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
        "detlint": __version__,
    }


if __name__ == "__main__":
    sys.exit(main())
