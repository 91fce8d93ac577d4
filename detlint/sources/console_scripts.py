"""The commands that a project installs, and the functions that they call."""

from __future__ import annotations

import ast
import configparser
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from detlint.sources import source
from detlint.support import toml

_GROUPS = ("console_scripts", "gui_scripts")
_TARGET = re.compile(r"\s*([\w.]+)\s*:\s*([\w.]+)\s*(?:\[[^\]]*\]\s*)?")
Scripts = Iterator[tuple[str, object]]


class Command(NamedTuple):
    """A command: its name, what it calls, and the path of the setup.py that declares it, if it is not the root's."""

    name: str
    target: str
    setup: str = ""


def console_scripts(root: Path, read: Callable[[Path], str] = source.read) -> list[tuple[str, str]]:
    """Return the commands of the project in `root`: their names and what they call, as `package.module:function`.

    They are read from pyproject.toml, setup.cfg and setup.py, which is parsed, not run. A file that is missing or
    broken, and an entry that cannot be read from the text, yield nothing. `read` returns the text of a file, or raises
    UnreadableError.
    """
    kinds = {"pyproject.toml": _pyproject, "setup.cfg": _setup_cfg, "setup.py": _setup_py}
    return list(dict.fromkeys(each for file, read_from in kinds.items() for each in _of(root / file, read_from, read)))


def commands(root: Path, files: Iterable[str], read: Callable[[Path], str] = source.read) -> tuple[Command, ...]:
    """Return the commands of the project in `root`, and of folders of it with a setup.py among `files`."""
    found = [Command(name, target) for name, target in console_scripts(root, read)]
    for path in (Path(file) for file in files if file.endswith("/setup.py")):
        if path.parent.resolve() != root.resolve():
            found += [Command(name, target, path.as_posix()) for name, target in _of(path, _setup_py, read)]
    return tuple(dict.fromkeys(found))


def _of(path: Path, read_from: Callable[[str], Scripts], read: Callable[[Path], str]) -> Iterator[tuple[str, str]]:
    """Yield the commands in a file; none if it is missing or broken."""
    try:
        scripts = list(read_from(read(path)))
    except (source.UnreadableError, ValueError, SyntaxError, RecursionError, MemoryError, configparser.Error):
        return
    for name, target in scripts:
        match = _TARGET.fullmatch(target) if isinstance(target, str) else None
        if match and name.strip():
            yield name.strip(), f"{match[1]}:{match[2]}"


def _pyproject(text: str) -> Scripts:
    data = toml.loads(text)
    for keys in (("project", "scripts"), ("project", "gui-scripts"), ("tool", "poetry", "scripts")):
        table: object = data
        for key in keys:
            table = table.get(key) if isinstance(table, dict) else None
        for name, target in table.items() if isinstance(table, dict) else ():
            if isinstance(target, dict):  # Poetry's long form; it used `callable` before `reference`
                target = target.get("reference", target.get("callable"))
            yield name, target


def _setup_cfg(text: str) -> Scripts:
    parser = configparser.RawConfigParser()
    parser.read_string(text)
    for group in _GROUPS:
        yield from _lines(parser.get("options.entry_points", group, fallback="").splitlines())


def _lines(lines: list[str]) -> Scripts:
    """Yield the entries `name = package.module:function` of some lines."""
    for line in lines:
        name, equals, target = line.partition("=")
        if equals:
            yield name, target


def _setup_py(text: str) -> Scripts:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about the project's own text
        tree = ast.parse(text)
    literals = _literals(tree)
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and getattr(call.func, "id", getattr(call.func, "attr", "")) == "setup":
            for keyword in call.keywords:
                if keyword.arg == "entry_points":
                    yield from _entry_points(keyword.value, literals)


def _entry_points(node: ast.expr, literals: dict[str, ast.expr]) -> Scripts:
    node = _follow(node, literals)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        parser = configparser.RawConfigParser()
        parser.optionxform = str  # type: ignore[assignment,method-assign]  # names of commands keep their case
        parser.read_string(node.value)
        for group in _GROUPS:
            yield from parser.items(group) if parser.has_section(group) else ()
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value in _GROUPS:
                yield from _lines(_strings(_follow(value, literals), literals))


def _strings(node: ast.expr, literals: dict[str, ast.expr]) -> list[str]:
    """Return the lines of a constant string or of the constant strings of a display."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.splitlines()
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        followed = [_follow(element, literals) for element in node.elts]
        return [e.value for e in followed if isinstance(e, ast.Constant) and isinstance(e.value, str)]
    return []


def _literals(tree: ast.Module) -> dict[str, ast.expr]:
    """Return the names that a file binds once, at its top level, with their values."""
    stored = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
    found: dict[str, ast.expr] = {}
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        for target in targets:
            if isinstance(target, ast.Name) and value is not None and stored.count(target.id) == 1:
                found[target.id] = value
    return found


def _follow(node: ast.expr, literals: dict[str, ast.expr]) -> ast.expr:
    """Return what a name is bound to; a node that is not such a name is returned as it is."""
    for _ in range(len(literals) + 1):  # names can go in circles
        if not isinstance(node, ast.Name) or node.id not in literals:
            break
        node = literals[node.id]
    return node
