"""The rules that found something, in short, as HTML, so that the page can be read without other documentation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from detlint.catalogue import Rule
from detlint.report import Judged
from detlint.support.page import prose, text

_LINK = re.compile(r"\[([^\[\]]+)\]\([^()\s]+\)")


def rules_of(findings: Iterable[Judged]) -> list[Rule]:
    """Return the rules that found something, by code."""
    return sorted({judged.rule.code: judged.rule for judged in findings}.values(), key=lambda rule: rule.code)


def section(rules: Iterable[Rule]) -> str:
    """Return the section of the page, or "" if there are no rules."""
    articles = "\n".join(_article(rule) for rule in rules)
    return f"<section id=rules><h2>The rules</h2>\n{articles}</section>" if articles else ""


def _article(rule: Rule) -> str:
    refs = "".join(f'<li><a href="{text(ref)}" rel="noreferrer">{text(ref)}</a></li>' for ref in rule.refs)
    more = f"<ul>{refs}</ul>" if refs else ""
    said = "".join(f"<p>{prose(each)}</p>" for each in _paragraphs(rule))
    return (
        f'<article class=rule id="{text(rule.code)}"><h3>{text(rule.code)} {text(rule.name)}</h3>'
        f"<p><b>{prose(rule.summary)}.</b></p>{said}{more}</article>"
    )


def _paragraphs(rule: Rule) -> Iterator[str]:
    """Yield the paragraphs of a rule's page that come before its first example."""
    for paragraph in re.split(r"\n\s*\n", rule.prose.partition("\n```")[0]):
        plain = " ".join(paragraph.split())
        if plain and not plain.startswith(("#", "|")):
            yield _LINK.sub(r"\1", plain)
