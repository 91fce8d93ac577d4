"""A project with what is awkward for formats, and the report on it in each of them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from detlint import catalogue, engine
from detlint.applying.fixer import Settings
from detlint.config import Config
from detlint.editing.vendoring import whole_text
from detlint.finding import Finding
from detlint.fixing import settings_of
from detlint.output import formats
from detlint.report import Report, Suppressed

ODD = "a dir, 100%/na:me %20.py"
BENCHMARK = "torch.backends.cudnn.benchmark = True"
EMPTY = "print(torch.empty(2))"
CELL = f"import torch\nx = 'é😀\"\\t'; {EMPTY}\ny = 1"
TRAIN = f"""\
import os
import random

import torch
from torch.utils.data import DataLoader


def main():
\tloader = DataLoader(data, shuffle=True)
\tfor name in os.listdir("."):
\t\tnames.append(name)
\ttorch.use_deterministic_algorithms(
\t\tTrue,
\t\twarn_only=True)
\tfor batch in loader:
\t\tx = torch.randn(3) * random.random()


if __name__ == "__main__":
\tmain()
{BENCHMARK}  # noqa: DET501 measured
"""
NEAR = """\
import torch
from torch.utils.data import DataLoader
loader = DataLoader(data, shuffle=True)
"""


def book(source: str | list[str], indent: int | None) -> str:
    cells = [{"cell_type": "markdown", "source": []}, {"cell_type": "code", "metadata": {}, "source": source}]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=indent)


FILES = {
    ODD: f'import torch\r\ns = "😀é"; {EMPTY}\r\n',
    "broken.py": "x = 1\nif x:\nelse:\n    pass\n",
    "first.py": "import torch\ntorch.backends.cudnn.deterministic = False\n",
    "list.ipynb": book(CELL.splitlines(keepends=True), 1),
    "near/detlint_runtime.py": whole_text(),
    "near/near.py": NEAR,
    "string.ipynb": book(CELL, None),
    "train.py": TRAIN,
}
LINES = {"list.ipynb": 12, "string.ipynb": 1}  # where what is found in a notebook stands in its JSON


@dataclass(frozen=True)
class Made:
    """A report on FILES, what each format makes of it, and how its fixes are made."""

    report: Report
    texts: Mapping[str, str]
    settings: Settings


@cache
def made() -> Made:
    """A report whose last finding is suppressed, and whose first has a message that a terminal would obey."""
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return _made(Path(folder))
        finally:
            os.chdir(before)


def _made(folder: Path) -> Made:
    for path, text in FILES.items():
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_bytes(text.encode())
    config = Config(root=folder)
    report = engine.check_paths([Path()], config, catalogue.load().newest_release(), jobs=1)
    first, *rest = report.findings
    odd = replace(first, finding=replace(first.finding, message="a\x1b[31m {0} <&>%0A: b\r\nc]]>\ufffe"))
    hidden = (*report.suppressed, Suppressed(first, "config"))
    errors, notes = ("train.py: too deep",), ("some are not shown",)
    report = replace(report, findings=(odd, *rest), suppressed=hidden, errors=errors, notes=notes)
    texts = {name: formats.render(name, report, config) for name in formats.NAMES}
    return Made(report, texts, settings_of(config))


def shown() -> list[tuple[Finding, Any, Any]]:
    """Each finding that is shown, with its result in SARIF and its diagnostic in rdjson."""
    results = [r for r in json.loads(made().texts["sarif"])["runs"][0]["results"] if not r["suppressions"]]
    diagnostics = json.loads(made().texts["rdjson"])["diagnostics"]
    findings = [judged.finding for judged in made().report.findings]
    return list(zip(findings, results, diagnostics, strict=True))
