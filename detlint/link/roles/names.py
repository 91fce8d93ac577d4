"""Lookups by names and texts: of attributes, modules, classes and functions."""

from __future__ import annotations

import re
from posixpath import normpath
from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.facts import facts as f
from detlint.finding import Place
from detlint.link.language.members import members
from detlint.link.roles.role import Role
from detlint.link.state.arguments import Arguments
from detlint.link.state.mappings import is_namespace
from detlint.link.state.program import folder
from detlint.link.state.releases import installed, parsed
from detlint.link.state.values import (
    NONE,
    SOME,
    UNKNOWN,
    Atom,
    Class,
    Constant,
    Function,
    Library,
    Object,
    Option,
    Value,
    constant,
    each,
    exact,
    join,
    only,
    settled,
    single,
)
from detlint.programs.events import merged

if TYPE_CHECKING:
    from detlint.link.libraries.library import Interpreter as Run
else:
    Run = Any

_LEFT_OUT = Library("argparse.SUPPRESS")
_LOCATION = "(location)"
_MOST_FITTING = 8  # modules that a text may name
_PART = re.compile(r"\w\.|\.\w")  # of a text that names a package, or a module in one
_READ = (f.Literal, f.Local, f.Global, f.Member)  # what is read again and does nothing
_UNTOLD = UNKNOWN | SOME


def _getattr(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    names = _texts(given.positional[1]) if len(given.positional) > 1 else []
    if not names:
        return join(members(run, atom) for atom in each(given.positional[0])) if given.positional else UNKNOWN
    return join(_attribute_of(run, name, given) for name in names)


def _attribute_of(run: Run, name: str, given: Arguments) -> Value:
    owners = each(given.positional[0])
    if len(given.positional) < 3:
        return join(run.attribute(atom, name) for atom in owners)
    values = [given.positional[2] if run.program.objects.lacks(a, name) else run.attribute(a, name) for a in owners]
    found = join(values)
    return found | given.positional[2] if found <= UNKNOWN else found


def _hasattr(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return whether an object has an attribute, known for what its class declares and for command-line arguments."""
    name = exact(given.positional[1]) if len(given.positional) > 1 else None
    answers = {_has(run, atom, name) if isinstance(name, str) else None for atom in each(given.first())}
    answer = answers.pop() if len(answers) == 1 else None
    return UNKNOWN if answer is None else constant(answer)


def _has(run: Run, atom: Atom, name: str) -> bool | None:
    objects = run.program.objects
    if objects.lacks(atom, name):
        return False
    if is_namespace(atom):  # an option that is not given may be left out, so the attribute may be missing
        held = objects.stored(atom, name)
        return None if held is None or _LEFT_OUT in held else True
    if isinstance(atom, Object) and isinstance(atom.kind, Library) and objects.given(atom, name) is not None:
        return True  # an entry of a configuration
    if isinstance(atom, Library) and atom.name.partition(".")[0] == "torch":
        return run.tables.speak_of(f"{atom.name}.{name}") or None
    if isinstance(atom, (Object, Class)):
        kind = atom.kind if isinstance(atom, Object) else atom
        infos = [objects.classes.get(each) for each in objects.ancestry(kind) if isinstance(each, Class)]
        return any(info is not None and name in info.attributes for info in infos) or None
    return None


def _texts(value: Value) -> list[str]:
    """Return the texts that a value may be, with options at their defaults; empty if it may be anything else."""
    known = [settled(atom) for atom in each(value) if isinstance(atom, (Constant, Option))]
    texts = [text for text in known if isinstance(text, str)]
    return texts if len(texts) == len(value) else []


def _names(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return what an evaluated text names, or the result of its call; possibly a class of the file if it is unknown."""
    name = given.first()
    known = only(name)
    text = settled(known) if isinstance(known, (Constant, Option)) else None
    if isinstance(text, str):
        called, opened, given_there = text.partition("(")
        first, *rest = called.strip().split(".")
        found = run.module_variable(run.frame.path, first) if first.isidentifier() else UNKNOWN
        for step in rest:
            found = join(run.attribute(atom, step) for atom in each(found)) if step.isidentifier() else UNKNOWN
        if opened and given_there.find(")") == len(given_there) - 1:
            return run.call_value(found, (), {"**": UNKNOWN}, place)
        return UNKNOWN if opened else found
    run.unrepeatable()
    values = join(run.variables_of(run.frame.path).values())
    return frozenset(a for a in values if isinstance(a, Class)) | UNKNOWN


def _signature(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return an object that lists the parameters of a function, or of the constructor of a class, by name."""
    atom = only(given.first())
    found = run.attribute(atom, "__init__") if isinstance(atom, Class) else given.first()
    own = only(found)
    if not isinstance(own, Function):
        return UNKNOWN
    site, objects = run.site(place), run.program.objects
    names = [parameter.name for parameter in run.program.function(own).parameters]
    names = names[1:] if own.receiver is not None or isinstance(atom, Class) else names
    made, parameters = Object(Library(row.text("gives")), *site), run.container("dict", *site)
    for name in names:
        objects.store(parameters, f"[{name!r}]", UNKNOWN)
    for name in row.list("tables"):
        objects.store(made, name, single(parameters))
    return single(made)


def _imports(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return the module of a name, joined with unknown if the name may also be another, unknown one."""
    known = only(given.first() - _UNTOLD - NONE)
    name = settled(known) if isinstance(known, (Constant, Option)) else None
    others = frozenset() if _UNTOLD.isdisjoint(given.first()) else UNKNOWN
    if isinstance(name, str) and not name.startswith("."):
        return run.module_named(name, run.frame.path) | others
    package = exact((*given.positional, UNKNOWN, UNKNOWN)[1]) if isinstance(name, str) else None
    if isinstance(name, str) and isinstance(package, str):
        outer = package.split(".")[: 1 - (len(name) - len(name.lstrip("."))) or None]
        return run.module_named(".".join([*outer, name.lstrip(".")]), run.frame.path) | others
    if run.frame.path.endswith("__init__.py"):
        run.load_package(run.frame.path)
    return _one_of(run, _fitting(run), place) | UNKNOWN


def _fitting(run: Run) -> list[str]:
    """Return the modules of the project whose names fit the text that is imported now: `f"models.{name}.train"`."""
    given = run.node.arguments[0].value if run.node is not None and run.node.arguments else None
    parts = given.operands if isinstance(given, (f.Joined, f.Computed)) else ()
    texts = [exact(run.value(each)) if isinstance(each, _READ) else ... for each in parts]
    if not any(isinstance(text, str) and _PART.search(text) for text in texts):
        return []
    fits = re.compile(rf"(?:.*\.)?({''.join(re.escape(t) if isinstance(t, str) else '[^.]+' for t in texts)})")
    found = {path: fits.fullmatch(path.removesuffix(".py").replace("/", ".")) for path in run.program.facts}
    names = {path: match[1] for path, match in found.items() if match is not None}
    named = sorted(name for path, name in names.items() if run.find(name, run.frame.path) == path)
    return named if len(named) <= _MOST_FITTING else []


def _one_of(run: Run, names: list[str], place: Place) -> Value:
    """Import one of some modules."""
    if len(names) == 1:
        return run.module_named(names[0], run.frame.path)
    start, ends, found = run.state, [], []
    for name in names:
        run.state = start
        with run.guarded("", place):
            found.append(run.module_named(name, run.frame.path))
        ends.append(run.state)
    run.state = merged(end for end in ends if end is not None) if ends else start
    return join(found)


def _spec(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return the spec of a module in a file, relative to the file of the call or to where the program starts."""
    made = Object(Library(row.text("gives")), *run.site(place))
    location = exact(given.keywords.get("location", (*given.positional, UNKNOWN, UNKNOWN)[1]))
    if isinstance(location, str):
        base = folder(run.frame.path) if location.startswith(".") else run.script_folder
        run.program.objects.store(made, _LOCATION, single(Constant(normpath(f"{base}/{location}"))))
    return single(made)


def _loads(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return the module of a spec, which is loaded next."""
    spec = only(given.first())
    path = exact(run.program.objects.stored(spec, _LOCATION) or UNKNOWN) if spec is not None else None
    return run.module_at(path) if isinstance(path, str) and path in run.program.facts else UNKNOWN


def _installed(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return the version of an installed distribution, as a text."""
    name = exact(given.first())
    return installed(name) if isinstance(name, str) else UNKNOWN


def _version(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return a text as a version."""
    return parsed(given.first())


NAME_ROLES: dict[str, Role] = {
    "getattr": _getattr, "hasattr": _hasattr, "names": _names,
    "imports": _imports, "spec": _spec, "loads": _loads, "signature": _signature,
    "installed": _installed, "version": _version,
}  # fmt: skip
