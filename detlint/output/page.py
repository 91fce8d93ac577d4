"""The page of a rule, as `detlint rule CODE` shows it."""

from __future__ import annotations

from detlint.catalogue import Rule


def render(rule: Rule) -> str:
    """The page as Markdown."""
    head = (
        f"# {rule.code} {rule.name}\n\n{rule.summary}.\n\nSeverity: {rule.severity.value}. "
        f"Breaks: {', '.join(rule.breaks) or 'nothing'}. Family: {rule.family}. "
        f"Fix: {'none' if rule.fix is None else rule.fix.value}.\n\n{rule.prose}\n"
    )
    return head + "\n".join(f"- {ref}" for ref in rule.refs)
