"""The fix for an entry point that draws unseeded: its generators are seeded once, before the first draw."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile

from detlint import catalogue as catalogues
from detlint.analysis.seeds.seeds import seed_at
from detlint.analysis.values.parsers import OPTIONS, libraries, methods
from detlint.editing import edits
from detlint.finding import Fix, Remedy, Safety, Step
from detlint.programs.entries import Entry, Stream
from detlint.programs.events import Drawn, Seeded
from detlint.programs.met import Met
from detlint.repairs import lines, places
from detlint.repairs.moving import moved
from detlint.repairs.widening import takes
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of

Read = Callable[[str], "Module | None"]
_UNHEARD = ("none", "unseeded")  # the states of a generator that nothing seeds
_LEVELS = 3  # how many levels of calls are searched for a better place


def remedy(
    entry: Entry,
    started: Collection[tuple[str, str]] = (),
    imported: bool = False,
    files: Callable[[str], Iterable[str]] = lambda name: (),
    draws: Callable[[str], bool] = lambda generator: False,
    library: bool = False,
) -> Remedy | None:
    """Return what a fix of an entry point needs to know; None if the entry point draws nothing unseeded.

    `started` are the paths and names of the functions that are entry points too. `imported` says that other files
    import the file of the entry point. `files` returns the files of the program that import the library that a name
    belongs to. `draws` returns whether calls in any of the program's files draw from a generator, even calls that the
    program does not reach. With `library`, what other libraries draw counts, too.
    """
    own = _first(entry, entry.own_streams)
    draw = _first(entry, entry.streams) if library else own
    if draw is None:
        return None
    streams = entry.streams if library and own is None else entry.own_streams
    made = partial(_before, entry, streams, started=started, imported=imported, files=files, draws=draws)
    return replace(made(draw), own=None if own is None or own is draw else made(own))


def _first(entry: Entry, streams: Iterable[Stream]) -> Met[Drawn] | None:
    """Return the first draw that finds one of these streams unseeded, or None."""
    unseeded = {id(draw) for stream in streams for draw in stream.seedable}
    return next((met for met in entry.of(Drawn) if id(met) in unseeded), None)


def _before(
    entry: Entry,
    streams: Sequence[Stream],
    draw: Met[Drawn],
    *,
    started: Collection[tuple[str, str]],
    imported: bool,
    files: Callable[[str], Iterable[str]],
    draws: Callable[[str], bool],
) -> Remedy:
    """Return what a fix needs to know to seed ahead of a draw, where `streams` are to repeat."""
    before = {id(met) for met in takewhile(lambda met: met is not draw, entry.met)}
    seeds = [met for met in entry.of(Seeded) if id(met) in before and met.event.starts]
    sure = [met.event for met in seeds if not (met.guarded or met.apart or met.option or met.arms)]
    steps = tuple(Step(call.place, call.name, call.imports) for call in draw.path)
    place = draw.dispatch or draw.event.place
    first = steps[0].place if steps else place
    # weights drawn before a late seed are used after it: nothing repeats then
    weights = (stream for stream in streams if entry.draws_weights(stream))
    late = next((stream.late for stream in weights if stream.late is not None), None)
    unheard = [stream.generator for stream in entry.streams if not stream.draws and stream.state in _UNHEARD]
    option = next((stream.optional.option for stream in streams if stream.draws and stream.optional is not None), "")
    parsing = sorted(libraries(OPTIONS)) if option.startswith("-") else []
    return Remedy(
        entry.path,
        steps,
        place,
        (*(stream.generator for stream in entry.streams if stream.seedable), *filter(draws, unheard)),
        tuple((seed.place, seed.what) for seed in reversed(sure)),
        () if late is None else (*(call.place for call in late.path), late.event.place),
        option,
        tuple(path for library in parsing for path in files(library)),
        entry.place is not None and first == entry.place,  # the start of the function that is the entry point
        bool(steps) and (entry.path, steps[0].name) in started,
        imported,
        entry.pickled,
    )


def repaired(
    remedies: Iterable[Remedy], read: Read, imported: Callable[[str], bool], inline: Callable[[str], bool]
) -> Fix | None:
    """Seed what these programs draw unseeded, as far as there are places for it.

    `read` returns the models of files; `imported` whether others may import a file from a package; `inline` whether a
    file must get the libraries' own lines.
    """
    made = [fix for each in remedies if (fix := _made(each, read, imported, inline)) is not None]
    # an unsafe fix for one program must not keep others from being seeded: it comes after theirs
    return edits.together([fix for fix in made if fix.safety is Safety.SAFE] or made)


def _made(remedy: Remedy, read: Read, imported: Callable[[str], bool], inline: Callable[[str], bool]) -> Fix | None:
    fix = _repaired(remedy, read, imported, inline)
    if fix is not None and remedy.tasks:
        fix = replace(fix, safety=Safety.UNSAFE)  # all of them would draw the same
    return fix if remedy.own is None or fix == _made(remedy.own, read, imported, inline) else None


def _repaired(remedy: Remedy, read: Read, imported: Callable[[str], bool], inline: Callable[[str], bool]) -> Fix | None:
    if remedy.option.startswith("-"):
        return _by_default(remedy, read)
    module = read(remedy.path)
    if module is None:
        return None
    return (
        next(filter(None, (moved(module, remedy, x, read) for x in _levels(module, remedy))), None)
        or _completed(remedy, read, inline)
        or _inserted(module, remedy, imported(module.path), inline(module.path))
    )


def _by_default(remedy: Remedy, read: Read) -> Fix | None:
    """Give the option that seeds a program a default: 0, or 1 where 0 may count as not given."""
    paths = dict.fromkeys((remedy.path, *remedy.parsers, *(step.place.path for step in remedy.steps)))
    default = "0" if _asks_for_none(filter(None, map(read, paths)), remedy.option) else "1"
    for module in filter(None, map(read, paths)):
        for call in (call for call in module.calls if _adds(call, remedy.option)):
            if any(a.keyword == "default" and module.source(a.value) == default for a in call.arguments):
                return None
            return _defaulted(module, call, remedy.option, default)
    return None


def _defaulted(module: Module, call: s.Call, option: str, default: str) -> Fix | None:
    """Give an option a default in the call that adds it."""
    edit = edits.argument(module, call, "default", default)
    return edits.fix(f"Give `{option}` the default {default}", edit, safety=Safety.UNSAFE)


def _adds(call: s.Call, option: str) -> bool:
    """Return whether a call adds an option to a command line."""
    flags = [argument.value.value for argument in call.arguments if isinstance(argument.value, s.Constant)]
    method = call.function.attribute if isinstance(call.function, s.Attribute) else ""
    return option in flags and method in methods(OPTIONS) | {"option"}


def _asks_for_none(modules: Iterable[Module], option: str) -> bool:
    """Return whether the value of an option is tested and each test only asks if it is not None."""
    name = option.lstrip("-").replace("-", "_")
    found = []
    for module in modules:
        tests = (node.test for node in module.file.nodes if isinstance(node, s.If))
        own = [test for test in tests if any(_is_of(part, name) for part in s.walk(test))]
        found += [isinstance(t, s.Operation) and t.operator == "is not" and _is_of(t.operands[0], name) for t in own]
    return bool(found) and all(found)


def _is_of(node: s.Node, name: str) -> bool:
    return (isinstance(node, s.Attribute) and node.attribute == name) or (isinstance(node, s.Name) and node.id == name)


def _completed(remedy: Remedy, read: Read, inline: Callable[[str], bool]) -> Fix | None:
    """Seed the other generators next to a call that seeds one generator ahead of all unseeded draws.

    For one generator this adds a line; for more, a call that seeds all replaces the call or goes ahead of it. A call
    that a program reaches by an import stays as it is, since every importer would be seeded anew. So does a call in a
    data set, which is no place for a program's seed.
    """
    completed = catalogues.load().names("randomness", "seeder", completes="yes")
    for place, what in remedy.seeds:
        module = read(place.path) if what in completed else None
        call = next((c for c in module.calls if module.place(c) == place), None) if module is not None else None
        if module is None or call is None or not takes(module, call):
            continue
        function = module.function_of(call)
        if (place.path != remedy.path and function is None) or _is_data(module, function):
            continue
        fix = _beside(module, call, remedy, inline(module.path))
        if fix is not None:
            return fix
    return None


def _is_data(module: Module, function: s.Function | None) -> bool:
    klass = class_of(function) if function is not None else None
    return klass is not None and module.is_a(klass, "dataset")


def _beside(module: Module, call: s.Call, remedy: Remedy, inline: bool) -> Fix | None:
    statement, seed = call.parent, call.arguments[0].value
    if not isinstance(statement, (s.ExpressionStatement, s.Assign)):
        return None
    made = lines.seeding(module, remedy.generators, seed, statement, inline=inline, local=False)
    title = f"Seed with `{made.title}`"
    if made.all and isinstance(statement, s.ExpressionStatement) and _used_elsewhere(module, call.function):
        return edits.fix(title, edits.replaced(module, call.function, lines.SEED), imports=made.imports)
    if any(isinstance(node, s.Call) and module.callee(node) != {"builtins.int"} for node in s.walk(seed)):
        return None  # the seed is an expression that must be called only once
    put = edits.ahead if made.all else edits.behind
    return edits.fix(title, put(module, statement, *made.lines), imports=made.imports)


def _used_elsewhere(module: Module, function: s.Expression) -> bool:
    """Return whether the name that a function is reached by has other uses, so that its import stays in use."""
    root = function
    while isinstance(root, s.Attribute):
        root = root.value
    if not isinstance(root, s.Name):
        return False
    scope = root.scope.find(root.id)
    return scope is not None and len(module.reads(scope, root.id)) > 1


def _levels(module: Module, remedy: Remedy) -> list[s.Statement]:
    return list(places.statements(module, remedy))[:_LEVELS]


def _inserted(module: Module, remedy: Remedy, imported: bool, inline: bool) -> Fix | None:
    """Seed at the outermost place ahead of a draw where the program's seed is known, or else at the outermost place."""
    known = [(statement, seed_at(module, statement)) for statement in _levels(module, remedy)]
    for statement, seed in sorted(known, key=lambda each: each[1] is None):
        if _is_seeded(module, statement, remedy):
            return None
        if remedy.imported and statement.parent is module.file.body:
            continue  # those that import the file would be seeded anew
        if seed is not None and seed.optional and seed.option is not None:
            return _defaulted(module, seed.option, seed.name, "0")
        # importers of a module in a package need not have what only its main block imports
        in_main = isinstance(statement.parent.parent if statement.parent else None, s.If)
        for place in places.places(module, statement, seed):
            text = "0" if seed is None else seed.text
            made = lines.seeding(module, remedy.generators, text, place, inline=inline, local=in_main and imported)
            change = places.ahead(module, place, made.lines)
            if change is not None:
                return edits.fix(f"Seed with `{made.title}`", change, imports=made.imports)
    return None


def _is_seeded(module: Module, statement: s.Statement, remedy: Remedy) -> bool:
    """Return whether the block of a statement seeds the generators already: this fix cannot do more then."""
    everything = any(True for _ in _seeders(module, statement, {f"{edits.RUNTIME}.{lines.SEED}"}))
    each = (any(True for _ in _seeders(module, statement, {lines.seeder(g)})) for g in remedy.generators)
    return everything or all(each)


def _seeders(module: Module, statement: s.Statement, names: set[str]) -> Iterable[s.Call]:
    """Yield the calls of a seeder that surely run ahead of a statement in its block."""
    for call in module.calls_to(names):
        around = call.parent
        if isinstance(around, s.Statement) and around.parent is statement.parent and around.order < statement.order:
            yield call
