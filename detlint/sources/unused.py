"""DET001: suppressions that suppress nothing, and the fix that removes them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from detlint.catalogue import Catalogue
from detlint.finding import Edit, Finding, Fix, Safety
from detlint.sources.directives import Span, without
from detlint.sources.suppressions import IDLE, Comment, Suppression

UNUSED = "DET001"


def unused(
    catalogue: Catalogue, suppressions: Sequence[Suppression], used: Collection[Suppression], known: frozenset[str]
) -> Iterator[Finding]:
    """Yield a finding for each code in the comments of a file that suppresses nothing.

    `used` are the suppressions that cover a finding; `known` are the codes of the rules whose findings this run knows
    in full. A comment that may be part of a string gets no finding. Neither does one without codes, unless it is an
    `on` that ends nothing.
    """
    reasons = {
        each: reason
        for each in suppressions
        if each.comment.sure and each not in used and (reason := _reason(each, catalogue, known))
    }
    rule = catalogue.rules[UNUSED]
    ended = Counter(each.end for each in suppressions)
    ended.subtract(each.end for each in reasons)
    by_comment = defaultdict(list)
    for each in reasons:
        by_comment[each.comment].append(each)
    for comment, together in by_comment.items():
        gone = defaultdict(set, {comment: {each.span for each in together}})
        for end in (each.end for each in together):
            if end is not None and not ended[end]:
                gone[end.comment].add(end.span)
        fix = _fix(gone)
        for each in together:
            reason = reasons[each]
            yield Finding(rule.code, each.place, rule.message.format(reason=reason), {"reason": reason}, fix=fix)


def _fix(gone: Mapping[Comment, Collection[Span]]) -> Fix | None:
    """Return a fix that cuts these spans from the comments, or None if a comment cannot be rewritten."""
    edits = []
    for comment, spans in gone.items():
        text = without(comment.text, comment.alone, spans)
        if text is None:
            return None
        edits.append(Edit(comment.place, text) if text else Edit(comment.whole, ""))
    return Fix("remove what suppresses nothing", Safety.SAFE, tuple(edits))


def _reason(each: Suppression, catalogue: Catalogue, known: frozenset[str]) -> str:
    """Return why a code is useless; "" if that is unknown, or if the code would cover DET001 itself."""
    if each.kind == IDLE:
        return "`on` ends no `off`"
    if UNUSED.startswith(each.code):
        return ""
    named = [code for code in catalogue.rules if code.startswith(each.code)]
    if not named:
        return f"`{each.code}` is no rule"
    return f"`{each.code}` covers no finding" if known.issuperset(named) else ""
