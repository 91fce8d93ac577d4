"""Begin a rule: `python -m tests.tools.new_rule DET509 threads-of-the-machine`, in the root of the repository.

It writes the page, what the check reads, a first case and the check, with FILL where something is to be written, and says
what to do next. With `--calls` the rule is a table of calls, which needs no check of its own. `docs/new-rule.md` walks
through one.
"""

from __future__ import annotations

import re
from pathlib import Path

import click

from detlint import catalogue
from detlint.catalogue import FAMILIES

MARK = "FILL"  # stands where something is to be written
_TAKEN = ("avoid", "use-", "no-", "missing")  # beginnings of names that do not say what is bad
_PAGE = """\
+++
code = "{code}"
name = "{name}"
summary = "FILL: what it finds, in a line without a full stop"
message = "`{{call}}` FILL: what is wrong with it"
why = "FILL: why two runs differ by it"
help = "FILL: what to write in its place"
check = "{check}"
severity = "warning"
breaks = ["run-to-run"]
refs = ["https://FILL"]
+++

FILL: what happens, for somebody who has just met it.

```py
FILL  # {code}
```

## Why runs differ

FILL: where the difference comes from, and which runs have it.

## How to fix it

FILL: what to write in its place, and what that costs.

```py
FILL
```

## What is reported

FILL: which code, and what is left alone.

## When to ignore it

FILL: where it may stay as it is.
"""
_DATA = """\
# FILL: what these are.
names = ["FILL.qualified.name"]
"""
_CASE = """\
# {code}: FILL: what these cases are about

FILL: an awkward one, and why it is or is no finding.

```py
FILL
```
"""
_CHECK = '''\
"""{code}: FILL: what it finds, in a line."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.catalogue import Rule
from detlint.finding import Finding
from detlint.semantics.model import Module


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """FILL: which calls, and in which form."""
    for call in module.calls_to(rule.data["names"]):
        yield module.finding(rule, call, call=module.short(call))
'''


@click.command(help=__doc__)
@click.argument("code")
@click.argument("name")
@click.option("--calls", is_flag=True, help="A table of calls and conditions says it all: no check of its own.")
def main(code: str, name: str, calls: bool) -> None:
    """Write the files of a rule."""
    folder = Path("rules")
    if not folder.is_dir() or not Path("detlint", "checks").is_dir():
        raise click.UsageError("run it in the root of the repository, where rules/ is")
    _refuse(code, name)
    check = "calls" if calls else name.replace("-", "_")
    page = folder / f"{code}-{name}.md"
    texts = {
        page: _PAGE.format(code=code, name=name, check=check),
        folder / "checks" / f"{code}.toml": _DATA,
        Path("tests", "cases", code, "calls.md"): _CASE.format(code=code),
    }
    if not calls:
        texts[Path("detlint", "checks", f"{check}.py")] = _CHECK.format(code=code)
    there = next((path for path in texts if path.exists()), None)
    if there is not None:
        raise click.UsageError(f"{there} is there already; take another name")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        click.echo(f"written: {path.as_posix()}")
    click.echo(_next(code, [path.as_posix() for path in texts]))


def _refuse(code: str, name: str) -> None:
    """Raise UsageError for a code or a name that no rule can have, or that one has already."""
    rules = catalogue.load().rules
    if not re.fullmatch(r"DET[1-7]\d\d", code):
        raise click.UsageError(f"{code!r} is no code such as DET509, whose first digit is the family: {_families()}")
    if code in rules:
        free = next(f"{code[:4]}{n:02}" for n in range(1, 100) if f"{code[:4]}{n:02}" not in rules)
        raise click.UsageError(f"{code} is {rules[code].name}; {free} is free")
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", name) or name.startswith(_TAKEN):
        raise click.UsageError(
            f"{name!r} is no name such as set-order: two or more words that say what is bad, in small letters, joined by hyphens"
        )
    if any(rule.name == name for rule in rules.values()):
        raise click.UsageError(f"{name} is the name of another rule; take another one")


def _families() -> str:
    return ", ".join(f"{digit} {name}" for digit, name in FAMILIES.items() if digit != "0")


def _next(code: str, paths: list[str]) -> str:
    return f"""
Next:
1. write what stands for {MARK}: grep -n {MARK} {" ".join(paths)}
2. pytest tests/test_pages.py -k {code}    the examples give their marks, and nothing else
3. python -m tests.tools.docs    which lists the rule in docs/rules.md
4. ruff check && mypy && pytest    which say what else counts rules
5. detlint --select {code} FOLDER    on code that you did not write; read every finding
docs/new-rule.md walks through one."""


if __name__ == "__main__":
    main()
