"""Write the parts of the documentation that follow from data: `python -m tests.tools.docs [--check]`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from detlint import catalogue
from tests.benchmarks import report
from tests.benchmarks.results import Results
from tests.tools import accuracy as measured_accuracy
from tests.tools import course, site
from tests.tools.libraries import page, programs
from tests.tools.missed import missed
from tests.tools.operations import counted, operations
from tests.tools.peers import peers as measured_peers
from tests.tools.pictures import drawing

ROOT = Path(__file__).parent.parent.parent


def generate(write: bool) -> list[Path]:
    """The generated files that are stale; `write` brings them up to date."""
    stale = []
    texts = {
        "rules.md": rules(),
        "operations.md": operations(),
        "performance.md": performance(),
        "why.md": why(),
        "limits.md": limits(),
        "peers.md": peers(),
        "accuracy.md": accuracy(),
        "libraries.md": libraries(),
    }
    for name, text in texts.items():
        path = ROOT / "docs" / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(path)
            if write:
                path.write_text(text, encoding="utf-8")
    return stale + drawing.stale(write)


def rules() -> str:
    """`docs/rules.md`: a table of all rules."""
    return "\n".join(_rules()) + "\n"


def performance() -> str:
    """`docs/performance.md`: the page with the tables of the last measurement in it."""
    return _filled("performance.md", "results", report.render(Results.read(ROOT / "docs" / "performance.json")))


def limits() -> str:
    """`docs/limits.md`: the page with what the tests know to be missed in it."""
    return _filled("limits.md", "missed", missed())


def peers() -> str:
    """`docs/peers.md`: the page with what other tools reported when they were last run."""
    return _filled("peers.md", "results", measured_peers())


def accuracy() -> str:
    """`docs/accuracy.md`: the page with what was measured on real code."""
    data = measured_accuracy.read()
    page = _filled("accuracy.md", "mutants", measured_accuracy.mutants(data))
    return _between(page, "twice", measured_accuracy.twice(data))


def libraries() -> str:
    """`docs/libraries.md`: what was measured of the rows on libraries."""
    return page.render(programs.read(), page.read())


def _filled(name: str, mark: str, text: str) -> str:
    """A page with `text` between the comments `<!-- mark -->` and `<!-- /mark -->`."""
    return _between((ROOT / "docs" / name).read_text(encoding="utf-8"), mark, text)


def _between(page: str, mark: str, text: str) -> str:
    begin, end = f"<!-- {mark} -->\n", f"<!-- /{mark} -->\n"
    return re.sub(f"{begin}.*{end}", lambda _: begin + text + end, page, flags=re.DOTALL)


def why() -> str:
    """`docs/why.md`: the page with what its programs printed when they were last run, and with a part of the evidence."""
    page = _filled("why.md", "evidence", counted(course.EVIDENCE))
    return course.rendered(page, course.Measured.read())


def _rules() -> Iterator[str]:
    yield "# Rules"
    yield ""
    yield "All rules: what each finds, how sure a finding is, which promise it breaks, and how safe its fix is. On the site the"
    yield "table can be filtered. [findings.md](findings.md) says what severities and promises mean, [fixes.md](fixes.md) what"
    yield "a fix may do; `detlint rule CODE` shows a rule's page in a terminal."
    yield ""
    yield "Generated from `rules/` by `python -m tests.tools.docs`."
    yield ""
    yield from ("| code | name | what it finds | family | severity | breaks | fix |", "|---|---|---|---|---|---|---|")
    for code, rule in catalogue.load().rules.items():
        graveness = site.severity(rule) + ("" if rule.default else ", off by default")
        cells = (rule.name, rule.summary, rule.family, graveness, ", ".join(rule.breaks), site.fix(rule))
        yield f"| [{code}](../rules/{code}-{rule.name}.md) | {' | '.join(cells)} |"


if __name__ == "__main__":
    check = "--check" in sys.argv[1:]
    found = generate(write=not check)
    for each in found:
        told = "is stale: run `python -m tests.tools.docs`" if check else "written"
        print(f"{each.relative_to(ROOT)} {told}")
    unmeasured = course.stale(course.PAGE.read_text(encoding="utf-8"), course.Measured.read())
    for name in unmeasured:
        print(f"{name} of docs/why.md was changed: run `python -m tests.tools.course`")
    raise SystemExit(check and bool(found or unmeasured))
