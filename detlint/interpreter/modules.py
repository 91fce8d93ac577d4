"""Modules: what imports bind, and what names mean in a module."""

from __future__ import annotations

import builtins
from posixpath import basename, dirname, join, normpath

from detlint.documents.paths import PROJECT, of_file
from detlint.domain.atoms import Constant, DictOf, FunctionRef, LibraryRef, ModuleRef, Node
from detlint.domain.effects import Import
from detlint.domain.given import Given
from detlint.domain.slots import Attribute
from detlint.domain.values import NOTHING, UNKNOWN, Value, value_of
from detlint.interpreter import assignments
from detlint.interpreter.frames import Frame
from detlint.interpreter.index import ALL
from detlint.ir import nodes as ir
from detlint.registered import UNREAD

_MAIN = Constant("str", "__main__")
_BUILTIN = frozenset(dir(builtins))
_PACKAGE = "__init__.py"
_ASKED = "__getattr__"  # what a module calls for names that it lacks
RUNTIME = "detlint.runtime"
"""What a project's own copy of the runtime stands for, too."""


def global_variable(frame: Frame, name: str) -> Value:
    """What a name of the module means here."""
    found = frame.get(f".{name}")
    if found is not None:
        return found
    return named(frame, frame.file, name)


def named(frame: Frame, file: ir.File, name: str) -> Value:
    """A variable of a module, of what it imports all of, or a builtin: the text decides which."""
    frame.solver.index.asked[file.path, name] = None
    if name in file.binds:
        return frame.read((ModuleRef(file.path), Attribute(name)))
    given = frame.read((ModuleRef(file.path), Attribute(name))) if name in frame.solver.index.stored else NOTHING
    return frame.join(given, _otherwise(frame, file, name))


def _otherwise(frame: Frame, file: ir.File, name: str) -> Value:
    """What a name means that a module does not bind."""
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
    if name == "__name__":
        return _name(frame, file)
    if name == "__package__":
        return value_of(Constant("str", _package_name(frame, file)))
    if name in _BUILTIN:
        return value_of(LibraryRef(f"builtins.{name}"))
    if name == "__file__":
        return value_of(Constant("str", of_file(file.path)))
    libraries = frame.solver.libraries
    for level, module in reversed(file.stars):
        known = libraries.canonical(f"{module}.{name}")
        if level == 0 and _file(frame, file.path, level, module) is None and known in libraries.names:
            return value_of(LibraryRef(known))
    return UNKNOWN if unknown or not file.stars else found


def _name(frame: Frame, file: ir.File) -> Value:
    """What a module calls itself, and what it is called where a program starts with it."""
    imports = frame.solver.imports
    started = file.path in frame.solver.started
    found = value_of(Constant("str", "__main__")) if started else NOTHING
    if not started or file.path in frame.solver.index.imported(imports):
        found = frame.join(found, value_of(Constant("str", imports.name(file.path))))
    return found


def _package_name(frame: Frame, file: ir.File) -> str:
    """The dotted name of the package that a module belongs to."""
    name = frame.solver.imports.name(file.path)
    return name if file.path.endswith(_PACKAGE) else name.rpartition(".")[0]


def exports(frame: Frame, path: str, name: str, seen: frozenset[str]) -> bool:
    """Whether the text of a module, or of one that it imports all of, binds a name that a star brings."""
    file = frame.solver.files[path]
    public = frame.solver.index.public(file)
    if name.startswith("_") if public is None else name not in public:
        return False
    frame.solver.index.asked[path, name] = None
    return name in file.binds or _starred(frame, path, name, seen)


def _starred(frame: Frame, path: str, name: str, seen: frozenset[str]) -> bool:
    """Whether a module has a name from one that it imports all of."""
    for level, module in frame.solver.files[path].stars:
        other = _file(frame, path, level, module)
        if other is not None and other not in seen and exports(frame, other, name, seen | {other}):
            return True
    return False


def names(frame: Frame, file: ir.File) -> list[str]:
    """The names that the text of a module binds, and those that it imports with all of other modules."""
    frame.solver.index.asked[file.path, ALL] = None
    found = dict.fromkeys(file.binds)
    waiting, seen = [file], {file.path}
    while waiting:
        importer = waiting.pop()
        for level, module in importer.stars:
            path = _file(frame, importer.path, level, module)
            if path is not None and path not in seen:
                seen.add(path)
                frame.solver.index.asked[path, ALL] = None
                waiting.append(frame.solver.files[path])
                found |= dict.fromkeys(name for name in frame.solver.files[path].binds if not name.startswith("_"))
    return list(found)


def binds(frame: Frame, path: str, name: str) -> bool:
    """Whether the text of a module binds a name, or it has a module of that name in it."""
    file = frame.solver.files.get(path)
    frame.solver.index.asked[path, name] = None
    return file is None or name in file.binds or bool(_within(frame, path, name).atoms)


def shown(frame: Frame, path: str) -> DictOf:
    """The names of a module, as a dict."""
    file = frame.solver.files.get(path)
    held = {name: variable(frame, path, name) for name in (names(frame, file) if file is not None else ())}
    return DictOf(tuple((Constant("str", name), value) for name, value in held.items() if value.atoms))


def variable(frame: Frame, path: str, name: str) -> Value:
    """An attribute of a module of the project: a variable of its text, else a module within the package.

    One that a star brings takes the place of the module that it comes from, which is bound before. What a folder
    without a file lacks is that of the library of its name, which Python takes before the folder.
    """
    file = frame.solver.files.get(path)
    frame.solver.index.asked[path, name] = None
    if file is not None and name in file.binds:
        return frame.read((ModuleRef(path), Attribute(name)))
    starred = file is not None and _starred(frame, path, name, frozenset((path,)))
    inner = NOTHING if starred else _within(frame, path, name)
    if inner.atoms:
        return inner
    if file is None:
        folder = basename(path.rstrip("/"))
        is_library = path.endswith("/") and folder in frame.solver.libraries.packages
        return library_name(frame, f"{folder}.{name}") if is_library else UNKNOWN
    if _ASKED in file.binds and not name.startswith("__"):
        asked = frame.read((ModuleRef(path), Attribute(_ASKED)))
        return frame.tables.call(frame, asked, Given((value_of(Constant("str", name)),)), -1)
    return named(frame, file, name)


def _within(frame: Frame, path: str, name: str) -> Value:
    """A module of a package, which is told by its file, or of a folder that is one without a file; nothing for none."""
    if not path.endswith((_PACKAGE, "/")):
        return NOTHING
    place = f"{dirname(path)}/{name}".removeprefix("/")
    for file in (f"{place}/{_PACKAGE}", f"{place}.py"):
        if file in frame.solver.imports.paths:
            return enter(frame, file) if file != path else NOTHING
    return value_of(ModuleRef(f"{place}/")) if place in frame.solver.index.folders else NOTHING


def library_of(frame: Frame, qualified: str) -> LibraryRef | None:
    """What this file defines under a name, where the project is a library of which the tables know that as a whole."""
    whole = frame.solver.libraries.wholes.get(qualified)
    if whole is None:
        return None
    found = frame.solver.libraries.canonical(f"{frame.solver.imports.name(frame.file.path)}.{qualified}")
    return LibraryRef(found) if found in whole else None


def enter(frame: Frame, path: str) -> Value:
    """Import a file: its top level runs, the first time in a program, after that of the package that it belongs to.

    One that was not read is a module of which nobody knows what it has.
    """
    if path not in frame.solver.files:
        return value_of(LibraryRef(f"{UNREAD}.{path.removesuffix('.py').replace('/', '.')}"))
    if path == frame.file.path and frame.is_top:
        return value_of(ModuleRef(path))
    package = _package(frame, path)
    if package is not None:
        enter(frame, package)
    frame.flush()
    summary = frame.solver.enter(frame.entry, Node(FunctionRef(path, ir.TOP)), {})
    frame.emit(Import(path))
    frame.after_call(summary.writes)
    return value_of(ModuleRef(path))


def at(frame: Frame, path: str) -> Value:
    """Import the file at a path, from beside this one or from where programs start; unknown for another."""
    folders = ("",) if path.startswith(PROJECT) else (dirname(frame.file.path), "")
    for folder in folders:
        found = normpath(join(folder, path.removeprefix(PROJECT)))
        if found in frame.solver.files:
            return enter(frame, found)
    return UNKNOWN


def enter_all(frame: Frame) -> None:
    """Import all modules of the package whose file this is, as one does that lists its folder."""
    own = frame.file.path
    if not own.endswith(_PACKAGE):
        return
    folder = dirname(own)
    for path in sorted(frame.solver.files):
        inner = dirname(path) if path.endswith(f"/{_PACKAGE}") else path
        if dirname(inner) == folder and path != own:
            enter(frame, path)


def _package(frame: Frame, path: str) -> str | None:
    """The file of the package that a file belongs to, which has run where one of that package imports another."""
    folder = dirname(dirname(path) if path.endswith(f"/{_PACKAGE}") else path)
    package = f"{folder}/{_PACKAGE}" if folder else _PACKAGE
    importer = frame.file.path
    within = importer.startswith(f"{folder}/") and importer not in (path, *frame.solver.started)
    return package if package in frame.solver.files and package not in (path, importer) and not within else None


def _file(frame: Frame, importer: str, level: int, module: str) -> str | None:
    """The file of the project that an import loads, if any, and that was read."""
    path = _found(frame, importer, level, module)
    return path if path in frame.solver.files else None


def _found(frame: Frame, importer: str, level: int, module: str) -> str | None:
    """The file of the project that an import loads, if any."""
    if level:
        return frame.solver.imports.relative(importer, level, module)
    return frame.solver.search.find(module, importer)


def named_module(frame: Frame, name: str, importer: str = "") -> Value:
    """A module by its absolute name: of the project, or of a library."""
    importer = importer or frame.file.path
    if frame.solver.libraries.canonical(name) == RUNTIME:
        return value_of(LibraryRef(RUNTIME))
    path = _found(frame, importer, 0, name)
    if path is not None:
        return enter(frame, path)
    folder = frame.solver.search.namespace(name, importer)
    if folder:
        return value_of(ModuleRef(folder))
    head, _, last = name.rpartition(".")
    if head and (path := _found(frame, importer, 0, head)) is not None:
        package = enter(frame, path)
        return variable(frame, path, last) if path in frame.solver.files else package
    path = frame.solver.search.within_project(name, importer, frame.solver.libraries.packages)
    if path is None and _is_own(frame, importer, name):
        path = importer
    return enter(frame, path) if path is not None else library_name(frame, name)


def _from(frame: Frame, source: Value, module: str, name: str) -> Value:
    """What a module has that is no file of its own, or is found elsewhere than its name says."""
    found = NOTHING
    for atom in frame.each(source):
        if isinstance(atom, ModuleRef):
            found = frame.join(found, variable(frame, atom.file, name))
        elif isinstance(atom, LibraryRef) and atom.name != module:
            found = frame.join(found, library_name(frame, f"{atom.name}.{name}"))
        else:
            found = frame.join(found, named_module(frame, f"{module}.{name}"))
    return found


def _is_own(frame: Frame, script: str, name: str) -> bool:
    """Whether a script that imports a module of this name gets itself: its own name, and that of no library."""
    return (
        script in frame.solver.started
        and basename(script) == f"{name}.py"
        and name not in frame.solver.libraries.packages
    )


def library_name(frame: Frame, name: str) -> Value:
    """What a name of a library stands for: a number that is known, else whatever has the name."""
    found = frame.solver.libraries.constant(name)
    return found if found is not None else value_of(LibraryRef(name))


def loaded(frame: Frame, name: Value) -> Value:
    """The modules of some names that are imported: that of a program is the one that it starts."""
    found = NOTHING
    own_name = frame.solver.imports.name(frame.file.path)
    for atom in frame.each(name):
        text = atom.value if isinstance(atom, Constant) and atom.kind == "str" else None
        path = _file(frame, frame.file.path, 0, text) if text is not None else None
        if path is not None or text == own_name:
            found = frame.join(found, value_of(ModuleRef(path or frame.file.path)))
        elif atom == _MAIN:
            own = frame.file.path in frame.solver.started
            paths = (frame.file.path,) if own else sorted(frame.solver.started)
            found = frame.join(found, value_of(*map(ModuleRef, paths)))
        else:
            found = frame.join(found, UNKNOWN if text is None else named_module(frame, text))
    return found


def import_module(frame: Frame, statement: ir.ImportModule) -> None:
    """`import a.b as c`."""
    value = named_module(frame, statement.module)
    first, dot, _ = statement.module.partition(".")
    if dot and not statement.alias:
        value = named_module(frame, first)
    assignments.assign(frame, statement.target, value)


def import_names(frame: Frame, statement: ir.ImportNames) -> None:
    """`from a import b as c`."""
    own = frame.file.path
    path = _found(frame, own, statement.level, statement.module)
    source = NOTHING
    if path is not None:
        source = enter(frame, path)
        path = path if path in frame.solver.files else None
    elif not statement.level:
        source = named_module(frame, statement.module)
    for name, target in statement.names:
        if target is None:
            frame.solver.index.asked[path or "", ALL] = None
            continue
        if path is not None:
            inner = _within(frame, path, name) if path == own else NOTHING
            value = inner if inner.atoms else variable(frame, path, name)
        elif statement.level and not source.atoms:
            beside = _found(frame, own, statement.level, f"{statement.module}.{name}".strip("."))
            value = enter(frame, beside) if beside is not None else UNKNOWN
        else:
            value = _from(frame, source, statement.module, name)
        assignments.assign(frame, target, value)
