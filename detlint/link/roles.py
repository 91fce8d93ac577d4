"""What the roles of the table of programs mean: one function a role."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.link.arguments import Arguments
from detlint.link.program import folder
from detlint.link.state import Marked
from detlint.link.values import (
    NONE,
    SOME,
    UNKNOWN,
    Class,
    Constant,
    Function,
    Library,
    Object,
    Option,
    Partial,
    Saved,
    Super,
    Tuple,
    Value,
    Wrapped,
    exact,
    join,
    only,
    truth,
)

if TYPE_CHECKING:
    from detlint.link.library import Interpreter as Run
else:
    Run = Any

Role = Callable[[Run, Row, Library, Arguments, Place], Value]


def _passes(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    return given.first(row.text("parameter"))


def _prepares(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    return frozenset((Tuple(given.positional),)) if len(given.positional) > 1 else given.first()


def _self(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    return _receiver(function)


def _receiver(function: Library) -> Value:
    return UNKNOWN if function.receiver is None else frozenset((function.receiver,))


def _eval(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    run.switch("layers", "eval", place)
    return _receiver(function)


def _train(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    mode = truth(given.first()).expected if given.positional or given.keywords else True
    run.switch("layers", "train" if mode else "eval", place)
    return _receiver(function)


def _wraps(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    sources = [value for value in given.positional if not _is_function(value)] or list(given.keywords.values())
    return frozenset((Wrapped(join(_items(run, v) for v in sources), join(sources)),))


def _is_function(value: Value) -> bool:
    return any(isinstance(atom, Function) for atom in value)


def _numbers(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    items = _items(run, given.first())
    return frozenset((Wrapped(frozenset((Tuple((SOME, items)),)), given.first()),))


def _zips(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    items = Tuple(tuple(_items(run, value) for value in given.positional))
    return frozenset((Wrapped(frozenset((items,)), join(given.positional)),))


def _items(run: Run, value: Value) -> Value:
    """The items of what can be looked into without iterating over it."""
    found = []
    for atom in value:
        if isinstance(atom, Wrapped):
            found.append(atom.items)
        elif isinstance(atom, Tuple):
            found.append(join(atom.items))
        elif isinstance(atom, Object):
            found.append(run.held(atom))
        else:
            found.append(UNKNOWN)
    return join(found)


def _consumes(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    value = given.first() if given.positional else UNKNOWN
    items = run.iterate(value)
    if function.name in ("builtins.iter", "builtins.list", "builtins.tuple", "builtins.sorted", "builtins.set"):
        made = Object(Library("builtins.list"), *run.site(place))
        run.program.objects.store(made, "[]", items)
        return frozenset((made,))
    return items


def _container(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    made = Object(Library(function.name), *run.site(place))
    for value in (*given.positional, *given.keywords.values()):
        for atom in value:
            inner = _items(run, frozenset((atom,))) if isinstance(atom, Tuple) or run.is_container(atom) else None
            run.program.objects.store(made, "[]", frozenset((atom,)) if inner is None else inner)
    return frozenset((made,))


def _loader(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    made = Object(Library(function.name), *run.site(place))
    run.keep(made, function.name, given.positional, given.keywords | ({"**": UNKNOWN} if given.hidden else {}))
    run.made_loader(given, place)
    return frozenset((made,))


def _dataset(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    consumer = run.tables.consumers.get(function.name)
    if consumer is not None and given.applies(consumer.list("when"), consumer.list("unless")):
        run.draw(consumer, function.name, place)
    made = Object(Library(function.name), *run.site(place))
    first = given.first()
    for atom in first:
        inner = _items(run, frozenset((atom,))) if run.is_container(atom) or isinstance(atom, Tuple) else None
        run.program.objects.store(made, "[]", frozenset((atom,)) if inner is None else inner)
    whole = frozenset((made,))
    return frozenset((Tuple((whole,) * 8),)) if consumer is not None else whole  # random_split gives several


def _partial(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    keywords = tuple(sorted(given.keywords.items()))
    return frozenset((Partial(given.first(), given.positional[1:], keywords),))


def _super(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    variables = list(run.frame.variables.items())
    owner = run.frame.function.rpartition(".")[0]
    klass: Any = Class(run.frame.path, owner)
    receiver: Any = run.frame.receiver
    if len(given.positional) == 2:
        klass, receiver = only(given.positional[0]), only(given.positional[1])
    if isinstance(klass, Class) and isinstance(receiver, (Object, Class)) and variables:
        return frozenset((Super(klass, receiver),))
    return UNKNOWN


def _getattr(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    name = exact(given.positional[1]) if len(given.positional) > 1 else None
    if not isinstance(name, str):
        return UNKNOWN
    found = join(run.attribute(atom, name) for atom in given.positional[0])
    fallback = given.positional[2] if len(given.positional) > 2 and found <= UNKNOWN else frozenset()
    return found | fallback


def _type(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    found = frozenset(atom.kind for atom in given.first() if isinstance(atom, Object))
    return found or UNKNOWN


def _setattr(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    name = exact(given.positional[1]) if len(given.positional) == 3 else None
    for atom in given.positional[0] if isinstance(name, str) else ():
        if isinstance(atom, Object):
            run.program.objects.store(atom, str(name), given.positional[2])
        elif isinstance(atom, Library):
            run.set_switch(f"{atom.name}.{name}", given.positional[2])
    return NONE


def _dict(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    made = Object(Library("builtins.dict"), *run.site(place))
    for value in given.positional:
        for atom in value:
            for slot, held in run.program.objects.slots(atom).items():
                run.program.objects.store(made, slot, held)
    for name, value in given.keywords.items():
        run.program.objects.store(made, f"[{name!r}]", value)
        run.program.objects.store(made, name, value)
    return frozenset((made,))


def _adds(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    if function.receiver is not None:
        for value in (*given.positional, *given.keywords.values()):
            for atom in value:
                inner = _items(run, frozenset((atom,))) if isinstance(atom, Tuple) or run.is_container(atom) else None
                run.program.objects.store(function.receiver, "[]", frozenset((atom,)) if inner is None else inner)
    return NONE


def _gets(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    if function.receiver is None:
        return UNKNOWN
    whole: Value = frozenset((function.receiver,))
    last = function.name.rpartition(".")[2]
    if last in ("get", "pop") and given.positional:
        found = run.item_of(function.receiver, given.positional[0])
        return join((found, *given.positional[1:2])) if found <= UNKNOWN else found
    if last == "items":
        return frozenset((Wrapped(frozenset((Tuple((SOME, _items(run, whole))),)), whole),))
    return frozenset((Wrapped(_items(run, whole), whole),)) if last == "values" else whole


def _registers(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """A decorator that adds to a registry, itself made by a call or not."""
    made = [
        v for v in (*given.positional, *given.keywords.values()) if any(isinstance(a, (Function, Class)) for a in v)
    ]
    if function.receiver is None or not made:
        return frozenset((function,))
    run.program.objects.store(function.receiver, "[]", join(made))
    return made[0]


def _builds(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """What a registry makes by the name that a configuration gives."""
    held = run.held(function.receiver) if function.receiver is not None else UNKNOWN
    return run.call_value(held, [], {"**": UNKNOWN}, place)


# Command lines


def _parser(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    return frozenset((Object(Library("argparse.ArgumentParser"), *run.site(place)),))


def _namespace(parser: Object) -> Object:
    return Object(Library("argparse.Namespace"), parser.path, parser.order)


def _option(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    names = [name for value in given.positional if isinstance(name := exact(value), str)]
    if function.receiver is None or not names:
        return UNKNOWN
    long = next((name for name in names if name.startswith("--")), names[0])
    destination = exact(given.keywords.get("dest", UNKNOWN))
    name = str(destination) if destination else long.lstrip("-").replace("-", "_")
    implied = {"store_true": False, "store_false": True}.get(str(exact(given.keywords.get("action", NONE))))
    default = given.keywords.get("default", NONE if implied is None else frozenset((Constant(implied),)))
    required = truth(given.keywords.get("required", NONE)).expected or not long.startswith("-")
    if required and "nargs" not in given.keywords:
        default = SOME
    run.program.objects.replace(_namespace(function.receiver), name, _options(long, default, place))
    return UNKNOWN


def _defaults(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    parser = function.receiver
    if parser is None:
        return NONE
    for name, value in given.keywords.items():
        run.program.objects.replace(_namespace(parser), name, _options(f"--{name}", value, place))
    return NONE


def _arguments(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    return UNKNOWN if function.receiver is None else frozenset((_namespace(function.receiver),))


def _arguments_and_rest(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    return frozenset((Tuple((_arguments(run, row, function, given, place), SOME)),))


def _flag(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    name = exact(given.first("name"))
    default = given.keywords.get("default", given.positional[1] if len(given.positional) > 1 else UNKNOWN)
    if isinstance(name, str):
        run.program.objects.store(FLAGS, name, _options(f"--{name}", default, place))
    return frozenset((Object(Library("absl.flags.FlagHolder"), *run.site(place)),))


def _options(name: str, default: Value, place: Place) -> Value:
    """A value that the user may set, with its default."""
    return frozenset(Option(name, a.value, place) if isinstance(a, Constant) else a for a in default)


FLAGS = Object(Library("absl.flags.FLAGS"), "", 0)


def _parameter(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """A decorator that gives a parameter of the function a default."""
    names = [name for value in given.positional if isinstance(name := exact(value), str)]
    long = next((name for name in names if name.startswith("--")), "")
    default = given.keywords.get("default", NONE)
    if truth(given.keywords.get("required", NONE)).expected:
        default = SOME
    name = next((n for n in names if not n.startswith("-")), long.lstrip("-").replace("-", "_"))
    run.program.pending_options[place.path].append((name, _options(long, default, place)))
    return UNKNOWN


def _instance(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """An object of the class that is given, or of that a container holds."""
    values = [given.first()] if function.receiver is None else [run.held(function.receiver)]
    found = frozenset(Object(a, *run.site(place)) for value in values for a in value if isinstance(a, Class))
    return found or UNKNOWN


def _instances(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    held = run.held(function.receiver) if function.receiver is not None else UNKNOWN
    return frozenset(
        (Tuple((frozenset(Object(a, *run.site(place)) for a in held if isinstance(a, Class)) or UNKNOWN,) * 6),)
    )


# The process


def _saves(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    generator = row.text("generator")
    return UNKNOWN if run.state is None else frozenset((Saved(generator, run.state[generator]),))


def _scope(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    return frozenset((Object(Library(function.name), *run.site(place)),))


def _marks(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    run.note(Marked(row.text("kind"), place))
    return UNKNOWN


def _search(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    for value in given.positional:
        for atom in value:
            if isinstance(atom, Constant) and isinstance(atom.value, str):
                for base in {run.script_folder, folder(run.frame.path)}:
                    run.add_search(f"{base}/{atom.value}")
    return NONE


def _start_method(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    method = exact(given.first(row.text("parameter")))
    if method in ("spawn", "forkserver", "fork"):
        run.switch("start", "fork" if method == "fork" else "spawn", place)
    return NONE


def _context(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    spawns = exact(given.first(row.text("parameter"))) in ("spawn", "forkserver")
    name = "SpawnContext" if spawns else "ForkContext"
    return frozenset((Object(Library(f"multiprocessing.context.{name}"), *run.site(place)),))


def _imports(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    name = exact(given.first())
    if isinstance(name, str) and not name.startswith("."):
        return run.module_named(name, run.frame.path)
    if run.frame.path.endswith("__init__.py"):
        run.load_package(run.frame.path)
    return UNKNOWN


def _environment(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    run.set_environment("os.environ", exact(given.first()), SOME)
    return SOME


ROLES: dict[str, Role] = {
    "passes": _passes, "prepares": _prepares, "self": _self, "eval": _eval, "train": _train, "wraps": _wraps,
    "numbers": _numbers, "zips": _zips, "consumes": _consumes, "container": _container, "loader": _loader,
    "dataset": _dataset, "partial": _partial, "super": _super, "getattr": _getattr, "setattr": _setattr, "type": _type,
    "dict": _dict, "adds": _adds, "gets": _gets, "registers": _registers, "builds": _builds, "parser": _parser, "option": _option, "defaults": _defaults,
    "arguments": _arguments, "arguments-and-rest": _arguments_and_rest, "flag": _flag, "parameter": _parameter,
    "instance": _instance, "instances": _instances, "saves": _saves, "scope": _scope, "trains": _marks,
    "restores": _marks, "search": _search, "start-method": _start_method, "spawn-context": _context,
    "environment": _environment, "imports": _imports,
}  # fmt: skip
