"""Write the parts of the documentation that follow from data: `python -m tests.tools.docs [--check]`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from detlint import catalogue
from tests.benchmarks import report
from tests.benchmarks.results import Results
from tests.tools.operations import operations
from tests.tools.pictures import drawing

ROOT = Path(__file__).parent.parent.parent


def generate(write: bool) -> list[Path]:
    """The generated files that are stale; `write` brings them up to date."""
    stale = []
    texts = {"rules.md": rules(), "operations.md": operations(), "performance.md": performance()}
    for name, text in texts.items():
        path = ROOT / "docs" / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(path)
            if write:
                path.write_text(text, encoding="utf-8")
    return stale + drawing.stale(write)


def rules() -> str:
    """`docs/rules.md`: a table of all rules for each family."""
    return "\n".join(_rules()) + "\n"


def performance() -> str:
    """`docs/performance.md`: the page with the tables of the last measurement in it."""
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    tables = report.render(Results.read(ROOT / "docs" / "performance.json"))
    begin, end = "<!-- results -->\n", "<!-- /results -->\n"
    return re.sub(f"{begin}.*{end}", lambda _: begin + tables + end, page, flags=re.DOTALL)


def _rules() -> Iterator[str]:
    yield "# Rules"
    yield ""
    yield "Generated from `rules/` by `python -m tests.tools.docs`. `detlint rule CODE` shows a rule's page in a terminal."
    family = ""
    for code, rule in catalogue.load().rules.items():
        if rule.family != family:
            family = rule.family
            yield from ("", f"## {code[3]} {family}", "")
            yield from ("| code | name | severity | what it finds |", "|---|---|---|---|")
        severity = rule.severity.value
        if rule.lower is not rule.severity:
            severity += f", {rule.lower.value}"
        if not rule.default:
            severity += " (off by default)"
        yield f"| [{code}](../rules/{code}-{rule.name}.md) | {rule.name} | {severity} | {rule.summary} |"


if __name__ == "__main__":
    check = "--check" in sys.argv[1:]
    found = generate(write=not check)
    for each in found:
        told = "is stale: run `python -m tests.tools.docs`" if check else "written"
        print(f"{each.relative_to(ROOT)} {told}")
    raise SystemExit(check and bool(found))
