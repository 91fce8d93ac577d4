"""The fix for what an entry point draws unseeded: all generators seeded, once, before the first draw."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import takewhile

from detlint import catalogue as catalogues
from detlint.analysis import parsers
from detlint.analysis.seeds import Seed, is_number_at, is_whole, seed_at
from detlint.editing import edits
from detlint.finding import Edit, Fix, Place, Remedy, Step
from detlint.link.entries import Entry
from detlint.link.state import Drawn, Seeded
from detlint.semantics import libraries
from detlint.semantics.model import Module
from detlint.semantics.values import UNKNOWN, literal
from detlint.tree import syntax as s
from detlint.tree.scopes import reaching

SEED = "seed_everything"
Read = Callable[[str], "Module | None"]
_LEVELS = 3  # how far into the calls a better place is looked for


def remedy(entry: Entry, started: Collection[tuple[str, str]] = (), imported: bool = False) -> Remedy | None:
    """What there is to repair in an entry point; None where it draws nothing unseeded.

    `started` are the paths and names of the functions that are entry points too; `imported` says that other files
    import that of the entry point.
    """
    unseeded = {id(draw) for stream in entry.own_streams for draw in stream.draws}
    draw = next((met for met in entry.of(Drawn) if id(met) in unseeded), None)
    if draw is None:
        return None
    before = {id(met) for met in takewhile(lambda met: met is not draw, entry.met)}
    seeds = [met for met in entry.of(Seeded) if id(met) in before and met.event.starts]
    sure = [met.event for met in seeds if not (met.guarded or met.apart or met.option)]
    steps = tuple(Step(call.place, call.name, call.imports) for call in draw.path)
    place = draw.dispatch or draw.event.place
    first = steps[0].place if steps else place
    begins = entry.place is not None and first == entry.place  # the start of the function that is the entry point
    inner = bool(steps) and (entry.path, steps[0].name) in started
    seeded = tuple((seed.place, seed.what) for seed in reversed(sure))
    return Remedy(entry.path, steps, place, seeded, begins, inner, imported)


def repaired(remedies: Iterable[Remedy], read: Read, imported: Callable[[str], bool]) -> Fix | None:
    """Seed what these programs draw unseeded, as far as there are places for it.

    `read` gives the models of files; `imported` says whether others may import one from a package.
    """
    made = (_completed(each, read) or _inserted(each, read, imported) for each in remedies)
    return edits.together([fix for fix in made if fix is not None])


def _completed(remedy: Remedy, read: Read) -> Fix | None:
    """Let a call that seeds one generator, earlier than all that is drawn unseeded, seed all of them.

    One that a program comes by because it imports something stays as it is: all that import it would be seeded anew.
    """
    completed = catalogues.load().names("randomness", "seeder", completes="yes")
    for place, what in remedy.seeds:
        module = read(place.path) if what in completed else None
        if module is None:
            continue
        call = next((c for c in module.calls if module.place(c) == place), None)
        if call is None or not _takes(module, call):
            continue
        if place.path != remedy.path and module.function_of(call) is None:
            continue
        change = _completion(module, call)
        if change is not None:
            seed = module.source(call.arguments[0])
            return edits.fix(f"seed all generators with `{seed}`", change, imports=edits.runtime(module, SEED))
    return None


def _completion(module: Module, call: s.Call) -> Edit | None:
    """All generators seeded in place of one, or ahead of that where its value is used or its import is to stay so."""
    seed = call.arguments[0]
    statement = call.parent
    if isinstance(statement, s.ExpressionStatement) and _used_elsewhere(module, call.function):
        return edits.replaced(module, call.function, SEED)
    once = any(isinstance(node, s.Call) and module.callee(node) != {"builtins.int"} for node in s.walk(seed))
    if once or not isinstance(statement, (s.ExpressionStatement, s.Assign)):
        return None
    return edits.ahead(module, statement, edits.new(f"{SEED}({{seed}})", seed=seed.value))


def _takes(module: Module, call: s.Call) -> bool:
    """Whether what a call seeds with may seed all generators: one whole number, none that NumPy refuses.

    torch takes nothing else. Python and NumPy take much, as text and arrays: what is not known is then to be called a
    seed, and the file to say that it is a number.
    """
    if len(call.arguments) != 1 or call.arguments[0].star or call.arguments[0].keyword:
        return False
    seed = call.arguments[0].value
    if isinstance(seed, s.Call) and any(name.startswith("torch.") for name in module.callee(seed)):
        return False  # 64 bits
    constants = [literal(v) for v in module.values(seed) or ()]
    if any(c is not UNKNOWN and not (is_whole(c) or (c is None and _of_torch(module, call))) for c in constants):
        return False
    plain = isinstance(seed, (s.Name, s.Attribute, s.Subscript)) or (isinstance(seed, s.Operation) and _is_sum(seed))
    known = bool(constants) and UNKNOWN not in constants
    if known or _of_torch(module, call):
        return True
    return plain and "seed" in module.source(seed).lower() and _is_number(module, call, seed)


def _is_number(module: Module, call: s.Call, seed: s.Expression) -> bool:
    """Whether the file says that a seed is a number: by its type, what it is given, or what else is seeded with it."""
    if isinstance(seed, s.Operation) and any(_is_number(module, call, operand) for operand in seed.operands):
        return True
    text = module.source(seed)
    if module.proven(seed) == {"builtins.int"} or is_number_at(module, call, text):
        return True
    bindings = (reaching(seed) or ()) if isinstance(seed, s.Name) else ()
    given = [constant for binding in bindings for constant in _given(module, binding.node)]
    if given and all(map(is_whole, given)):
        return True
    names = catalogues.load().names
    strict = names("randomness", "seeder", none="raises") | names("randomness", "seeder", id="numpy.seed")
    others = [c for c in module.calls_to(strict) if len(c.arguments) == 1]
    return None not in given and any(module.source(other.arguments[0].value) == text for other in others)


def _given(module: Module, node: s.Node) -> Iterator[object]:
    """The constants that a parameter is given in its file, UNKNOWN for anything else."""
    function = node.parent
    if not isinstance(node, s.Parameter) or not isinstance(function, s.Function):
        yield UNKNOWN
        return
    if node.default is not None:
        yield literal(node.default)
    for call in module.calls_to({module.qualified(function)}):
        passed = module.argument(call, node.name)
        if passed.given is not False:
            yield from module.possible(passed) or [UNKNOWN]


def _of_torch(module: Module, call: s.Call) -> bool:
    return module.callee(call) == {"torch.manual_seed"}


def _is_sum(seed: s.Operation) -> bool:
    return seed.operator in ("+", "-", "*", "%")


def _used_elsewhere(module: Module, function: s.Expression) -> bool:
    """Whether the name that a function is reached by has other uses, so that its import stays in use."""
    root = function
    while isinstance(root, s.Attribute):
        root = root.value
    if not isinstance(root, s.Name):
        return False
    scope = root.scope.find(root.id)
    return scope is not None and len(module.reads(scope, root.id)) > 1


def _inserted(remedy: Remedy, read: Read, imported: Callable[[str], bool]) -> Fix | None:
    """Seed at the outermost place ahead of a draw that knows the program's seed, or else at the outermost one."""
    module = read(remedy.path)
    if module is None:
        return None
    statements = list(_statements(module, remedy))[:_LEVELS]
    known = [(statement, seed_at(module, statement)) for statement in statements]
    for statement, seed in sorted(known, key=lambda each: each[1] is None):
        if _is_seeded(module, statement):
            return None
        if remedy.imported and statement.parent is module.file.body:
            continue  # those who import the file would be seeded anew
        if seed is not None and seed.optional and seed.option is not None and _only_seeds(module, seed.name):
            default = edits.argument(module, seed.option, "default", "0")
            return edits.fix(f"give `{seed.name}` a default", default)
        text = "0" if seed is None else seed.text
        # those who import a module of a package need not find what only its main block needs
        in_main = isinstance(statement.parent.parent if statement.parent else None, s.If)
        inline = in_main and imported(module.path)
        lines = [f"from {edits.RUNTIME} import {SEED}", ""] if inline else []
        places = (_ahead(module, place, *lines, f"{SEED}({text})") for place in _places(module, statement, seed))
        change = next((edit for edit in places if edit is not None), None)
        if change is not None:
            return edits.fix(
                f"seed all generators with `{text}`", change, imports=edits.runtime(module, SEED, inline=inline)
            )
    return None


def _only_seeds(module: Module, name: str) -> bool:
    """Whether all that a file does only where an option is given, or is not None, is to call functions that are named
    after what they seed, and to print. What other files make of it, generators for the most part, gets a number too.
    """
    known: list[tuple[s.Node, str]] = [(module.file, name)]
    for call in module.calls:
        given = [i for i, a in enumerate(call.arguments) if not a.star and module.source(a.value) == name]
        for callee in module.callee(call) if given else ():
            function = module.functions.get(callee)
            names = [] if function is None else [parameter.name for parameter in function.parameters]
            passed = [call.arguments[i].keyword or (names[i] if i < len(names) else "") for i in given]
            known += [(function, parameter) for parameter in passed if function is not None]
    return all(_seeds_where_given(module, around, each) for around, each in known)


def _seeds_where_given(module: Module, around: s.Node, name: str) -> bool:
    tests = [node for node in s.walk(around) if isinstance(node, s.If) and _mentions(module, node.test, name)]
    inner = [x for node in tests for x in (*node.body.statements, *(node.orelse.statements if node.orelse else ()))]
    calls = [x.value for x in inner if isinstance(x, s.ExpressionStatement) and isinstance(x.value, s.Call)]
    functions = [module.source(call.function).lower() for call in calls]
    asked = all(_is_given(module, node.test, name) for node in tests)
    return asked and len(calls) == len(inner) and all("seed" in f or f == "print" for f in functions)


def _mentions(module: Module, test: s.Expression, name: str) -> bool:
    return any(isinstance(x, (s.Name, s.Attribute)) and module.source(x) == name for x in s.walk(test))


def _is_given(module: Module, test: s.Expression, name: str) -> bool:
    """Whether a test asks if a variable is not None: 0, which it is to be, then counts as given."""
    operands = test.operands if isinstance(test, s.Operation) and test.operator == "is not" else []
    return [module.source(operand) for operand in operands] == [name, "None"]


def _places(module: Module, statement: s.Statement, seed: Seed | None) -> Iterator[s.Statement]:
    """Where to seed ahead of a statement in its block, after imports, and once the seed is known: the first that may
    draw, unknown to the tables; then where nothing shares its line.
    """
    assert isinstance(statement.parent, s.Block)
    statements = statement.parent.statements
    begin = end = statements.index(statement)
    while begin and not _imports(statements[begin - 1]) and seed_at(module, statements[begin - 1]) == seed:
        begin -= 1
    yield next(x for x in statements[begin : end + 1] if x is statement or not _is_quiet(module, x))
    yield from reversed(statements[begin : end + 1])


def _ahead(module: Module, statement: s.Statement, *lines: str) -> Edit | None:
    """Lines ahead of a statement, unless that would be within the one before: in a text that looks like comments."""
    change = edits.ahead(module, statement, *lines)
    assert isinstance(statement.parent, s.Block)
    before = [module.place(x) for x in statement.parent.statements if x.order < statement.order]
    if change is not None and before and before[-1].cell == change.place.cell:
        return change if change.place.line > before[-1].end_line else None
    return change


def _imports(statement: s.Statement) -> bool:
    """Whether a statement imports something where it runs, not in a function that it defines."""
    inner = (child for child in statement if not isinstance(statement, s.Function) for child in s.walk(child))
    return isinstance(statement, s.Import) or any(isinstance(node, s.Import) for node in inner)


def _is_quiet(module: Module, statement: s.Statement) -> bool:
    """Whether a statement defines something, or calls nothing but functions that are known never to draw."""
    if isinstance(statement, (s.Function, s.Class)):
        return True
    calls = [node for node in s.walk(statement) if isinstance(node, s.Call)]
    return all(_never_draws(module, call) for call in calls)


def _never_draws(module: Module, call: s.Call) -> bool:
    names = module.callee(call)
    if not names:
        return isinstance(call.function, s.Attribute) and call.function.attribute in parsers.methods(parsers.ALL)
    return all(name.partition(".")[0] in libraries.KNOWN and name not in module.functions for name in names)


def _statements(module: Module, remedy: Remedy) -> Iterator[s.Statement]:
    """The statements of the entry point's file that lead to a draw, the outermost first, each in a block that always
    runs.
    """
    for index, step in enumerate((*remedy.steps, None)):
        if step is not None and step.imports:
            return
        place = remedy.draw if step is None else step.place
        if index == 0 and remedy.begins:
            continue
        if place.path != remedy.path:
            return
        if index == 0 and remedy.inner:
            continue  # seeded within, for those who start there
        statement = _statement_at(module, place)
        if statement is not None:
            by_python = any(module.place(function) == place for function in module.functions.values())
            yield _after(module, statement) if by_python else statement


def _after(module: Module, definition: s.Statement) -> s.Statement:
    """Where Python may first call what a statement defines, as it does for an operator: the text has no call."""
    assert isinstance(definition.parent, s.Block)
    after = [x for x in definition.parent.statements if x.order > definition.order]
    return next((x for x in after if not _is_quiet(module, x)), after[0] if after else definition)


def _statement_at(module: Module, place: Place) -> s.Statement | None:
    """The statement around a place that stands in the body of a function, of the file, or of its main block."""
    try:
        offset = module.lines.offset(place.cell, place.line, place.column)
    except KeyError:
        return None
    found: s.Statement | None = None
    block: s.Block | None = module.file.body
    always = True
    while block is not None:
        inner = next((x for x in block.statements if _holds(module, x, offset)), None)
        if inner is None:
            break
        found = inner if always else found
        block = next((b for b in _blocks(inner) if any(_holds(module, x, offset) for x in b.statements)), None)
        in_main = isinstance(inner, s.If) and block is inner.body and "__name__" in module.source(inner.test)
        always = isinstance(inner, s.Function) or (always and in_main)
    return found


def _holds(module: Module, statement: s.Statement, offset: int) -> bool:
    start, end = module.span(statement)
    return start <= offset < end


def _blocks(statement: s.Statement) -> Iterator[s.Block]:
    """The blocks of a statement, those of functions and classes included."""
    for child in statement:
        if isinstance(child, s.Block):
            yield child


def _is_seeded(module: Module, statement: s.Statement) -> bool:
    """Whether the block of a statement seeds all generators already: what is left is beyond this fix."""
    calls = module.calls_to({f"{edits.RUNTIME}.{SEED}"})
    return any(around is statement.parent for call in calls for around in call.ancestors())
