"""The part of a module that some of its functions need: everything else is left out, down to single statements.

The module must be laid out for it: formatted, with one line for each import, each `global` and the head of each
function with keyword-only parameters. Locals of functions must not share names with what it defines, except what it
imports under `if TYPE_CHECKING:`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator

_TYPED = ":"  # marks names that only annotations need


def sliced(source: str, names: Collection[str]) -> str:
    """Return the text of a module with these functions of another one, and what they need of it.

    What nothing refers to is removed repeatedly: definitions and imports; a variable that no function changes from its
    first value, or that none reads, along with the then idle code that sets it, iterates over it, tests it or adds it;
    and a keyword-only parameter that no call gives, with the tests of it. Paragraphs of docstrings that mention what is
    gone go too.
    """
    whole = ast.parse(source)
    changed = {name for function in _functions(whole) for name, _ in _changes(function)}
    text, before = source, ""
    while text != before:
        before = text
        text = _active(_referred(text, names), changed)
    return _documented(text, whole)


def _referred(text: str, names: Collection[str]) -> str:
    """Return a text without the definitions and imports that these functions do not need."""
    tree, lines = ast.parse(text), _Lines(text)
    needed = _needed(tree, names)
    for mark, around, statement in _statements(tree):
        defined = [mark + name for name in _defined(statement)]
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            lines.keep(statement, [i for i, name in enumerate(defined) if name in needed])
        elif needed.isdisjoint(defined):
            lines.remove(statement, statement)
        if around is not None and not any(name.startswith(_TYPED) for name in needed):
            lines.remove(around, around)
    return lines.text()


def _active(text: str, changed: Collection[str]) -> str:
    """Return a text without what does nothing in its functions; `changed` are the variables that are not constant."""
    tree, lines = ast.parse(text), _Lines(text)
    functions = _functions(tree)
    for _, _, statement in _statements(tree):
        name, *_ = _defined(statement)
        if isinstance(statement, ast.AnnAssign) and name in changed and _is_idle(statement, functions):
            lines.remove_all(_about(name, functions))
    for function in functions:
        for node in ast.walk(function):
            if isinstance(node, ast.Global):
                lines.keep(node, [i for i, name in enumerate(node.names) if name in _names(function)])
        for parameter, default in _not_given(function, tree):
            lines.remove_all(_about(parameter.arg, [function]))
            lines.shorten(function, parameter, default)
    return lines.text()


class _Lines:
    """The lines of a text, some of which are removed."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._gone: set[int] = set()

    def remove(self, first: ast.stmt | ast.expr, last: ast.stmt | ast.expr) -> None:
        """Remove the lines from one node to another, with the decorators of a function."""
        heads = [first, *(first.decorator_list if isinstance(first, ast.FunctionDef) else ())]
        self._gone.update(range(min(each.lineno for each in heads) - 1, last.end_lineno or last.lineno))

    def remove_all(self, parts: Iterable[tuple[ast.stmt | ast.expr, ast.stmt | ast.expr]]) -> None:
        """Remove parts of functions."""
        for first, last in parts:
            self.remove(first, last)

    def keep(self, statement: ast.Import | ast.ImportFrom | ast.Global, wanted: list[int]) -> None:
        """Keep only some names of a statement."""
        if not wanted:
            self.remove(statement, statement)
        elif len(wanted) < len(statement.names):
            for index in sorted(set(range(len(statement.names))).difference(wanted), reverse=True):
                del statement.names[index]
            self._lines[statement.lineno - 1] = " " * statement.col_offset + ast.unparse(statement)

    def shorten(self, function: ast.FunctionDef, parameter: ast.arg, default: ast.expr) -> None:
        """Remove a parameter from a function; those after it must be gone already."""
        line = self._lines[function.lineno - 1]
        line = line[: parameter.col_offset] + line[default.end_col_offset :]
        for doubled, single in ((", , ", ", "), (", )", ")"), (", *)", ")"), ("(*)", "()")):
            line = line.replace(doubled, single)
        self._lines[function.lineno - 1] = line

    def text(self) -> str:
        """Return what is left, with the wider of the gaps around what is gone, and none at the start of a block."""
        kept: list[str] = []
        gaps = [0]
        for number, line in enumerate(self._lines):
            if number in self._gone:
                gaps.append(0)
            elif not line:
                gaps[-1] += 1
            else:
                begins = len(gaps) > 1 and line.startswith(" ") and kept[-1].endswith((":", '"""'))
                kept += [*[""] * (0 if begins else max(gaps)), line]
                gaps = [0]
        return "\n".join(kept) + "\n"


# What a module defines


def _statements(tree: ast.Module) -> Iterator[tuple[str, ast.If | None, ast.stmt]]:
    """Yield the definitions and imports of a module, with a mark for their names and the `if` around them."""
    for node in tree.body:
        if isinstance(node, ast.If):
            yield from ((_TYPED, node, each) for each in node.body)
        elif _defined(node) and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            yield "", None, node


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def _defined(statement: ast.stmt) -> list[str]:
    """Return the names that a statement defines."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return [each.asname or each.name for each in statement.names]
    if isinstance(statement, ast.FunctionDef):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [each.id for each in targets if isinstance(each, ast.Name)]


def _needed(tree: ast.Module, names: Collection[str]) -> set[str]:
    """Return the names of a module that these functions need, including their own."""
    mentioned: dict[str, set[str]] = {}
    for mark, around, statement in _statements(tree):
        found = _mentioned(statement) if around is None else _typed(statement) | _names(around.test)
        mentioned |= {mark + name: found for name in _defined(statement)}
    needed: set[str] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        needed.add(name)
        waiting |= (mentioned[name] & mentioned.keys()) - needed
    return needed


def _mentioned(statement: ast.stmt) -> set[str]:
    notes = (getattr(node, key, None) for node in ast.walk(statement) for key in ("annotation", "returns"))
    return _names(statement).union(*(_typed(note) for note in notes if note is not None))


def _typed(node: ast.AST) -> set[str]:
    """Return the names in an annotation, both plain and marked."""
    names = _names(node)
    return names | {_TYPED + name for name in names}


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


# What does nothing


def _is_idle(variable: ast.AnnAssign, functions: Iterable[ast.FunctionDef]) -> bool:
    """Return whether no function changes a variable, or none reads it, and all that mentions it can go."""
    (name,) = _defined(variable)
    first = variable.value
    assert first is not None
    changes = [value for each in functions for changed, value in _changes(each) if changed == name]
    uses = _uses(name, functions)
    within = [part for first_part, last_part in _about(name, functions) for part in (first_part, last_part)]
    changed = any(ast.dump(value) != ast.dump(first) for value in changes)
    read = len(uses) > len(changes)
    return not (changed and read) and len(_uses(name, within)) == len(uses)


def _not_given(function: ast.FunctionDef, tree: ast.Module) -> Iterator[tuple[ast.arg, ast.expr]]:
    """Yield the keyword-only parameters that no call gives, each with its default, the last one first."""
    for parameter, default in zip(function.args.kwonlyargs[::-1], function.args.kw_defaults[::-1], strict=True):
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and function.name in _names(node.func)]
        given = [each.arg for call in calls for each in call.keywords]
        if default is not None and parameter.arg not in given:
            yield parameter, default


def _about(
    name: str, functions: Iterable[ast.FunctionDef]
) -> Iterator[tuple[ast.stmt | ast.expr, ast.stmt | ast.expr]]:
    """Yield the parts of functions that do nothing while a variable has its first value, or that set it.

    They are statements and items of dicts, each as its first and last node.
    """
    for node in (node for function in functions for node in ast.walk(function)):
        if isinstance(node, ast.Dict):
            items = zip(node.keys, node.values, strict=True)
            yield from ((key, value) for key, value in items if key is not None and name in _names(value))
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            if name in map(_root, _targets(node)):
                yield node, node
        elif isinstance(node, ast.stmt):
            head = {ast.For: "iter", ast.If: "test", ast.AugAssign: "value"}.get(type(node))
            if head is not None and name in _names(getattr(node, head)):
                yield node, node


def _changes(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """Yield the variables to which, or to an item of which, a function assigns, and the values."""
    for node in ast.walk(function):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            for target in _targets(node):
                yield _root(target), node.value


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _root(target: ast.expr) -> str:
    """Return the variable that is assigned to, or whose item is; "" for any other target."""
    target = target.value if isinstance(target, ast.Subscript) else target
    return target.id if isinstance(target, ast.Name) else ""


def _uses(name: str, nodes: Iterable[ast.AST]) -> set[ast.Name]:
    """Return where a name occurs."""
    inner = (each for node in nodes for each in ast.walk(node))
    return {each for each in inner if isinstance(each, ast.Name) and each.id == name}


# What docstrings say


def _documented(text: str, whole: ast.Module) -> str:
    """Return a text whose docstrings mention only what it has of the whole module; its own is one paragraph."""
    tree = ast.parse(text)
    lines = text.splitlines()
    before = {function.name: function for function in _functions(whole)}
    defined = {name for _, _, statement in _statements(tree) for name in _defined(statement)}
    gone = {name for mark, _, s in _statements(whole) if not mark for name in _defined(s)} - defined
    nodes: list[ast.Module | ast.FunctionDef] = [tree, *_functions(tree)]
    for node in reversed(nodes):
        string = node.body[0]
        if ast.get_docstring(node) is None:
            continue
        begin, end = string.lineno - 1, string.end_lineno or string.lineno
        first, *rest = "\n".join(lines[begin:end]).rstrip()[:-3].rstrip().split("\n\n")
        if isinstance(node, ast.FunctionDef):
            options = _options(before[node.name]) - _options(node)
            rest = [each for each in rest if not _mentions(each, gone | options)]
            end_quotes = f"\n{' ' * string.col_offset}" if rest or "\n" in first else ""
        else:
            rest, end_quotes = [], ""
        lines[begin:end] = ("\n\n".join([first, *rest]) + end_quotes + '"""').split("\n")
    return "\n".join(lines) + "\n"


def _options(function: ast.FunctionDef) -> set[str]:
    return {parameter.arg for parameter in function.args.kwonlyargs}


def _mentions(paragraph: str, names: Collection[str]) -> bool:
    """Return whether a paragraph has one of these names in backquotes or followed by parentheses."""
    quoted = {word for code in re.findall(r"`([^`]*)`", paragraph) for word in re.findall(r"\w+", code)}
    return not quoted.isdisjoint(names) or any(f"{name}()" in paragraph for name in names)
