"""The meaning of the roles in the table of programs: one function for each role."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.link.language.passes import taken
from detlint.link.language.positions import kept_in_place, side_by_side, told_apart
from detlint.link.roles.actors import ACTOR_ROLES
from detlint.link.roles.callables import CALLABLE_ROLES
from detlint.link.roles.classes import CLASS_ROLES
from detlint.link.roles.config import CONFIG_ROLES
from detlint.link.roles.containers import CONTAINER_ROLES
from detlint.link.roles.documents import DOCUMENT_ROLES
from detlint.link.roles.engines import ENGINE_ROLES
from detlint.link.roles.hydra import HYDRA_ROLES
from detlint.link.roles.mapping import MAPPING_ROLES
from detlint.link.roles.modules import MODULE_ROLES
from detlint.link.roles.names import NAME_ROLES
from detlint.link.roles.process import PROCESS_ROLES
from detlint.link.roles.registries import REGISTRY_ROLES
from detlint.link.roles.role import Role, items_of
from detlint.link.roles.targets import TARGET_ROLES
from detlint.link.state.arguments import Arguments
from detlint.link.state.mappings import is_namespace
from detlint.link.state.objects import UNSPELLED
from detlint.link.state.truth import truth
from detlint.link.state.values import (
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
    each,
    exact,
    join,
    only,
    settled,
    single,
)
from detlint.programs.events import Marked, Switched

if TYPE_CHECKING:
    from detlint.link.libraries.library import Interpreter as Run
else:
    Run = Any


_PARTS = 16  # most of a split text


def _passes(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    return given.first(row.text("parameter"))


def _prepares(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    if row.list("parameters"):
        return single(Tuple(tuple(given.given.get(name, UNKNOWN) for name in row.list("parameters"))))
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


def _mode(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Set the mode of one object, which begins in evaluation mode, and of no other."""
    mode = truth(given.first()).expected if given.positional or given.keywords else True
    word = row.text("mode") if mode else "eval"
    run.note(Switched("layers", word, place))
    if function.receiver is not None:
        run.program.objects.replace(function.receiver, "(trains)", single(Constant(word == "train")))
    return _receiver(function)


def _wraps(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    sources = [value for value in given.positional if not _is_function(value)] or list(given.keywords.values())
    return single(Wrapped(join(items_of(run, v) for v in sources), join(sources)))


def _is_function(value: Value) -> bool:
    return any(isinstance(atom, Function) for atom in value)


def _numbers(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    items = items_of(run, given.first())
    told = [single(Tuple((SOME, item))) for item in told_apart(run.program.objects, given.first())]
    return single(Wrapped(single(Tuple((SOME, items))), single(Tuple(tuple(told))) if told else given.first()))


def _zips(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    items = Tuple(tuple(items_of(run, value) for value in given.positional))
    told = side_by_side(run, given.positional)
    return single(Wrapped(single(items), told or join(given.positional)))


def _consumes(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    value = given.first() if given.positional else UNKNOWN
    if function.name == "builtins.iter" and len(given.positional) == 2:  # calls it until it returns the second argument
        items = run.call_value(value, [], {}, place)
    elif function.name == "builtins.next":
        items = join(run.next_of(atom) for atom in each(value))
    else:
        first = len(run.trace)
        items = run.iterate(value)
        if function.name == "builtins.iter":
            taken(run, first, place)
    if row.text("gathers"):
        return kept_in_place(run, function.name, value, *run.site(place)) or _gathered(run, items, place)
    return items


def _gathered(run: Run, items: Value, place: Place) -> Value:
    """Return a list whose items have unknown positions."""
    made = run.container("list", *run.site(place))
    run.program.objects.store(made, "[]", items)
    return single(made)


def _loader(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    keywords = given.keywords | ({"**": UNKNOWN} if given.hidden else {})
    made = Object(Library(function.name), *run.made_at(function.name, given.positional, keywords, place))
    run.keep(made, function.name, given.positional, keywords)
    run.made_loader(given, place)
    run.made_sampler(made, place)
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
    return single(Tuple((whole,) * 8)) if consumer is not None else whole  # random_split returns several


def _partial(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    keywords = tuple(sorted(given.keywords.items()))
    return single(Partial(given.first(), given.positional[1:], keywords))


def _refers(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return a partial call of the function that the row names, with all arguments or with the one of the row."""
    called = single(Library(row.text("calls")))
    if row.text("given") == "all":
        return single(Partial(called, given.positional, tuple(sorted(given.keywords.items()))))
    return single(Partial(called, (given.first(row.text("parameter")),), ()))


def _makes(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return an object of a library's class, with the arguments that it was given."""
    if row.text("marks"):
        run.note(Marked(row.text("marks"), place))
    return run.made_context(row.text("gives"), given.positional, given.keywords, place)


def _super(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    variables = list(run.frame.variables.items())
    owner = run.frame.function.rpartition(".")[0]
    klass: Any = Class(run.frame.path, owner)
    receiver: Any = run.frame.receiver or _first_argument(run, klass)
    if len(given.positional) == 2:
        klass, receiver = only(given.positional[0]), only(given.positional[1])
    if isinstance(klass, Class) and isinstance(receiver, (Object, Class)) and variables:
        return single(Super(klass, receiver))
    return UNKNOWN


def _first_argument(run: Run, klass: Class) -> Atom | None:
    """Return the first argument of a method that is called as a function, if it is of the class; None otherwise."""
    parameters = run.program.function(Function(run.frame.path, run.frame.function)).parameters
    given = run.frame.variables.get(parameters[0].name) if parameters else None
    atom = None if given is None else only(given)
    kind = atom.kind if isinstance(atom, Object) else atom
    return atom if isinstance(kind, Class) and klass in run.program.objects.ancestry(kind) else None


def _text(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Call a method of a known string."""
    method = getattr(str, function.name.rpartition(".")[2])
    texts = [exact(value) for value in given.positional[1:]]
    if not given.positional or given.keywords or not all(isinstance(text, (str, int)) for text in texts):
        return SOME
    found: list[Value] = []
    for atom in each(given.positional[0]):
        text = settled(atom) if isinstance(atom, (Constant, Option)) else None
        changed = _changed(method, text, texts) if isinstance(text, str) else None
        if isinstance(changed, (list, tuple)):  # the parts that it was split into
            parts = tuple(single(_instead(atom, part)) for part in changed)
            found.append(single(Tuple(parts)) if len(parts) <= _PARTS else SOME)
        else:
            found.append(SOME if changed is None else single(_instead(atom, changed)))
    return join(found)


def _formats(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Run `text.format(...)` with known texts and numbers."""
    names = tuple(given.keywords)

    def put_in(text: object, *parts: object) -> object:
        places = len(parts) - len(names)
        return str(text).format(*parts[:places], **dict(zip(names, parts[places:], strict=True)))

    found = None if given.hidden else run.folded(put_in, [*given.positional, *given.keywords.values()])
    return SOME if found is None else found


def _instead(atom: Atom, changed: object) -> Atom:
    """Return the changed constant; for an option, the option with the changed default."""
    return replace(atom, default=changed) if isinstance(atom, Option) else Constant(changed)


def _changed(method: Any, text: str, others: Sequence[object]) -> object:
    """Return the result of a string method; None if it takes other arguments than these, or the text is too long."""
    try:
        return method(text, *others) if len(text) <= LONGEST else None
    except (TypeError, ValueError):
        return None


def _setattr(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    if len(given.positional) != 3:
        return NONE
    owners, key, value = given.positional
    names = [a.value for a in each(key) if isinstance(a, Constant) and isinstance(a.value, str)]
    for atom in each(owners):
        if isinstance(atom, Object) and len(names) < len(key):
            run.open(atom)
            if not value <= UNKNOWN:
                run.program.objects.store(atom, UNSPELLED, value)
        elif isinstance(atom, (Object, Class)):
            for name in names:
                if isinstance(atom, Object) and run.set_property(atom, name, value):
                    continue
                sure = len(owners) == len(names) == 1 and is_namespace(atom) and run.is_certain()
                put = run.program.objects.replace if sure else run.program.objects.store
                put(atom, name, value)
        elif isinstance(atom, Library):
            run.set_switch(f"{atom.name}.{exact(key)}", value)
        elif isinstance(atom, Module):
            for name in names:
                run.set_variable_of(atom.path, name, value)
    return NONE


def _decorates(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return the function that a decorator leaves as it is, or the decorator if a call makes it first."""
    made = next((v for v in given.positional if any(isinstance(a, (Function, Class, Partial)) for a in v)), None)
    return single(function) if made is None else made


def _compiles(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return the function that a decorator compiles, or the decorator if a call makes it first."""
    made = _decorates(run, row, function, given, place)
    known = given.applies(row.list("when"), row.list("unless"))
    if made == single(function):
        return made if known else UNKNOWN
    return single(Partial(single(Library(row.text("calls"))), (made,), ()))


ROLES: dict[str, Role] = {
    **ACTOR_ROLES,
    **CALLABLE_ROLES,
    **CLASS_ROLES,
    **CONFIG_ROLES,
    **DOCUMENT_ROLES,
    **HYDRA_ROLES,
    **TARGET_ROLES,
    **ENGINE_ROLES,
    **MAPPING_ROLES,
    **CONTAINER_ROLES,
    **NAME_ROLES,
    **MODULE_ROLES,
    **PROCESS_ROLES,
    **REGISTRY_ROLES,
    "passes": _passes, "prepares": _prepares, "self": _self, "eval": _eval, "train": _train, "mode": _mode,
    "wraps": _wraps, "numbers": _numbers, "zips": _zips, "consumes": _consumes, "loader": _loader,
    "dataset": _dataset, "partial": _partial, "makes": _makes, "refers": _refers, "super": _super, "setattr": _setattr,
    "text": _text, "formats": _formats, "decorates": _decorates, "compiles": _compiles,
}  # fmt: skip
