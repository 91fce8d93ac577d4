"""DET107: draws of another library's function or class that is given no seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from detlint.analysis.seeds.alone import called_alone, used
from detlint.analysis.seeds.compiled import compiled_draws
from detlint.analysis.seeds.object_seeds import is_once_for, seeded_once
from detlint.analysis.seeds.receivers import is_used_alone, makers, names_of
from detlint.analysis.seeds.releases import is_newer
from detlint.analysis.seeds.seeding import repeats
from detlint.analysis.seeds.seeds import may_be_none, seed_at
from detlint.analysis.training.first_use import first_use
from detlint.analysis.values.conditions import applies, holds
from detlint.catalogue import Catalogue, Row, Rule
from detlint.editing import edits
from detlint.finding import Finding, Fix, Import, Safety
from detlint.generators import COMPILED
from detlint.questions import NeverSeeded, Seedless, UnseededLibrary
from detlint.semantics.index import asked_once, last_word
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_POSITIONAL = 3  # positional arguments that have never included a seed


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each call of the tables that surely is given no seed; the project knows if it seeds."""
    for row in module.rows_like("libraries", "draw"):
        told: set[s.Node] = set()
        for call in sorted(module.calls_to(row.list("names")), key=lambda call: len(list(call.ancestors()))):
            if _is_drawn(module, row, call) and told.isdisjoint(call.ancestors()):
                told.update([] if _asked(module, row, call) else [call])
                place = used(module, row, call) if row.text("used") else call
                if place is not None:
                    yield _finding(module, rule, row, place, min(module.callee(call)), seeded=call)
    for row, made, call in called_alone(module):
        if _is_drawn(module, row, made):
            yield _finding(module, rule, row, call, min(module.callee(made)), seeded=made)
    for row, spoken in _rows(module.catalogue):
        if not (module.narrows and module.words.isdisjoint(spoken)):
            yield from _methods(module, rule, row)
    for call, generator in compiled_draws(module):
        own, (source, remedy) = COMPILED[generator], rule.data["compiled"][generator]
        only = UnseededLibrary(own.partition("-")[0], (own,), *module.point(call), drawn=min(module.callee(call)))
        words = {"call": module.short(call.function), "case": "", "source": source, "remedy": remedy}
        yield module.finding(rule, call, only_if=only, **words)


@cache
def _rows(catalogue: Catalogue) -> tuple[tuple[Row, frozenset[str]], ...]:
    """Return the rows of methods, each with the words of which a file must have one for the row to apply."""
    rows = catalogue.rows("libraries", "method")
    made = ([name.rpartition(".")[2] for name in row.list("made") if row.text("kept")] for row in rows)
    return tuple((row, frozenset((*row.list("methods"), *names))) for row, names in zip(rows, made, strict=True))


def _methods(module: Module, rule: Rule, row: Row) -> Iterator[Finding]:
    methods = row.set("methods")
    calls = [call for call in module.calls_like(words=methods) if last_word(call.function) in methods]
    others = [call for call in calls if not (_of_base(module, call) or _asked(module, row, call))]
    told: set[s.Expression] = set()
    seen: set[s.Expression] = set()  # what is made and used here
    given = row.text("kept") and any(module.argument(call, row.text("parameter")).given for call in others)
    for call in calls if not given else ():  # if `given`, something gets its seed here, no matter what
        chains = makers(module, row, call.function)
        made = [chain[-1] for chain in chains]
        seen.update(made)
        if made and told.isdisjoint(made) and _is_drawn(module, row, call):
            if row.text("first") and not _asked(module, row, call):
                told.update(made)
            name = min(name for each in made for name in names_of(module, row, each))
            yield _finding(module, rule, row, call, name, chains[0] if len(chains) == 1 else ())
    for other in module.calls_to(row.list("made")) if row.text("kept") else ():
        if other not in seen and applies(module, other, row.list("made_when"), row.list("made_unless")):
            yield _handed_on(module, rule, row, other)


def _handed_on(module: Module, rule: Rule, row: Row, made: s.Call) -> Finding:
    """Return the finding for an object with its own generator, if the project shows that it is never seeded."""
    name = min(module.callee(made))
    newer = is_newer(module, row) if name in row.list("seedless") else True
    once = "" if newer is None else row.text("once") if newer else row.text("older_once")
    return module.finding(
        rule,
        made,
        lowered=row.text("sure") == "no",
        noted=_is_note(module, row, made, ()),
        only_if=NeverSeeded(module.path, made.order, row.id),
        fix=seeded_once(module, [made], once, True) if once else None,
        call=module.short(made.function),
        case=" for what it makes",
        source=rule.data["entropy"],
        remedy=row.text("remedy"),
    )


def _of_base(module: Module, call: s.Call) -> bool:
    """Return whether a method of the base class is called."""
    owner = call.function.value if isinstance(call.function, s.Attribute) else None
    return isinstance(owner, s.Call) and module.callee(owner) == {"builtins.super"}


def _is_drawn(module: Module, row: Row, call: s.Call) -> bool:
    """Return whether a call is certainly given no seed and draws, and nothing in the file may seed it."""
    asked = _asked(module, row, call)
    mentioned = _mentioned(module, bool(asked))
    if not mentioned.isdisjoint(row.list("silencers")):
        return False
    if row.text("result") and isinstance(call.parent, s.ExpressionStatement):
        return False  # it is shown in a notebook, or not at all
    if row.text("later") and row.text("parameter") and not mentioned.isdisjoint((row.text("parameter"), "set_params")):
        return False
    others = [name for name in (row.text("parameter"), *row.list("also")) if name and name != asked]
    if not all(holds(module, call, f"!{name}") is True for name in others) or _by_position(module, row, call):
        return False
    if not applies(module, call, row.list("when"), row.list("unless")):
        return False
    if row.text("alone") and not _is_given_alone(module, row, call):
        return False
    return not row.list("elements") or _holds_element(module, row, call)


def _asked(module: Module, row: Row, call: s.Call) -> str:
    """Return the parameter whose seed may be None, as the project decides; "" if there is none."""
    parameter = row.text("parameter")
    return parameter if parameter and may_be_none(module, call, parameter) else ""


def _is_given_alone(module: Module, row: Row, call: s.Call) -> bool:
    """Return whether nothing else in the file gets the value that a call gives for its `alone` parameter."""
    others = [call, *module.calls_to(row.list("beside"))]
    inside = {argument for each in others for argument in each.arguments}
    made = [each for value in module.argument(call, row.text("alone")).values for each in module.values(value) or ()]
    return all(each.parent in inside or is_used_alone(module, each, inside) for each in made)


def _by_position(module: Module, row: Row, call: s.Call) -> bool:
    """Return whether a seed may be among the positional arguments."""
    given = [argument for argument in call.arguments if argument.keyword is None]
    if row.text("varargs") or not given:
        return False
    if any(argument.star for argument in given):
        return True
    if row.text("registered"):
        return False  # the project knows the parameters
    return not module.signature(module.callee(call)) and len(given) > int(row.text("position") or _POSITIONAL)


def _placed(call: s.Call) -> int:
    """Return how many arguments are positional."""
    return sum(argument.keyword is None for argument in call.arguments)


def _holds_element(module: Module, row: Row, call: s.Call) -> bool:
    """Return whether the first argument, or one of the `held` parameters, holds one of the elements that draw."""
    given = [each for name in row.list("held") for each in module.argument(call, name).values]
    if not row.list("held"):
        given = [argument.value for argument in call.arguments[:1]]
    held = [value for each in given for value in module.values(each) or [each]]
    if row.text("only") and not all(_is_of(module, row.text("only"), value) for value in held):
        return False
    inner = [node for value in held for node in s.walk(value) if isinstance(node, s.Call)]
    for identity in row.list("elements"):
        element = module.catalogue.row("libraries", "element", identity)
        names = frozenset(element.list("names"))
        for each in inner:
            called = module.callee(each)
            if called and called <= names and applies(module, each, (), element.list("unless")):
                return True
    return False


def _is_of(module: Module, package: str, held: s.Expression) -> bool:
    """Return whether a list only holds results of a package's calls; today's releases fail on anything else."""
    elements = held.elements if isinstance(held, s.Collection) else [held]
    made = [value for each in elements for value in module.values(each) or [each]]
    return all(
        isinstance(value, s.Call)
        and bool(module.callee(value))
        and all(name.startswith(f"{package}.") for name in module.callee(value))
        for value in made
    )


@asked_once
def _mentioned(module: Module, sure: bool) -> frozenset[str]:
    """Return the names in a file that may seed: methods that it calls, attributes that it sets, and texts.

    A call that only seeds a global generator, such as `np.random.seed`, is left to the program. With `sure` a keyword
    counts only where it is not None as far as the file shows.
    """
    elsewhere = _seeding_globals(module.catalogue)
    calls = (call for call in module.calls if not module.callee(call) or not module.callee(call) <= elsewhere)
    called = {word for call in calls for word in _spoken(module, call, sure)}
    stored = {node.attribute for node in module.every(s.Attribute) if node.stored}
    texts = (node for node in module.every(s.Constant) if isinstance(node.parent, s.Dictionary))
    return frozenset(called | stored | {t.value.rpartition("__")[2] for t in texts if isinstance(t.value, str)})


def _spoken(module: Module, call: s.Call, sure: bool) -> list[str]:
    """Return the last word of what is called, alone and with each of its keyword arguments.

    The word before it is included if it is a space of an environment, which is seeded separately. With "?" before it,
    it is of any object but an environment.
    """
    function = call.function
    last = last_word(function)
    owner = last_word(function.value) if isinstance(function, s.Attribute) else ""
    word = f"{owner}.{last}" if owner.endswith("_space") else last
    given = [argument.keyword for argument in call.arguments if argument.keyword]
    words = [word, *(f"{word}({name})" for name in given if not (sure and may_be_none(module, call, name)))]
    steps = isinstance(function, s.Attribute) and _is_environment(module, function.value)
    return words if steps else [*words, f"?.{last}"]


def _is_environment(module: Module, node: s.Expression) -> bool:
    """Return whether a value is an environment: the file steps what has its name, or makes it, and makes no space."""
    made = module.values(node) or []
    names = [module.callee(value) if isinstance(value, s.Call) else frozenset[str]() for value in made]
    if names and all(names) and not any(".spaces." in name for each in names for name in each):
        return True
    stepped = module.catalogue.names("libraries", "stepped", "methods")
    reads = (read for word in stepped for read in module.attributes(word))
    return any(module.source(read.value) == module.source(node) for read in reads)


@cache
def _seeding_globals(catalogue: Catalogue) -> frozenset[str]:
    """Return the functions that seed a global generator and belong to none of the libraries of the tables."""
    rows = [*catalogue.rows("libraries", "draw"), *catalogue.rows("libraries", "method")]
    own = {name.partition(".")[0] for row in rows for name in (*row.list("names"), *row.list("made"))}
    return frozenset(n for n in catalogue.names("randomness", "seeder") if n.partition(".")[0] not in own)


def _finding(
    module: Module,
    rule: Rule,
    row: Row,
    call: s.Call,
    name: str,
    made: Sequence[s.Expression] = (),
    seeded: s.Call | None = None,
) -> Finding:
    """Return the finding for a draw; `seeded` is the call that takes a seed, if that is another."""
    generators = row.list("generators")
    known = [rule.data[generator] for generator in generators]
    global_ones = rule.data["falls_back"].format(generators=" and ".join(known))
    text = row.text("origin") or (global_ones if known else rule.data["entropy"])
    otherwise: str = rule.data["or_seed"].get(" ".join(generators), "")
    remedy = row.text("remedy") or f"pass `{row.text('parameter')}=0`{otherwise}"
    path, function, order = module.point(call)
    only = UnseededLibrary(name.partition(".")[0], generators, path, function, order, bool(row.text("later")), name)
    if row.text("registered"):
        placed = 0 if module.catalogue.signatures.get(name) else _placed(call)
        only = replace(only, parameter=row.text("parameter"), placed=placed)
    asked, own = _asked(module, row, seeded or call), made[-1] if row.text("kept") and made else None
    if asked:
        only = replace(only, given=Seedless(module.place(seeded or call), asked))
    fix = _fix_of_object(module, row, call, name, made) if row.text("once") else _fix(module, row, call)
    use = first_use(module, call, module.catalogue.names("libraries", "use", "methods")) if row.text("later") else None
    return module.finding(
        rule,
        call,
        related=[] if use is None else [(use, "it draws here")],
        lowered=bool(asked) or row.text("sure") == "no",
        noted=_is_note(module, row, call, made),
        only_if=NeverSeeded(path, own.order, row.id, alone=True) if own is not None and not asked else only,
        fix=None if asked else fix,
        call=module.short(call.function.function if isinstance(call.function, s.Call) else call.function),
        case=f" where its `{asked}` is None, as it is by default" if asked else "",
        source=text,
        remedy=remedy,
    )


def _is_note(module: Module, row: Row, call: s.Call, made: Sequence[s.Expression]) -> bool:
    """Return whether a row is a note, or its `noted` conditions hold for the call that makes the object."""
    asked = made[-1] if made else call
    plain = isinstance(asked, s.Call) and any(holds(module, asked, condition) for condition in row.list("noted"))
    return plain or row.text("grade") == "note"


def _fix(module: Module, row: Row, call: s.Call) -> Fix | None:
    """Return the fix that the row asks for; None where a repeated call would then draw the same each time."""
    again = "{seed}" in (row.text("fixed") or "{seed}") and repeats(module, call)
    if row.text("fix") == "no" or again is True:
        return None
    safe = again is False and row.text("fix") != "unsafe"
    return _passed(module, row, call, Safety.SAFE if safe else Safety.UNSAFE)


def _fix_of_object(module: Module, row: Row, call: s.Call, name: str, made: Sequence[s.Expression]) -> Fix | None:
    """Return a fix that seeds in a call made once per object, or after the object is made if the release takes no seed.

    Return None if the release is not known.
    """
    newer = is_newer(module, row) if name in row.list("seedless") else True
    if newer is not True:
        return seeded_once(module, made, row.text("older_once"), True) if made and newer is False else None
    if row.text("fix") != "no" and repeats(module, call) is False:
        return _passed(module, row, call, Safety.SAFE)
    if row.text("fix") != "no" and made and is_once_for(module, call, made[-1]):
        return _passed(module, row, call, Safety.UNSAFE)
    return seeded_once(module, made, row.text("once"), True) if made else None


def _passed(module: Module, row: Row, call: s.Call, safety: Safety) -> Fix | None:
    """Return a fix that passes the seed, or what the row makes of it, as the argument that the row names."""
    parameter = row.text("fixed_as") or row.text("parameter")
    known = seed_at(module, call)
    text = "0" if known is None or known.optional else known.name
    name, opening, given = row.text("fixed").partition("(")
    owner, _, made = name.rpartition(".")
    text = f"{made}{opening}{given.format(seed=text)}" if made else text
    imports = (Import(module.path, owner, made),) if owner else ()
    return edits.fix(
        f"Pass `{parameter}={text}`", edits.argument(module, call, parameter, text), safety=safety, imports=imports
    )
