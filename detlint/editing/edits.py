"""Edits of a file's syntax, each on the smallest piece of text, so that comments and layout survive."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from detlint.editing.importing import WIDTH
from detlint.editing.vendoring import RUNTIME as RUNTIME
from detlint.finding import Edit, Fix, Import, Safety
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def fix(
    title: str,
    *edits: Edit | None,
    safety: Safety = Safety.SAFE,
    imports: tuple[Import, ...] = (),
    lowered: Safety | None = None,
) -> Fix | None:
    """A repair of these edits, or None where one of them cannot be made."""
    made = tuple(edit for edit in edits if edit is not None)
    return Fix(title, safety, made, imports, lowered) if made and len(made) == len(edits) else None


def together(fixes: Sequence[Fix]) -> Fix | None:
    """One repair of several, or None where there are none."""
    if len(fixes) < 2:
        return next(iter(fixes), None)
    made = dict.fromkeys(edit for each in fixes for edit in each.edits)
    imports = dict.fromkeys(need for each in fixes for need in each.imports)
    return Fix(fixes[0].title, fixes[0].safety, tuple(made), tuple(imports))


def runtime(module: Module, *names: str, inline: bool = False) -> tuple[Import, ...]:
    """The imports of functions of the runtime; `inline` if the edits write them, as `from RUNTIME import name`."""
    return tuple(Import(module.path, RUNTIME, name, inline) for name in names)


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
    return last(module, call, f"{keyword}={value}")


def last(module: Module, call: s.Call, text: str) -> Edit | None:
    """`text` after the last argument of a call, or before its `**`, laid out as that is; None where neither can be."""
    start, end = module.span(call)
    if not call.arguments:
        inside = module.text[:end].rindex("(", start) + 1
        return Edit(module.at(inside, inside), text)
    final = call.arguments[-1]
    if isinstance(final.value, s.Comprehension) and not final.keyword and len(call.arguments) == 1:
        return None  # a generator expression as the only argument has no parentheses of its own
    begin, after = module.span(final)
    if _would_be_long(module, start, end, len(text) + 2):
        return _spread(module, call, text)
    line = module.text.rfind("\n", 0, begin) + 1
    indent = module.text[line : len(module.text) - len(module.text[line:].lstrip(" \t"))]
    long = after - line + len(text) + 4 > WIDTH
    separator = f",\n{indent}" if line > start and (line + len(indent) == begin or long) else ", "
    if final.star == "**" and long and len(call.arguments) > 1:
        _, previous = module.span(call.arguments[-2])
        return Edit(module.at(previous, previous), f",\n{indent}{text}")
    if final.star == "**":
        space = " " if module.text[begin - 1] == "," else ""
        return Edit(module.at(begin, begin), f"{space}{text}{separator}")
    return Edit(module.at(after, after), f"{separator}{text}")


def _would_be_long(module: Module, start: int, end: int, more: int) -> bool:
    """Whether what stands on one line, from `start` to `end`, makes that too long with `more` characters."""
    if "\n" in module.text[start:end]:
        return False
    line = module.text.rfind("\n", 0, start) + 1
    length = len(module.text[line:].partition("\n")[0].rstrip())
    return length <= WIDTH < length + more


def _spread(module: Module, call: s.Call, text: str) -> Edit:
    """The arguments of a call and one more, each on a line of its own."""
    start, end = module.span(call)
    opening = module.text.index("(", module.span(call.function)[1])
    line = module.text.rfind("\n", 0, start) + 1
    indent = module.text[line : len(module.text) - len(module.text[line:].lstrip(" \t"))]
    inner = indent + ("\t" if indent.startswith("\t") else "    ")
    given = [module.source(argument) for argument in call.arguments]
    unpacked = given[-1:] if call.arguments[-1].star == "**" else []
    rows = [*given[: len(given) - len(unpacked)], text, *unpacked]
    spread = "".join(f"\n{inner}{row}," for row in rows)
    return Edit(module.at(opening + 1, end - 1), f"{spread}\n{indent}")


def first(module: Module, call: s.Call, value: str) -> Edit | None:
    """`value` as the first argument of a call that is given none, or None; None where it is given another."""
    if not call.arguments:
        start, end = module.span(call)
        inside = module.text[:end].rindex("(", start) + 1
        return Edit(module.at(inside, inside), value)
    given = call.arguments[0]
    absent = isinstance(given.value, s.Constant) and given.value.value is None and not given.star
    return replaced(module, given.value, value) if absent and len(call.arguments) == 1 else None


def literals(module: Module, call: s.Call, values: Iterable[str]) -> dict[str, Edit]:
    """Those of the `values`, written `name=value`, that take the place of a literal argument, each with its edit."""
    found = {}
    for value in values:
        parameter, _, new = value.partition("=")
        passed = module.argument(call, parameter).values
        if len(passed) == 1 and isinstance(passed[0], s.Constant) and module.source(passed[0]) != new:
            found[value] = replaced(module, passed[0], new)
    return found


def unused(module: Module, nodes: Sequence[s.Node]) -> list[Edit]:
    """The removal of imports that nothing uses once `nodes` are gone.

    An import that shares its line, may fail or is there for others stays.
    """
    gone = {id(node) for node in nodes}
    names = {(name.scope.find(name.id), name.id) for node in nodes for name in s.walk(node) if isinstance(name, s.Name)}
    found = []
    for scope, name in sorted(names, key=lambda pair: pair[1]):
        bindings = scope.bindings[name] if scope is not None else []
        if scope is None or len(bindings) != 1 or not isinstance(bindings[0].node, s.Import):
            continue
        reads = module.reads(scope, name)
        if all(any(id(node) in gone for node in (read, *read.ancestors())) for read in reads):
            edit = _without(module, bindings[0].node, name)
            found += [edit] if edit is not None else []
    return found


def _without(module: Module, statement: s.Import, name: str) -> Edit | None:
    """An import statement without one of its names."""
    block = statement.parent
    if (
        module.origins
        or module.path.endswith("__init__.py")
        or any(isinstance(a, s.Try) for a in statement.ancestors())
    ):
        return None
    start, end = module.span(statement)
    text = module.text[start:end]
    parsed = re.fullmatch(r"((?:from\s+\S+\s+)?import\s+)([^()\n]+)", text)
    parts = [part.strip() for part in parsed[2].split(",")] if parsed is not None else []
    others = [part for part in parts if part.split()[-1].partition(".")[0] != name]
    if parsed is not None and others and len(others) < len(parts):
        return Edit(module.at(start, end), parsed[1] + ", ".join(others))
    first = module.text.rfind("\n", 0, start) + 1
    after = module.text.find("\n", end) + 1
    alone = not module.text[first:start].strip() and re.fullmatch(r"\s*(#.*)?", module.text[end : after or None])
    if len(parts) != 1 or not alone or not isinstance(block, s.Block) or len(block.statements) == 1 or not after:
        return None
    return Edit(module.at(first, after), "")


def ahead(module: Module, statement: s.Node, *lines: str) -> Edit | None:
    """Lines of their own right before a statement and the comments that lead it; None where that shares its line."""
    start, _ = module.span(statement)
    if isinstance(statement, (s.Function, s.Class)) and statement.decorators:
        start = module.text.rindex("@", 0, module.span(statement.decorators[0])[0])
    begin = max(module.text.rfind("\n", 0, start), module.text.rfind("\r", 0, start)) + 1
    indent = module.text[begin:start]
    if indent.strip(" \t\f"):
        return None
    while begin:
        above = max(module.text.rfind("\n", 0, begin - 1), module.text.rfind("\r", 0, begin - 1)) + 1
        if not re.match(re.escape(indent) + r"#(?!!)", module.text[above:begin]):
            break
        begin = above
    return Edit(module.at(begin, begin), "".join(f"{indent}{line}\n" if line else "\n" for line in lines))


def behind(module: Module, statement: s.Node, line: str) -> Edit | None:
    """A line of its own right behind a statement; None where that shares its lines with another."""
    start, end = module.span(statement)
    begin = max(module.text.rfind("\n", 0, start), module.text.rfind("\r", 0, start)) + 1
    indent, rest = module.text[begin:start], re.compile(r"[ \t]*(#.*)?(\r?\n)").match(module.text, end)
    if indent.strip(" \t\f") or rest is None:
        return None
    return Edit(module.at(rest.end(), rest.end()), f"{indent}{line}\n")
