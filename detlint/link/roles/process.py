"""Effects of command lines, processes and the environment on a program, by the roles of the table of programs."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.facts import facts as f
from detlint.finding import Place
from detlint.link.roles.role import Role, items_of
from detlint.link.state.arguments import Arguments
from detlint.link.state.entropy import entropy_in
from detlint.link.state.enumerations import looked_up
from detlint.link.state.mappings import entries, key
from detlint.link.state.objects import CALLED, UNNAMED
from detlint.link.state.program import folder
from detlint.link.state.racing import race
from detlint.link.state.truth import truth
from detlint.link.state.values import (
    FLAGS,
    NONE,
    NUMBER,
    SOME,
    TEXT,
    UNKNOWN,
    Class,
    Constant,
    Function,
    Library,
    Object,
    Option,
    Partial,
    Saved,
    Tuple,
    Value,
    each,
    exact,
    join,
    only,
    single,
)

if TYPE_CHECKING:
    from detlint.link.libraries.library import Interpreter as Run
else:
    Run = Any

_READ = {Library(f"builtins.{name}"): kind for name, kind in (("int", NUMBER), ("float", NUMBER), ("str", TEXT))}


# Command lines


def _parser(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    made = Object(Library(row.text("gives")), *run.site(place))
    _inherit(run, made, given)
    return single(made)


def _inherit(run: Run, parser: Object, given: Arguments) -> None:
    """Add the arguments of its `parents` to a parser."""
    for atom in each(items_of(run, given.keywords.get("parents", NONE))):
        if isinstance(atom, Object) and atom.kind == parser.kind and atom != parser:
            for name, value in run.program.objects.slots(_namespace(run, atom)).items():
                run.program.objects.store(_namespace(run, parser), name, value)


def _subparser(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return the parser of a command, which sets arguments of the parser that it is added to."""
    parser = function.receiver
    if not isinstance(parser, Object):
        return UNKNOWN
    made = Object(parser.kind, *run.site(place))
    if made != parser:
        run.program.objects.store(made, _PARENT, single(parser))
    _inherit(run, made, given)
    return single(made)


_PARENT = "(parent)"


def _set(run: Run, parser: Object | Function, name: str, value: Value) -> None:
    """Set an argument that a parser reads: for good, unless it is one that another command may set differently."""
    namespace = _namespace(run, parser)
    whole = run.program.objects.stored(parser, _PARENT) is None
    (run.program.objects.replace if whole else run.program.objects.store)(namespace, name, value)


def _namespace(run: Run, parser: Object | Function) -> Object:
    """Return the object that holds the arguments that a parser reads: one for all commands."""
    assert isinstance(parser, Object)
    above, seen = run.program.objects.stored(parser, _PARENT), {parser}
    while above is not None and isinstance(parent := next(iter(above)), Object) and parent not in seen:
        parser, above = parent, run.program.objects.stored(parent, _PARENT)
        seen.add(parent)
    return Object(Library("argparse.Namespace"), parser.path, parser.order)


def _option(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    names = [name for value in given.positional if isinstance(name := exact(value), str)]
    if function.receiver is None:
        return UNKNOWN
    if not names:
        run.program.objects.store(_namespace(run, function.receiver), UNNAMED, SOME)
        return UNKNOWN
    long = next((name for name in names if name.startswith("--")), names[0])
    destination = exact(given.keywords.get("dest", UNKNOWN))
    name = str(destination) if destination else long.lstrip("-").replace("-", "_")
    implied = {"store_true": False, "store_false": True}.get(str(exact(given.keywords.get("action", NONE))))
    default = given.keywords.get("default", NONE if implied is None else single(Constant(implied)))
    if isinstance(exact(default), str):  # a default is parsed as a given word is
        kind = only(given.keywords.get("type", NONE))
        default = (looked_up(run, kind, default) if isinstance(kind, Class) else None) or default
    required = truth(given.keywords.get("required", NONE)).expected or not long.startswith("-")
    if required and "nargs" not in given.keywords:
        default = SOME
    kind = only(given.keywords.get("type", NONE))
    read = _READ.get(kind, "") if isinstance(kind, Library) and not {"nargs", "action"} & given.keywords.keys() else ""
    _set(run, function.receiver, name, _options(long, default, place, read))
    return UNKNOWN


def _option_class(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Add a class whose fields are options, under one name among the arguments."""
    value, name = (*given.positional, UNKNOWN, UNKNOWN)[:2]
    destination = exact(given.keywords.get("dest", name))
    if function.receiver is not None and isinstance(destination, str):
        made = frozenset(Object(a, *run.site(place)) for a in value if isinstance(a, Class))
        _set(run, function.receiver, destination, made or UNKNOWN)
    return UNKNOWN


def _defaults(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    parser = function.receiver
    if parser is None:
        return NONE
    if given.hidden:
        run.open(_namespace(run, parser))
    for name, value in given.keywords.items():
        _set(run, parser, name, _options(f"--{name}", value, place))
    return NONE


def _arguments(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    if function.receiver is None:
        return UNKNOWN
    made = _namespace(run, function.receiver)
    words = _words(run, given.keywords.get("args", given.positional[0] if given.positional else UNKNOWN))
    if words is not None:
        made = _settled(run, made, words, place)
    if "namespace" in given.keywords or len(given.positional) > 1:
        run.open(made)
    return single(made)


def _words(run: Run, value: Value) -> list[str] | None:
    """Return the words of a command line that is written down; None if they are unknown."""
    atom = only(value)
    if exact(value) == "":
        return []
    items = list(run.program.objects.slots(atom).values()) if atom is not None and run.is_container(atom) else [UNKNOWN]
    words = [exact(item) for item in items]
    return [word for word in words if isinstance(word, str)] if all(isinstance(word, str) for word in words) else None


def _settled(run: Run, namespace: Object, words: list[str], place: Place) -> Object:
    """Return the arguments of a command line that is written down; other options are left at their defaults."""
    slots, named = run.program.objects.slots(namespace), {word.partition("=")[0] for word in words if word[:1] == "-"}
    options = {a.name for value in slots.values() for a in value if isinstance(a, Option)}
    if not named <= options:  # perhaps by short names
        return namespace
    made = Object(namespace.kind, *run.site(place))
    for name, value in slots.items():
        given = any(isinstance(a, Option) and a.name in named for a in value)
        usual = frozenset(Constant(a.default) if isinstance(a, Option) and a.name[:1] == "-" else a for a in value)
        run.program.objects.replace(made, name, SOME if given else usual)
    return made


def _arguments_and_rest(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    return single(Tuple((_arguments(run, row, function, given, place), SOME)))


def _flag(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    name = exact(given.first("name"))
    default = given.keywords.get("default", given.positional[1] if len(given.positional) > 1 else UNKNOWN)
    made = Object(Library(row.text("gives")), *run.site(place))
    if isinstance(name, str):
        for owner, slot in ((FLAGS, name), (made, "value")):
            run.program.objects.store(owner, slot, _options(f"--{name}", default, place))
    return single(made)


def _options(name: str, default: Value, place: Place, read: str = "") -> Value:
    """Return a value that the user may set, with its default; one that is `read` from a word is never None."""
    return frozenset(Option(name, a.value, place, read) if isinstance(a, Constant) else a for a in default)


def _parameter(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Give a parameter of a decorated function a default, as an option."""
    names = [name for value in given.positional if isinstance(name := exact(value), str)]
    long = next((name.partition("/")[0] for name in names if name.startswith("--")), "")
    default = given.keywords.get("default", NONE)
    if truth(given.keywords.get("required", NONE)).expected:
        default = SOME
    name = next((n for n in names if not n.startswith("-")), long.lstrip("-").replace("-", "_"))
    run.program.forget(place.path)
    run.program.pending_options[place.path].append((name, _options(long, default, place)))
    return UNKNOWN


def _instance(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return an object of the class that is given or that a container holds; run a function as a command."""
    if function.receiver is None and (not given.positional or any(isinstance(a, Function) for a in given.first())):
        return run.run_command(given.first() if given.positional else frozenset(), place)
    values = [given.first()] if function.receiver is None else [run.held(function.receiver)]
    found = frozenset(Object(a, *run.site(place)) for value in values for a in value if isinstance(a, Class))
    return found or UNKNOWN


def _default(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return the default of a parameter that stands for an option."""
    value = given.keywords.get("default", given.positional[0] if given.positional else SOME)
    return SOME if exact(value) is ... else value


def _instances(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    held = run.held(function.receiver) if function.receiver is not None else UNKNOWN
    return frozenset(
        (Tuple((frozenset(Object(a, *run.site(place)) for a in held if isinstance(a, Class)) or UNKNOWN,) * 6),)
    )


def _trainer_cli(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Run a command line that seeds, makes a data set, a model and a trainer by their defaults, and trains."""
    own = isinstance(function.receiver, Object)  # of a derived class of the project
    made = function.receiver if isinstance(function.receiver, Object) else Object(function, *run.site(place))
    start, default = run.state, given.get(row.text("parameter"))
    off = exact(default) is False
    with run.guarded(row.text("option")) if off else nullcontext():
        run.seed(row.list("seeds"), function.name, place, certain=Constant(None) not in default)
    run.state = start if off else run.state
    if own:
        run.call_method(made, "before_instantiate_classes", place)
    for name in ("datamodule", "model"):
        run.program.objects.store(made, name, run.call_value(given.get(f"{name}_class"), [], {}, place))
    run.program.objects.store(made, "trainer", frozenset((Object(Library(row.text("trainer")), *run.site(place)),)))
    if truth(given.get("run")).expected is not False and run.state is not None:
        if own:
            run.call_method(made, "before_fit", place)
        models = [run.program.objects.stored(made, name) or UNKNOWN for name in ("model", "datamodule")]
        run.call_library(Library(f"{row.text('trainer')}.fit"), models, {}, place)
    return frozenset((made,))


# The process


def _saves(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    generator = row.text("generator")
    return UNKNOWN if run.state is None else single(Saved(generator, run.state[generator]))


def _scope(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    made = Object(Library(function.name), *run.site(place))
    run.keep(made, function.name, given.positional, given.keywords)
    return single(made)


def _variable(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return a variable of the environment, which the user sets or leaves out."""
    name = exact(given.first())
    default = given.keywords.get("default", given.positional[1] if len(given.positional) > 1 else NONE)
    return _options(f"{name}", default, place)


def _starts(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Run a process or thread of a class of the project."""
    if isinstance(function.receiver, Object) and isinstance(function.receiver.kind, Class) and run.state is not None:
        start = run.state
        if start["start"] == "spawn" and ".Process." in function.name:
            run.spawn_each(run.attribute(function.receiver, "run"), (), {})
            return NONE
        with run.apart():
            run.call_method(function.receiver, "run", place)
            events = [*run.trace]
        run.state = start
        if row.text("threads"):
            race(run, row, None, events, place)
    return NONE


def _leaves(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Register what is called at the end of the program, and return it, since it may be decorated so."""
    first = 1 if row.text("after") else 0
    run.call_at_end((*given.positional, UNKNOWN, UNKNOWN)[first], given.positional[first + 1 :], place)
    return given.first()


def _left_with(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Register what is called when the receiver, a stack of contexts, is left, and return it."""
    if isinstance(function.receiver, Object) and run.is_certain():
        called = Partial(given.first(), given.positional[1:], tuple(sorted(given.keywords.items())))
        run.program.objects.store(function.receiver, CALLED, single(called))
    else:
        run.perhaps_call(given.positional[:1], {}, place)
    return given.first()


def _enters(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Enter a context that is left together with the receiver; return what entering it returns."""
    return join(run.enter_into(function.receiver, atom, place) for atom in each(given.first()))


def _allocates(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    klass = only(given.first())
    return single(Object(klass, *run.site(place))) if isinstance(klass, Class) else UNKNOWN


def _instantiates(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    klass = only(given.first())
    return run.instantiate(klass, given.positional[1:], given.keywords, place) if isinstance(klass, Class) else UNKNOWN


def _marks(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    run.mark(row.text("kind"), place)
    return UNKNOWN


def _search(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    for value in given.positional:
        for atom in each(value):
            if isinstance(atom, Constant) and isinstance(atom.value, str):
                for base in (run.script_folder, folder(run.frame.path)):
                    run.add_search(f"{base}/{atom.value}")
    return NONE


_START_METHODS = {"fork": "fork", "spawn": "spawn", "forkserver": "spawn", "threading": "threads"}


def _start_method(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    word = _START_METHODS.get(str(exact(given.first(row.text("parameter")))))
    if word is not None:
        run.switch("start", word, place)
    return NONE


def _default_device(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    run.state = run.state and run.state.but(("device",), "meta" if run.is_meta(given.first()) else "default")
    return NONE


def _context(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    spawns = exact(given.first(row.text("parameter"))) in ("spawn", "forkserver")
    name = "SpawnContext" if spawns else "ForkContext"
    return single(Object(Library(f"multiprocessing.context.{name}"), *run.site(place)))


def _environment(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    run.set_environment("os.environ", exact(given.first()), place)
    return SOME


def _environment_updated(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Set several variables at once, by keyword or from a mapping."""
    held = (slot for value in given.positional for atom in each(value) for slot in entries(run.program.objects, atom))
    for name in (*given.keywords, *map(key, held)):
        run.set_environment("os.environ", name, place)
    return NONE


def _broadcasts(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Turn a seed that one process draws into entropy for all, including those that receive it in a tensor."""
    call = run.node
    run.ask("node", call)
    entropy = entropy_in(given.first(row.text("parameter")))
    if entropy and call is not None and call.place == place and call.arguments:
        tensors = [a.value for a in call.arguments if a.keyword in (None, row.text("parameter")) and not a.star]
        if tensors and isinstance(tensors[0], f.Local):
            run.assign(tensors[0], entropy)
    return UNKNOWN


PROCESS_ROLES: dict[str, Role] = {
    "parser": _parser, "subparser": _subparser, "option": _option, "option-class": _option_class,
    "defaults": _defaults, "arguments": _arguments, "arguments-and-rest": _arguments_and_rest, "flag": _flag,
    "parameter": _parameter, "instance": _instance, "default": _default, "instances": _instances, "saves": _saves,
    "scope": _scope, "trains": _marks, "restores": _marks, "profiles": _marks, "evaluates": _marks, "search": _search,
    "start-method": _start_method, "default-device": _default_device, "spawn-context": _context,
    "environment": _environment, "environment-updated": _environment_updated, "variable": _variable,
    "starts": _starts, "trainer-cli": _trainer_cli, "broadcasts": _broadcasts, "leaves": _leaves, "enters": _enters,
    "left-with": _left_with,
    "allocates": _allocates, "instantiates": _instantiates,
}  # fmt: skip
