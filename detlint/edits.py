"""Edits of a file's syntax, each on the smallest piece of text, so that comments and layout survive."""

from __future__ import annotations

import re
from collections.abc import Sequence

from detlint import syntax as s
from detlint.finding import Edit, Fix, Import, Safety
from detlint.model import Module

RUNTIME = "detlint.runtime"  # of which a copy in the project may take the place


def fix(title: str, *edits: Edit | None, safety: Safety = Safety.SAFE, imports: tuple[Import, ...] = ()) -> Fix | None:
    """A repair of these edits, or None where one of them cannot be made."""
    made = tuple(edit for edit in edits if edit is not None)
    return Fix(title, safety, made, imports) if made and len(made) == len(edits) else None


def together(fixes: Sequence[Fix]) -> Fix | None:
    """One repair of several, or None where there are none."""
    if len(fixes) < 2:
        return next(iter(fixes), None)
    made = dict.fromkeys(edit for each in fixes for edit in each.edits)
    imports = dict.fromkeys(need for each in fixes for need in each.imports)
    return Fix(fixes[0].title, fixes[0].safety, tuple(made), tuple(imports))


def runtime(module: Module, *names: str) -> tuple[Import, ...]:
    """The imports of functions of the runtime."""
    return tuple(Import(module.path, RUNTIME, name) for name in names)


def replaced(module: Module, node: s.Node, text: str) -> Edit:
    """`node`, without its own parentheses, replaced by `text`."""
    return Edit(module.place(node), text)


def wrapped(module: Module, node: s.Node, before: str, after: str = ")") -> tuple[Edit, Edit]:
    """Text put right before and right after `node`."""
    start, end = module.span(node)
    return Edit(module.at(start, start), before), Edit(module.at(end, end), after)


def argument(module: Module, call: s.Call, keyword: str, value: str) -> Edit | None:
    """`keyword=value` in a call: in place of what is passed there, or after the last argument, laid out as that is.

    None where unpacking hides whether something is passed.
    """
    passed = module.argument(call, keyword)
    if passed.given:
        return replaced(module, passed.values[0], value) if len(passed.values) == 1 else None
    if passed.given is None:
        return None
    start, end = module.span(call)
    if not call.arguments:
        inside = module.text[:end].rindex("(", start) + 1
        return Edit(module.at(inside, inside), f"{keyword}={value}")
    last = call.arguments[-1]
    if isinstance(last.value, s.Comprehension) and not last.keyword and len(call.arguments) == 1:
        return None  # a generator expression as the only argument has no parentheses of its own
    first, after = module.span(last)
    line = module.text.rfind("\n", 0, first) + 1
    indent = module.text[line:first]
    own_line = line > start and not indent.strip()
    separator = f",\n{indent}" if own_line else ", "
    return Edit(module.at(after, after), f"{separator}{keyword}={value}")


def ahead(module: Module, statement: s.Node, line: str) -> Edit | None:
    """A line of its own right before a statement and the comments that lead it; None where that shares its line."""
    start, _ = module.span(statement)
    begin = max(module.text.rfind("\n", 0, start), module.text.rfind("\r", 0, start)) + 1
    indent = module.text[begin:start]
    if indent.strip(" \t\f"):
        return None
    while begin:
        above = max(module.text.rfind("\n", 0, begin - 1), module.text.rfind("\r", 0, begin - 1)) + 1
        if not re.match(re.escape(indent) + r"#(?!!)", module.text[above:begin]):
            break
        begin = above
    return Edit(module.at(begin, begin), f"{indent}{line}\n")
