"""The page of a rule, shown next to the code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from detlint import catalogue
from detlint.catalogue import Rule
from detlint.finding import Place
from detlint.report import Judged
from detlint.sources.source import lines_of
from detlint.support.printed import one_line

_PAGES = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")  # an editor has no other page to go to
_NOQA = re.compile(r"#\s*(?:detlint:\s*)?noqa:.*", re.IGNORECASE)
_CODE = re.compile(r"\bDET\d{3}\b", re.IGNORECASE)
_INFO = re.compile(r"^```py\b.*$", re.MULTILINE)


def page(rule: Rule, judged: Judged | None = None) -> str:
    """Return a rule's page as Markdown: what is wrong, why, what to do, then its text.

    What the rule leaves open is filled in by the finding that the page is shown over, and left out if there is none.
    """
    said = {"Why": rule.why, "Help": rule.help} if judged is None else {"Why": judged.why, "Help": judged.help}
    told = [f"{name}: {one_line(text)}." for name, text in said.items() if judged is not None or "{" not in text]
    below = _INFO.sub("```python", _PAGES.sub(r"\1", rule.text)).strip()
    return "\n\n".join((f"**{rule.code}** `{rule.name}`: {rule.summary}.", *told, "---", below))


def named(text: str, place: Place) -> Iterator[Rule]:
    """Yield the rule whose code is at a place within a `# noqa` comment of a text, if any."""
    line = lines_of(text)[place.line - 1]
    comment = _NOQA.search(line)
    rules = catalogue.load().rules
    for code in _CODE.finditer(line, comment.start()) if comment else ():
        if code.start() < place.column <= code.end() + 1 and code[0].upper() in rules:
            yield rules[code[0].upper()]
