"""The page of a rule, shown next to the code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from detlint import catalogue
from detlint.catalogue import Rule
from detlint.finding import Place
from detlint.sources.source import lines_of

_PAGES = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")  # an editor has no other page to go to
_NOQA = re.compile(r"#\s*(?:detlint:\s*)?noqa:.*", re.IGNORECASE)
_CODE = re.compile(r"\bDET\d{3}\b", re.IGNORECASE)
_INFO = re.compile(r"^```py\b.*$", re.MULTILINE)


def page(rule: Rule) -> str:
    """Return a rule's page as Markdown: what is wrong, why, what to do, then its text."""
    below = _INFO.sub("```python", _PAGES.sub(r"\1", rule.text)).strip()
    return f"**{rule.code}** `{rule.name}`: {rule.summary}.\n\nWhy: {rule.why}.\n\nHelp: {rule.help}.\n\n---\n\n{below}"


def named(text: str, place: Place) -> Iterator[Rule]:
    """Yield the rule whose code is at a place within a `# noqa` comment of a text, if any."""
    line = lines_of(text)[place.line - 1]
    comment = _NOQA.search(line)
    rules = catalogue.load().rules
    for code in _CODE.finditer(line, comment.start()) if comment else ():
        if code.start() < place.column <= code.end() + 1 and code[0].upper() in rules:
            yield rules[code[0].upper()]
