"""Modules: what imports bind, and what names mean in a module."""

from __future__ import annotations

import builtins

from detlint.documents.paths import PROJECT
from detlint.domain.atoms import Constant, FunctionRef, LibraryRef, ModuleRef, Node
from detlint.domain.effects import Import
from detlint.domain.slots import Attribute
from detlint.domain.values import NOTHING, UNKNOWN, Value, value_of
from detlint.interpreter import assignments
from detlint.interpreter.frames import Frame
from detlint.ir import nodes as ir

_BUILTIN = frozenset(dir(builtins))


def global_variable(frame: Frame, name: str) -> Value:
    """What a name of the module means here."""
    found = frame.get(f".{name}")
    if found is not None:
        return found
    return named(frame, frame.file, name)


def named(frame: Frame, file: ir.File, name: str) -> Value:
    """A variable of a module, of what it imports all of, or a builtin: the text decides which."""
    if name in file.binds:
        return frame.read((ModuleRef(file.path), Attribute(name)))
    found = NOTHING
    exported = unknown = False
    for level, module in file.stars:
        path = _file(frame, file.path, level, module)
        if path is None:
            unknown = True
        elif path != file.path and exports(frame, path, name, frozenset((file.path,))):
            found = frame.join(found, variable(frame, path, name))
            exported = True
    if exported:
        return found
    if name in _BUILTIN:
        return value_of(LibraryRef(f"builtins.{name}"))
    if name == "__name__":
        return UNKNOWN
    if name == "__file__":
        return value_of(Constant("str", f"{PROJECT}{file.path}"))
    return UNKNOWN if unknown or not file.stars else found


def exports(frame: Frame, path: str, name: str, seen: frozenset[str]) -> bool:
    """Whether the text of a module, or of one that it imports all of, binds a name."""
    file = frame.solver.files[path]
    if name in file.binds:
        return True
    for level, module in file.stars:
        other = _file(frame, path, level, module)
        if other is not None and other not in seen and exports(frame, other, name, seen | {other}):
            return True
    return False


def variable(frame: Frame, path: str, name: str) -> Value:
    """An attribute of a module of the project: a variable of its text, else a module within the package."""
    file = frame.solver.files[path]
    if name in file.binds:
        return frame.read((ModuleRef(path), Attribute(name)))
    if path.endswith("__init__.py"):
        inner = frame.solver.imports.relative(path, 1, name)
        if inner is not None and inner in frame.solver.files and inner != path:
            return enter(frame, inner)
    return named(frame, file, name)


def enter(frame: Frame, path: str) -> Value:
    """Import a file: its top level runs, the first time in a program."""
    if path == frame.file.path and frame.is_top:
        return value_of(ModuleRef(path))
    frame.flush()
    summary = frame.solver.enter(frame.entry, Node(FunctionRef(path, ir.TOP)), {})
    frame.emit(Import(path))
    frame.after_call(summary.writes)
    return value_of(ModuleRef(path))


def _file(frame: Frame, importer: str, level: int, module: str) -> str | None:
    """The file of the project that an import loads, if any."""
    imports = frame.solver.imports
    path = imports.relative(importer, level, module) if level else imports.find(module, importer)
    return path if path in frame.solver.files else None


def named_module(frame: Frame, name: str) -> Value:
    """A module by its absolute name: of the project, or of a library."""
    path = _file(frame, frame.file.path, 0, name)
    if path is not None:
        return enter(frame, path)
    head, _, last = name.rpartition(".")
    if head and (path := _file(frame, frame.file.path, 0, head)) is not None:
        return variable(frame, path, last)
    return value_of(LibraryRef(name))


def import_module(frame: Frame, statement: ir.ImportModule) -> None:
    """`import a.b as c`."""
    parts = statement.module.split(".")
    for count in range(1, len(parts)):
        path = _file(frame, frame.file.path, 0, ".".join(parts[:count]))
        if path is not None:
            enter(frame, path)
    value = named_module(frame, statement.module)
    if not statement.alias:
        value = named_module(frame, parts[0])
    assignments.assign(frame, statement.target, value)


def import_names(frame: Frame, statement: ir.ImportNames) -> None:
    """`from a import b as c`."""
    path = _file(frame, frame.file.path, statement.level, statement.module)
    if path is not None:
        enter(frame, path)
    for name, target in statement.names:
        if target is None:
            continue
        if path is not None:
            value = variable(frame, path, name)
        elif statement.level:
            inner = frame.solver.imports.relative(
                frame.file.path, statement.level, f"{statement.module}.{name}".strip(".")
            )
            value = enter(frame, inner) if inner is not None and inner in frame.solver.files else UNKNOWN
        else:
            value = named_module(frame, f"{statement.module}.{name}")
        assignments.assign(frame, target, value)
