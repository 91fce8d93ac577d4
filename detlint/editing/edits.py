"""Edits of a file's syntax: libcst transforms the smallest piece of code around one, so the rest stays as it is.

New code is a template that libcst parses, with nodes of the file in its places: `new("sorted({it})", it=node)`. libcst
is imported with the first edit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from detlint.editing.import_removal import unused as unused
from detlint.editing.importing import WIDTH
from detlint.editing.vendoring import RUNTIME as RUNTIME
from detlint.finding import Edit, Fix, Import, Safety
from detlint.semantics.model import Module
from detlint.support.records import record
from detlint.tree import syntax as s

if TYPE_CHECKING:
    import libcst as cst

    from detlint.editing.items import Item


@record(frozen=True)
class New:
    """New code: a template with places such as `{it}` for nodes of the file, other new code, or text."""

    template: str
    parts: Mapping[str, s.Expression | New | str]


Code = New | str


def new(template: str, **parts: s.Expression | New | str) -> New:
    """Make code from a template and the parts for its places, in parentheses where needed."""
    return New(template, parts)


# Fixes


def fix(
    title: str,
    *edits: Edit | None,
    safety: Safety = Safety.SAFE,
    imports: tuple[Import, ...] = (),
    lowered: Safety | None = None,
) -> Fix | None:
    """Return a fix of these edits, or None if one of them cannot be made."""
    made = tuple(edit for edit in edits if edit is not None)
    return Fix(title, safety, made, imports, lowered) if made and len(made) == len(edits) else None


def together(fixes: Sequence[Fix]) -> Fix | None:
    """Return one fix for several, or None if there are none."""
    if len(fixes) < 2:
        return next(iter(fixes), None)
    made = dict.fromkeys(edit for each in fixes for edit in each.edits)
    imports = dict.fromkeys(need for each in fixes for need in each.imports)
    safety = next(level for level in (Safety.DISPLAY, Safety.UNSAFE, Safety.SAFE) if level in [f.safety for f in fixes])
    return Fix(fixes[0].title, safety, tuple(made), tuple(imports))


def runtime(module: Module, *names: str, inline: bool = False) -> tuple[Import, ...]:
    """Return the imports of runtime functions; `inline` if the edits write them, as `from RUNTIME import name`."""
    return tuple(Import(module.path, RUNTIME, name, inline) for name in names)


# Edits of expressions: None if libcst cannot read what is there


def replaced(module: Module, node: s.Node, code: Code) -> Edit | None:
    """Return an edit that replaces `node`, without its own parentheses."""
    made = _made(module, code)
    return None if made is None else Edit(module.place(node), _printed(module, made))


def wrapped(module: Module, node: s.Expression, code: Code) -> tuple[Edit | None, ...]:
    """Return edits that put around `node` what a template has before and after `{it}`."""
    from detlint.editing import nodes

    inner, parts = _read(module, node), _parts(module, _new(code).parts)
    if inner is None or parts is None:
        return (None,)
    start, end = module.span(node)
    before, after = nodes.around(_new(code).template, "it", inner, parts)
    edits = Edit(module.at(start, start), before), Edit(module.at(end, end), after)
    return tuple(edit for edit in edits if edit.text)


def renamed(module: Module, function: s.Attribute, name: str, *, also: int = 0) -> Edit | None:
    """Return an edit that replaces the last part of a dotted name, and `also` parts before it, by `name`."""
    import libcst as cst

    dotted = _read(module, function)
    for _ in range(also):
        dotted = dotted.value if isinstance(dotted, cst.Attribute) else None
    if not isinstance(dotted, cst.Attribute):
        return None
    return _difference(module, function, dotted.with_changes(attr=cst.Name(name)))


def argument(module: Module, call: s.Call, keyword: str, value: Code) -> Edit | None:
    """Return an edit that passes `keyword=value`: over what is passed there, or after the last argument in its layout.

    Return None if unpacking hides whether something is passed.
    """
    passed = module.argument(call, keyword)
    if passed.given:
        return replaced(module, passed.values[0], value) if len(passed.values) == 1 else None
    if passed.given is None:
        return None
    return last(module, call, new(f"{keyword}={{value}}", value=_new(value)))


def last(module: Module, call: s.Call, code: Code) -> Edit | None:
    """Return an edit that adds arguments, laid out like a call's last one, after it or before `**`; or None."""
    from detlint.editing import items, nodes

    node, parts = _read(module, call), _parts(module, _new(code).parts)
    if node is None or parts is None or items.is_generator_alone(getattr(node, "args", ())):
        return None
    values = [argument.value for argument in call.arguments]
    return _with_items(module, call, node, nodes.arguments(_new(code).template, parts), values[-1:])


def entry(module: Module, dictionary: s.Dictionary, key: Code, value: Code) -> Edit | None:
    """Return an edit that adds an entry after the last one of a dict, in its layout."""
    import libcst as cst

    node, made = _read(module, dictionary), [_made(module, code) for code in (key, value)]
    if node is None or made[0] is None or made[1] is None:
        return None
    return _with_items(module, dictionary, node, [cst.DictElement(made[0], made[1])], dictionary.values[-1:])


def listed(module: Module, braced: s.Collection | s.Comprehension, function: str) -> Edit | None:
    """Return an edit that calls `function` with a set display as a list, or a set comprehension as a generator."""
    import libcst as cst

    node, called = _read(module, braced), _made(module, function)
    if called is None or not isinstance(node, (cst.Set, cst.SetComp)):
        return None
    before, after = node.lbrace.whitespace_after, node.rbrace.whitespace_before
    if isinstance(node, cst.Set):
        brackets = cst.LeftSquareBracket(before), cst.RightSquareBracket(after)
        items: cst.BaseExpression = cst.List(node.elements, *brackets)
        return _difference(module, braced, cst.Call(called, [cst.Arg(items)]))
    items = cst.GeneratorExp(node.elt, node.for_in, lpar=[], rpar=[])
    argument = cst.Arg(items, whitespace_after_arg=after)
    return _difference(module, braced, cst.Call(called, [argument], whitespace_before_args=before))


def first(module: Module, call: s.Call, value: Code) -> Edit | None:
    """Return an edit that passes `value` first in a call without arguments or with only None; otherwise None."""
    if not call.arguments:
        return last(module, call, value)
    given = call.arguments[0]
    absent = isinstance(given.value, s.Constant) and given.value.value is None and not given.star
    return replaced(module, given.value, value) if absent and len(call.arguments) == 1 else None


def literals(module: Module, call: s.Call, values: Iterable[str]) -> dict[str, Edit]:
    """Return, with its edit, each of the `values`, written `name=value`, that replaces a literal argument."""
    found: dict[str, Edit] = {}
    for value in values:
        parameter, _, text = value.partition("=")
        passed = module.argument(call, parameter).values
        if len(passed) == 1 and isinstance(passed[0], s.Constant) and module.source(passed[0]) != text:
            edit = replaced(module, passed[0], text)
            if edit is not None:
                found[value] = edit
    return found


# Edits of statements


def ahead(module: Module, statement: s.Node, *lines: Code) -> Edit | None:
    """Return an edit that adds lines before a statement and its leading comments; None if it shares its line.

    A line that is "" is left empty.
    """
    start, _ = module.span(statement)
    if isinstance(statement, (s.Function, s.Class)) and statement.decorators:
        start = module.text.rindex("@", 0, module.span(statement.decorators[0])[0])
    begin = _line_start(module, start)
    indent = module.text[begin:start]
    if indent.strip(" \t\f"):
        return None
    begin = _above_comments(module, begin, indent)
    text = _lines(module, indent, lines)
    return None if text is None else Edit(module.at(begin, begin), text)


def behind(module: Module, statement: s.Node, *lines: Code) -> Edit | None:
    """Return an edit that adds lines after a statement; None if it shares its lines with another."""
    start, end = module.span(statement)
    indent = module.text[_line_start(module, start) : start]
    rest = re.compile(r"[ \t]*(#[^\r\n]*)?(?=[\r\n]|\Z)").match(module.text, end)
    text = _lines(module, indent, lines)
    if indent.strip(" \t\f") or rest is None or text is None:
        return None
    return Edit(module.at(rest.end(), rest.end()), f"\n{text}".removesuffix("\n"))


def moved(module: Module, statements: Sequence[s.Statement], before: s.Statement) -> tuple[Edit | None, ...]:
    """Return edits that move statements on lines of their own, with their leading comments, before another one."""
    gone: list[Edit | None] = []
    lines: list[Code] = []
    for statement in statements:
        start, end = module.span(statement)
        begin = _line_start(module, start)
        indent = module.text[begin:start]
        rest = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n|\Z)").match(module.text, end)
        if indent.strip(" \t\f") or rest is None:
            return (None,)
        begin = _above_comments(module, begin, indent)
        text = module.text[begin : rest.end()]
        lines.append("".join(row.removeprefix(indent) for row in text.splitlines(keepends=True)))
        gone.append(Edit(module.at(_above_blank(module, begin, rest.end()), rest.end()), ""))
    return *gone, ahead(module, before, *lines)


def _above_blank(module: Module, begin: int, end: int) -> int:
    """Return where an empty line right above `begin` starts if another follows `end`, otherwise `begin`."""
    above = _line_start(module, begin - 1) if begin else 0
    below = re.compile(r"[ \t]*(?:[\r\n]|\Z)").match(module.text, end)
    return above if begin and below and not module.text[above:begin].strip() else begin


def _above_comments(module: Module, begin: int, indent: str) -> int:
    """Return where the comments right above a line with the same indentation begin."""
    while begin:
        above = _line_start(module, begin - 1)
        if not re.match(re.escape(indent) + r"#(?!!)", module.text[above:begin]):
            break
        begin = above
    return begin


def _lines(module: Module, indent: str, lines: Sequence[Code]) -> str | None:
    """Return the statements as text, each line indented; None if one cannot be parsed."""
    from libcst import ParserSyntaxError

    from detlint.editing import nodes

    text = ""
    for line in lines:
        parts = _parts(module, _new(line).parts)
        if parts is None:
            return None
        try:
            made = nodes.statement(_new(line).template, parts) if line else None
        except ParserSyntaxError:
            return None
        text += "\n" if made is None else nodes.printed(made, indent=_unit(module))
    return "".join(f"{indent}{row}" if row.strip() else row for row in text.splitlines(keepends=True))


def _unit(module: Module) -> str:
    """Return what the file indents a block by."""
    head = r"^(?:def|class|if|for|while|with|try|else)\b[^\r\n]*:[ \t]*\r?\n([ \t]+)\S"
    found = re.search(head, module.text, re.MULTILINE)
    return found[1] if found else "    "


def _line_start(module: Module, offset: int) -> int:
    return max(module.text.rfind("\n", 0, offset), module.text.rfind("\r", 0, offset)) + 1


# Nodes of a file in libcst


def _new(code: Code) -> New:
    return New(code, {}) if isinstance(code, str) else code


def _read(module: Module, node: s.Node) -> cst.BaseExpression | None:
    """Return an expression of the file, without its own parentheses; None if libcst cannot read it."""
    from libcst import ParserSyntaxError

    from detlint.editing import nodes

    try:
        return nodes.expression(module.source(node))
    except ParserSyntaxError:
        return None


def _made(module: Module, code: Code) -> cst.BaseExpression | None:
    from libcst import ParserSyntaxError

    from detlint.editing import nodes

    parts = _parts(module, _new(code).parts)
    try:
        return None if parts is None else nodes.filled(_new(code).template, parts)
    except ParserSyntaxError:
        return None


def _parts(module: Module, parts: Mapping[str, s.Expression | New | str]) -> Mapping[str, cst.BaseExpression] | None:
    found = {
        name: _made(module, part) if isinstance(part, (New, str)) else _read(module, part)
        for name, part in parts.items()
    }
    made = {name: node for name, node in found.items() if node is not None}
    return made if len(made) == len(found) else None


def _printed(module: Module, node: cst.CSTNode) -> str:
    from detlint.editing import nodes

    newline = re.search(r"\r\n|\r|\n", module.text)
    return nodes.printed(node, "\n" if newline is None else newline[0])


def _difference(module: Module, old: s.Node, node: cst.CSTNode) -> Edit:
    """Return the smallest edit that turns the text of a node into that of `node`."""
    before, after = module.source(old), _printed(module, node)
    start, end = module.span(old)
    head = _alike(before, after)
    tail = min(_alike(before[::-1], after[::-1]), len(before) - head, len(after) - head)
    return Edit(module.at(start + head, end - tail), after[head : len(after) - tail])


def _alike(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _with_items(
    module: Module, old: s.Call | s.Dictionary, node: cst.CSTNode, items: Sequence[Item], last: Sequence[s.Node | None]
) -> Edit | None:
    """Return an edit that adds items to a call or a dict, the first of them after `last`."""
    import libcst as cst

    from detlint.editing.items import Items

    if not isinstance(node, (cst.Call, cst.Dict)):
        return None
    start, end = module.span(old)
    begin, after = (start, end) if not last or last[0] is None else module.span(last[0])
    line = _line_start(module, begin)
    indent = module.text[line : len(module.text) - len(module.text[line:].lstrip(" \t"))]
    more = sum(len(_printed(module, item)) + 2 for item in items)
    found = Items.of(node)
    if found.items and _would_be_long(module, start, end, more):
        found.spread(items, indent, indent + ("\t" if indent.startswith("\t") else _unit(module)))
    else:
        for item in items:
            found.add(item, indent, own_line=line > start and after - line + more + 2 > WIDTH)
    return _difference(module, old, found.put(node))


def _would_be_long(module: Module, start: int, end: int, more: int) -> bool:
    """Return whether `more` characters would make the line from `start` to `end` too long."""
    if "\n" in module.text[start:end]:
        return False
    length = len(module.text[_line_start(module, start) :].partition("\n")[0].rstrip())
    return length <= WIDTH < length + more
