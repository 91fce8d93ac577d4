"""What the roles of the table of programs mean: one function a role."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.link.arguments import Arguments
from detlint.link.mappings import is_namespace
from detlint.link.roles_config import CONFIG_ROLES
from detlint.link.roles_mapping import MAPPING_ROLES, items_of
from detlint.link.roles_process import PROCESS_ROLES, Role
from detlint.link.truth import truth
from detlint.link.values import (
    LONGEST,
    NONE,
    SOME,
    UNKNOWN,
    Atom,
    Class,
    Constant,
    Function,
    Library,
    Module,
    Object,
    Option,
    Partial,
    Super,
    Tuple,
    Value,
    Wrapped,
    constant,
    each,
    exact,
    join,
    only,
    settled,
    single,
)

if TYPE_CHECKING:
    from detlint.link.library import Interpreter as Run
else:
    Run = Any


def _passes(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    return given.first(row.text("parameter"))


def _prepares(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    return single(Tuple(given.positional)) if len(given.positional) > 1 else given.first()


def _self(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    return _receiver(function)


def _receiver(function: Library) -> Value:
    return UNKNOWN if function.receiver is None else single(function.receiver)


def _eval(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    run.switch("layers", "eval", place)
    return _receiver(function)


def _train(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    mode = truth(given.first()).expected if given.positional or given.keywords else True
    run.switch("layers", "train" if mode else "eval", place)
    return _receiver(function)


def _wraps(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    sources = [value for value in given.positional if not _is_function(value)] or list(given.keywords.values())
    return single(Wrapped(join(items_of(run, v) for v in sources), join(sources)))


def _is_function(value: Value) -> bool:
    return any(isinstance(atom, Function) for atom in value)


def _numbers(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    items = items_of(run, given.first())
    return single(Wrapped(single(Tuple((SOME, items))), given.first()))


def _zips(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    items = Tuple(tuple(items_of(run, value) for value in given.positional))
    return single(Wrapped(single(items), join(given.positional)))


def _consumes(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    value = given.first() if given.positional else UNKNOWN
    items = run.iterate(value)
    if function.name in ("builtins.iter", "builtins.list", "builtins.tuple", "builtins.sorted", "builtins.set"):
        made = run.container("list", *run.site(place))
        run.program.objects.store(made, "[]", items)
        return single(made)
    return items


def _container(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    made = Object(Library(function.name), *run.site(place))
    for value in (*given.positional, *given.keywords.values()):
        for atom in each(value):
            inner = items_of(run, single(atom)) if isinstance(atom, Tuple) or run.is_container(atom) else None
            run.program.objects.store(made, "[]", single(atom) if inner is None else inner)
    return single(made)


def _loader(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    keywords = given.keywords | ({"**": UNKNOWN} if given.hidden else {})
    made = Object(Library(function.name), *run.made_at(function.name, given.positional, keywords, place))
    run.keep(made, function.name, given.positional, keywords)
    run.made_loader(given, place)
    return single(made)


def _dataset(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    consumer = run.tables.consumers.get(function.name)
    if consumer is not None and given.applies(consumer.list("when"), consumer.list("unless")):
        run.draw(consumer, function.name, place)
    made = Object(Library(function.name), *run.site(place))
    first = given.first()
    for atom in each(first):
        inner = items_of(run, single(atom)) if run.is_container(atom) or isinstance(atom, Tuple) else None
        run.program.objects.store(made, "[]", single(atom) if inner is None else inner)
    whole = single(made)
    return single(Tuple((whole,) * 8)) if consumer is not None else whole  # random_split gives several


def _partial(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    keywords = tuple(sorted(given.keywords.items()))
    return single(Partial(given.first(), given.positional[1:], keywords))


def _super(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    variables = list(run.frame.variables.items())
    owner = run.frame.function.rpartition(".")[0]
    klass: Any = Class(run.frame.path, owner)
    receiver: Any = run.frame.receiver
    if len(given.positional) == 2:
        klass, receiver = only(given.positional[0]), only(given.positional[1])
    if isinstance(klass, Class) and isinstance(receiver, (Object, Class)) and variables:
        return single(Super(klass, receiver))
    return UNKNOWN


def _getattr(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    known = only(given.positional[1]) if len(given.positional) > 1 else None
    name = settled(known) if isinstance(known, (Constant, Option)) else None
    if not isinstance(name, str):
        return join(members(run, atom) for atom in each(given.positional[0])) if given.positional else UNKNOWN
    if len(given.positional) < 3:
        return join(run.attribute(atom, name) for atom in each(given.positional[0]))
    owners = each(given.positional[0])
    values = [given.positional[2] if run.program.objects.lacks(a, name) else run.attribute(a, name) for a in owners]
    found = join(values)
    return found | given.positional[2] if found <= UNKNOWN else found


def _hasattr(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Whether an object has an attribute: known of what its class declares, and of the arguments of a command line."""
    name = exact(given.positional[1]) if len(given.positional) > 1 else None
    answers = {_has(run, atom, name) if isinstance(name, str) else None for atom in each(given.first())}
    answer = answers.pop() if len(answers) == 1 else None
    return UNKNOWN if answer is None else constant(answer)


_LEFT_OUT = Library("argparse.SUPPRESS")


def _has(run: Run, atom: Atom, name: str) -> bool | None:
    objects = run.program.objects
    if objects.lacks(atom, name):
        return False
    if is_namespace(atom):  # where an option that is not given is left out, it has the attribute or not
        held = objects.stored(atom, name)
        return None if held is None or _LEFT_OUT in held else True
    if isinstance(atom, Library) and atom.name.partition(".")[0] == "torch":
        return run.tables.speak_of(f"{atom.name}.{name}") or None
    if isinstance(atom, (Object, Class)):
        kind = atom.kind if isinstance(atom, Object) else atom
        infos = [objects.classes.get(each) for each in objects.ancestry(kind) if isinstance(each, Class)]
        return any(info is not None and name in info.attributes for info in infos) or None
    return None


def _names(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """What a text names that is evaluated: where that is not known, perhaps a class or function of the file."""
    name = given.first()
    known = only(name)
    text = settled(known) if isinstance(known, (Constant, Option)) else None
    if isinstance(text, str):
        return run.module_variable(run.frame.path, text) if text.isidentifier() else UNKNOWN
    run.unrepeatable()
    values = join(run.variables_of(run.frame.path).values())
    return frozenset(a for a in values if isinstance(a, Class)) | UNKNOWN


def members(run: Run, atom: Atom) -> Value:
    """What may be looked up by a name that is not known: functions of a module, methods of an object."""
    found: Value = frozenset()
    if isinstance(atom, Module):
        run.unrepeatable()
        for value in run.variables_of(atom.path).values():
            found |= frozenset(a for a in value if isinstance(a, (Function, Class)) and a.path == atom.path)
    elif isinstance(atom, Object) and isinstance(atom.kind, Class) and atom.kind in run.program.objects.classes:
        run.program.objects.ancestry(atom.kind)
        attributes = run.program.objects.classes[atom.kind].attributes.items()
        public = [value for name, value in attributes if not name.startswith("_")]
        found = run.bound(join(public), atom) if public else found
    return found | UNKNOWN


def _text(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """A method of a string that is known."""
    method = getattr(str, function.name.rpartition(".")[2])
    texts = [exact(value) for value in given.positional[1:]]
    if not given.positional or given.keywords or not all(isinstance(text, str) for text in texts):
        return SOME
    found: list[Value] = []
    for atom in each(given.positional[0]):
        text = settled(atom) if isinstance(atom, (Constant, Option)) else None
        changed = _changed(method, text, texts) if isinstance(text, str) else None
        made = replace(atom, default=changed) if isinstance(atom, Option) else Constant(changed)
        found.append(SOME if changed is None else single(made))
    return join(found)


def _changed(method: Any, text: str, others: Sequence[object]) -> object:
    """What a method of strings returns; None where it takes other arguments than these, or that may be too long."""
    try:
        return method(text, *others) if len(text) <= LONGEST else None
    except TypeError:
        return None


def _type(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    found = frozenset(atom.kind for atom in given.first() if isinstance(atom, Object))
    return found or UNKNOWN


def _setattr(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    if len(given.positional) != 3:
        return NONE
    owners, key, value = given.positional
    names = [a.value for a in each(key) if isinstance(a, Constant) and isinstance(a.value, str)]
    for atom in each(owners):
        if isinstance(atom, Object) and len(names) < len(key):
            run.open(atom)
        elif isinstance(atom, (Object, Class)):
            for name in names:
                run.program.objects.store(atom, name, value)
        elif isinstance(atom, Library):
            run.set_switch(f"{atom.name}.{exact(key)}", value)
    return NONE


def _registers(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """A decorator that adds to a registry, itself made by a call or not."""
    made = [
        v for v in (*given.positional, *given.keywords.values()) if any(isinstance(a, (Function, Class)) for a in v)
    ]
    if function.receiver is None or not made:
        return single(function)
    run.program.objects.store(function.receiver, "[]", join(made))
    return made[0]


def _builds(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """What a registry makes by the name that a configuration gives."""
    held = run.held(function.receiver) if function.receiver is not None else UNKNOWN
    return run.call_value(held, [], {"**": UNKNOWN}, place)


ROLES: dict[str, Role] = {
    **CONFIG_ROLES,
    **MAPPING_ROLES,
    **PROCESS_ROLES,
    "passes": _passes, "prepares": _prepares, "self": _self, "eval": _eval, "train": _train, "wraps": _wraps,
    "numbers": _numbers, "zips": _zips, "consumes": _consumes, "container": _container, "loader": _loader,
    "dataset": _dataset, "partial": _partial, "super": _super, "getattr": _getattr, "hasattr": _hasattr,
    "setattr": _setattr, "names": _names, "text": _text, "type": _type, "registers": _registers, "builds": _builds,
}  # fmt: skip
