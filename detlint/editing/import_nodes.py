"""Import statements as libcst nodes: a new one, one with a name added, one with names removed. Their layout is kept.

A new line ends in `\\n`, whatever line ends the file has.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from itertools import repeat

import libcst as cst

from detlint.editing.import_order import name_key
from detlint.finding import Import

_Statement = cst.Import | cst.ImportFrom
_Gap = cst.BaseParenthesizableWhitespace
_NO_SPACE, _SPACE, _INDENT = (cst.SimpleWhitespace(text) for text in ("", " ", "    "))
_LINE_END = cst.TrailingWhitespace(newline=cst.Newline("\n"))


def import_line(need: Import) -> cst.SimpleStatementLine:
    """Make the statement that imports `need`."""
    path = need.module.lstrip(".")
    module: cst.Name | cst.Attribute | None = None
    for part in filter(None, path.split(".")):
        module = cst.Name(part) if module is None else cst.Attribute(module, cst.Name(part))
    if need.name is not None:
        dots = [cst.Dot() for _ in range(len(need.module) - len(path))]
        return cst.SimpleStatementLine([cst.ImportFrom(module, [cst.ImportAlias(cst.Name(need.name))], dots)])
    assert module is not None, need
    alias = cst.AsName(cst.Name(need.alias)) if need.alias else None
    return cst.SimpleStatementLine([cst.Import([cst.ImportAlias(module, alias)])])


def printed(line: cst.SimpleStatementLine, above: int = 0, below: int = 0, ends: bool = True) -> str:
    """Print a statement with line ends `above` and blank lines `below` it, the last with its newline if it `ends`."""
    blank = cst.EmptyLine(newline=cst.Newline("\n"))
    module = cst.Module([line.with_changes(leading_lines=[blank] * above)], footer=[blank] * below)
    return module.with_changes(has_trailing_newline=ends).code


def rewritten(text: str, change: Callable[[cst.SimpleStatementLine], cst.SimpleStatementLine]) -> str:
    """Print what `change` makes of the statement in `text`, which has its lines to itself."""
    module = cst.parse_module(text)
    (line,) = module.body
    assert isinstance(line, cst.SimpleStatementLine), text
    return module.with_changes(body=[change(line)]).code


def with_name(line: cst.SimpleStatementLine, name: str, width: int) -> cst.SimpleStatementLine:
    """Import `name` too, in `from module import a`.

    The name goes to its sorted place among sorted names, otherwise to the end. A line that becomes longer than `width`,
    comment included, is broken into one name per line.
    """
    statement = _statement(line)
    assert isinstance(statement, cst.ImportFrom)
    aliases, gaps = _names(statement), _gaps(statement)
    keys = [name_key(alias.evaluated_name) for alias in aliases]
    place = bisect_right(keys, name_key(name)) if keys == sorted(keys) else len(keys)
    beside = gaps[min(place, len(keys) - 1)]
    if isinstance(beside, cst.ParenthesizedWhitespace):  # the neighbouring name begins a line
        gaps[place : place + 1] = _broken(gaps[place], beside)
    else:
        gaps[place : place + 1] = [gaps[place], _SPACE] if place < len(keys) else [_SPACE, gaps[place]]
    aliases.insert(place, cst.ImportAlias(cst.Name(name)))
    changed = line.with_changes(body=[_laid_out(statement, aliases, gaps)])
    text = printed(changed, ends=False)
    return _one_a_line(changed) if len(text) > width and not re.search(r"[\r\n]", text) else changed


def without_names(line: cst.SimpleStatementLine, names: Collection[str]) -> cst.SimpleStatementLine:
    """Remove what binds one of `names`, which must not be all, with the comment of a name on a line of its own."""
    statement = _statement(line)
    aliases, gaps = _names(statement), _gaps(statement)
    for place in reversed(range(len(aliases))):
        if _bound(aliases[place]) in names:
            gaps[place : place + 2] = [_joined(gaps[place], gaps[place + 1], place == 0, place == len(aliases) - 1)]
            del aliases[place]
    return line.with_changes(body=[_laid_out(statement, aliases, gaps)])


def _statement(line: cst.SimpleStatementLine) -> _Statement:
    (statement,) = line.body
    assert isinstance(statement, (cst.Import, cst.ImportFrom)), statement
    return statement


def _names(statement: _Statement) -> list[cst.ImportAlias]:
    assert not isinstance(statement.names, cst.ImportStar)
    return list(statement.names)


def _bound(alias: cst.ImportAlias) -> str:
    return alias.evaluated_alias or alias.evaluated_name.partition(".")[0]


# The gaps between names


def _gaps(statement: _Statement) -> list[_Gap]:
    """Return the whitespace before each name, after its comma, and after all names."""
    commas = [alias.comma for alias in _names(statement)]
    between = [comma.whitespace_after for comma in commas if isinstance(comma, cst.Comma)]
    left, right = _brackets(statement)
    gaps = [statement.whitespace_after_import if left is None else left.whitespace_after, *between]
    if len(gaps) == len(commas):
        gaps.append(_NO_SPACE if right is None else right.whitespace_before)
    return gaps


def _laid_out(statement: _Statement, aliases: Sequence[cst.ImportAlias], gaps: Sequence[_Gap]) -> _Statement:
    """Return a statement with other names and gaps, keeping a comma after the last name if it had one."""
    begin, *between, end = gaps
    trailing = isinstance(_names(statement)[-1].comma, cst.Comma)
    behind = [*between, end] if trailing else between
    names = [alias.with_changes(comma=_comma(alias, gap)) for alias, gap in zip(aliases, behind, strict=False)]
    if not trailing:
        names.append(aliases[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT))
    changed = statement.with_changes(names=names)
    left, right = _brackets(statement)
    if left is None or right is None:
        return changed
    right = right if trailing else right.with_changes(whitespace_before=end)
    return changed.with_changes(lpar=left.with_changes(whitespace_after=begin), rpar=right)


def _brackets(statement: _Statement) -> tuple[cst.LeftParen | None, cst.RightParen | None]:
    return (statement.lpar, statement.rpar) if isinstance(statement, cst.ImportFrom) else (None, None)


def _comma(alias: cst.ImportAlias, gap: _Gap) -> cst.Comma:
    comma = alias.comma if isinstance(alias.comma, cst.Comma) else cst.Comma()
    return comma.with_changes(whitespace_after=gap)


def _broken(gap: _Gap, indent: cst.ParenthesizedWhitespace) -> tuple[_Gap, _Gap]:
    """Return the gaps around a name that gets its own line, above the comments that have one."""
    if not isinstance(gap, cst.ParenthesizedWhitespace):
        return indent.with_changes(first_line=_LINE_END, empty_lines=[]), gap
    return indent.with_changes(first_line=gap.first_line, empty_lines=[]), gap.with_changes(first_line=_LINE_END)


def _joined(ahead: _Gap, behind: _Gap, first: bool, last: bool) -> _Gap:
    """Return the gap that stays where a name was, which may have been the `first` or the `last`."""
    if isinstance(ahead, cst.ParenthesizedWhitespace) and isinstance(behind, cst.ParenthesizedWhitespace):
        return behind.with_changes(first_line=ahead.first_line, empty_lines=[*ahead.empty_lines, *behind.empty_lines])
    if first or last:
        near, far = (ahead, behind) if first else (behind, ahead)
        return far if _has_comment(far) else near
    breaks = not isinstance(behind, cst.SimpleWhitespace) or "\\" in behind.value
    return behind if breaks else ahead


def _has_comment(gap: _Gap) -> bool:
    if not isinstance(gap, cst.ParenthesizedWhitespace):
        return False
    return gap.first_line.comment is not None or any(line.comment is not None for line in gap.empty_lines)


def _one_a_line(line: cst.SimpleStatementLine) -> cst.SimpleStatementLine:
    """Put the names one per line in parentheses, and the comment after the opening one."""
    statement, end = _statement(line), line.trailing_whitespace
    aliases = [alias.with_changes(comma=cst.Comma()) for alias in _names(statement)]
    opened = end.with_changes(newline=cst.Newline("\n")) if end.comment is not None else _LINE_END
    starts = [
        cst.ParenthesizedWhitespace(first, last_line=_INDENT)
        for first in (opened, *repeat(_LINE_END, len(aliases) - 1))
    ]
    bracketed = statement.with_changes(
        names=aliases, whitespace_after_import=_SPACE, lpar=cst.LeftParen(), rpar=cst.RightParen()
    )
    closing = cst.ParenthesizedWhitespace(_LINE_END)
    changed = _laid_out(bracketed, aliases, [*starts, closing])
    return line.with_changes(body=[changed], trailing_whitespace=cst.TrailingWhitespace(newline=end.newline))
