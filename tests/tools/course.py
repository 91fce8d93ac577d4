"""Run the programs of docs/why.md and keep what they print: `python -m tests.tools.course`. Needs torch and NumPy.

The page shows what `docs/why.json` holds, which also has a digest of each program: one that was changed is stale until
it has been run again.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGE = DOCS / "why.md"
KEPT = DOCS / "why.json"
EVIDENCE = (  # rows of the catalogue whose measurements the page shows
    *(
        "scatter_add.fwd",
        "index_add.fwd",
        "index_put_acc.cpu",
        "put_acc.cpu",
        "index_copy.fwd",
        "upsample_bicubic2d.bwd",
    ),
    *("cumsum.fwd", "torch.empty", "bi.matmul"),
)
_PROGRAM = re.compile(
    r'^(?P<fence>```py title="(?P<name>[^"]+)"(?: runs="(?P<runs>\d+)")?\n(?P<text>.*?)^```\n)'
    r"(?:\n```text\n.*?^```\n)?",
    re.MULTILINE | re.DOTALL,
)
_ABOUT = re.compile(r"<!-- measured -->\n.*?<!-- /measured -->", re.DOTALL)


@dataclass(frozen=True)
class Printed:
    """What a program printed, all of its runs one after another, and which text it then had."""

    digest: str
    output: str


@dataclass(frozen=True)
class Measured:
    """What all programs printed, when and where."""

    where: str
    programs: dict[str, Printed]

    @classmethod
    def read(cls) -> Measured:
        """What was kept."""
        data = json.loads(KEPT.read_text(encoding="utf-8"))
        return cls(data["where"], {name: Printed(**each) for name, each in data["programs"].items()})


def rendered(page: str, measured: Measured) -> str:
    """The page with what its programs printed below them; nothing below one that was not run as it is."""

    def shown(program: re.Match[str]) -> str:
        kept = measured.programs.get(program["name"])
        if kept is None or kept.digest != _digest(program["text"]):
            return program["fence"]
        return f"{program['fence']}\n```text\n{kept.output}```\n"

    page = _ABOUT.sub(lambda _: f"<!-- measured -->\n{measured.where}\n<!-- /measured -->", page)
    return _PROGRAM.sub(shown, page)


def stale(page: str, measured: Measured) -> list[str]:
    """The programs that were not run as they are."""
    kept = {name: each.digest for name, each in measured.programs.items()}
    return [each["name"] for each in _PROGRAM.finditer(page) if kept.get(each["name"]) != _digest(each["text"])]


def measure(page: str) -> Measured:
    """Run all programs of a page, each in fresh processes. Raises CalledProcessError where one fails."""
    return Measured(_where(), dict(_printed(page)))


def _printed(page: str) -> Iterator[tuple[str, Printed]]:
    for program in _PROGRAM.finditer(page):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, program["name"])
            file.write_text(program["text"], encoding="utf-8")
            runs = (
                subprocess.run([sys.executable, file.name], cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
                for _ in range(int(program["runs"] or 1))
            )
            output = "".join(run.stdout for run in runs)
        print(f"{program['name']}\n{output}", file=sys.stderr)
        yield program["name"], Printed(_digest(program["text"]), output)


def _where() -> str:
    versions = f"Python {platform.python_version()}, PyTorch {version('torch')}, NumPy {version('numpy')}"
    return (
        f"Measured on {date.today()}: a CPU ({platform.machine()}), {versions},\n{platform.system()}, by `python -m "
        "tests.tools.course`."
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    KEPT.write_text(json.dumps(asdict(measure(text)), indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(rendered(text, Measured.read()), encoding="utf-8")
