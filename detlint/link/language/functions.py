"""Calls of the project's own functions: their arguments, and the results of running them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any
from zlib import crc32

from detlint.facts import facts as f
from detlint.finding import Place
from detlint.generators import GENERATORS
from detlint.link.language.repeated import Repeated
from detlint.link.state.entropy import mark_entropic, unless_spared
from detlint.link.state.enumerations import Member, members
from detlint.link.state.keywords import REST
from detlint.link.state.mappings import entries, hangs_on_option, key, may_lack, written_items
from detlint.link.state.records import Exact, Result
from detlint.link.state.run import Frame
from detlint.link.state.values import (
    FAR,
    SEVERAL,
    UNKNOWN,
    Class,
    Constant,
    Function,
    Keywords,
    Object,
    Option,
    Suspended,
    Tuple,
    Value,
    constant,
    each,
    exact,
    join,
    only,
    settled,
    single,
    widened,
)
from detlint.programs.events import SEEDED, Called, Marked, parameter_option

_CONTEXTS = 2  # contexts that a function is run in; one, once all generators are settled


class Functions(Repeated):
    """The part of the interpreter that runs functions of the project, once for each context."""

    def arguments(self, given: tuple[f.Argument, ...]) -> tuple[list[Value], dict[str, Value]]:
        """Return the positional and keyword arguments of a call, including unpacked ones where these are known."""
        positional: list[Value] = []
        keywords: dict[str, Value] = {}
        for argument in given:
            value = self.value(argument.value)
            if not argument.star:
                if argument.keyword is None:
                    positional.append(value)
                else:
                    keywords[argument.keyword] = value
            elif argument.star == "*":
                positional += self.spread_positional(value)
            else:
                keywords.update(self.spread_keywords(value))
        return positional, keywords

    def spread_positional(self, value: Value) -> Sequence[Value]:
        """Return what `*value` unpacks to, `SEVERAL` items if their number is unknown."""
        atom = only(value)
        if atom is not None and (items := written_items(self.program.objects, atom)):
            return items
        for atom in each(value):
            if isinstance(atom, Tuple):
                return atom.items
            if isinstance(atom, Class) and len(value) == 1 and (known := members(self, atom)):
                return known
        return [join(self.item_of(atom, UNKNOWN) for atom in each(value))] * SEVERAL

    def spread_keywords(self, value: Value) -> dict[str, Value]:
        """Return what `**value` unpacks to: an entry is joined over all mappings, and unknown where one lacks it."""
        if len(value) == 1:
            return self.unpacked(next(iter(value)))
        given = [self.unpacked(atom) for atom in each(value)]
        names = dict.fromkeys(name for one in given for name in one)
        return {name: join([one.get(name, UNKNOWN) for one in given]) for name in names}

    def unpacked(self, atom: Any) -> dict[str, Value]:
        """Return what `**atom` unpacks to with options at their defaults; `REST` stands for unknown keys."""
        objects, usual, found = self.program.objects, not self.is_chosen(), dict[str, Value]()
        for slot, value in entries(objects, atom).items():
            if not (usual and hangs_on_option(objects, atom, slot)):
                name = key(slot)
                found[name if isinstance(name, str) else REST] = value | may_lack(objects, atom, slot)
        return found

    def invoke(
        self,
        function: Function,
        positional: Sequence[Value],
        keywords: dict[str, Value],
        place: Place,
        resumed: bool = False,
    ) -> Value:
        """Run a function of the project and return its value; the state and the trace are updated.

        The body of a generator function runs only when it is `resumed` by an iteration.
        """
        assert self.state is not None
        facts = self.program.function(function)
        if facts.yields and not resumed:
            return single(Suspended(function, tuple(positional), tuple(sorted(keywords.items()))))
        name = (function.path, function.qualified)
        variables = self.parameters(function, positional, keywords)
        mark_entropic(self, variables, place)
        key, exact = self.context(function, variables)
        found = self.remembered(key)
        if found is None:
            if not self.follows(name):
                return UNKNOWN
            watch = self.program.objects.watch
            outer, around = watch.begin(), self.program.enter()
            found = self.repeated(exact, variables) or self.run(function, facts, variables, exact)
            span, self.program.span = self.program.span, around
            self.remember(key, found, span)
            watch.end(outer)
        if found.trace:
            self.note(Called(facts.name, place, found.trace))
        self.state = found.state
        return found.value

    def context(self, function: Function, variables: dict[str, Value]) -> tuple[object, Exact]:
        """Return what a run of a function depends on: the key that distinguishes it, and the exact context."""
        objects = self.program.objects
        name = (function.path, function.qualified)
        told = tuple(map(widened, variables.values()))
        owners = frozenset([(a, objects.look(a)) for v in variables.values() for a in v if type(a) is Object])
        exact = function, told, self.state, owners
        own = function.receiver
        inner = objects.beneath(own) if isinstance(own, Object) else frozenset()
        key = function, told, self.state, owners | inner
        if self.program.is_short(function):
            return key, exact
        known, number = self.told_apart(name, key)
        if known:
            return key, exact
        if not number or (number < _CONTEXTS and not self.is_settled()) or self.program.defines_only(function):
            self.tell_apart(name, key)
            return key, exact
        atoms = [(n, a) for n, v in variables.items() for a in v]
        receiver = function.receiver or only(next(iter(variables.values()), UNKNOWN))  # of a method called unbound
        kind = receiver.kind if isinstance(receiver, Object) else function.receiver
        held = frozenset([a.kind for a, _ in objects.beneath(receiver)]) if isinstance(receiver, Object) else None
        given = frozenset([a for _, a in atoms if isinstance(a, (Function, Class))])
        words = frozenset([(n, a) for n, a in atoms if isinstance(a, (Constant, Option)) and _tells(settled(a))])
        return (name, kind, held, given, words, self.state), exact

    def is_settled(self) -> bool:
        """Return whether each generator is seeded or has been drawn from: what follows changes little then."""
        state = self.state
        return state is not None and all(state[g] == SEEDED or self.was_drawn(g) for g in GENERATORS)

    def run(self, function: Function, facts: f.Function, variables: dict[str, Value], key: Exact) -> Result:
        """Run a function's body in a frame of its own, and record the result for other programs."""
        start = self.state
        assert start is not None
        outer_frame, outer_trace, outer_record = self.frame, self.trace, self.program.objects.record
        record = self.begin_record(key, variables)
        self.walked += 1
        walk = self.program.begin(function.path, function.qualified)
        self.frame, self.trace = Frame(function.path, function.qualified, variables, walk), []
        self.frame.receiver, self.frame.doubtful = function.receiver, bool(outer_frame.exits) or outer_frame.doubtful
        self.frame.maker = _maker(variables)
        walk.append((0, start))
        self.active.append((function.path, function.qualified))
        self.depth += 1
        self.block(facts.body)
        self.depth -= 1
        self.active.pop()
        returned = self.frame.returned
        if self.state is not None:
            self.frame.leave(self.state)
            (self.frame.spare if self.frame.left else returned).append(single(Constant(None)))
        spare = self.frame.spare if returned else []
        returned = returned or self.frame.spare
        end = self.frame.end or start
        if self.frame.raised and not (self.frame.exits or self.frame.optional):
            self.note(Marked("fails", facts.place))
        trace = tuple(self.trace)
        yielded = self.frame.yielded
        self.frame, self.trace = outer_frame, outer_trace
        value = join(yielded) if yielded else unless_spared(join(returned), spare)
        if facts.returns is not None and value == UNKNOWN:
            value = self.annotated(function.path, facts.returns)
        found = Result(end, value, trace)
        if record is not None and record is self.program.objects.record:
            self.end_record(record, outer_record, key, found)
        return found

    def parameters(
        self, function: Function, positional: Sequence[Value], keywords: dict[str, Value]
    ) -> dict[str, Value]:
        """Return the variables that a function begins with."""
        facts = self.program.function(function)
        given = positional if function.receiver is None else (single(function.receiver), *positional)
        used = 0  # of `given`
        variables = dict(function.captured)
        rest = dict(keywords)
        hidden = rest.pop("**", None) is not None
        options = self.program.options.get((function.path, function.qualified), {})
        for parameter in facts.parameters:
            name = parameter.name
            if parameter.star == "*":
                value: Value = single(Tuple(tuple(given[used:])))
                used = len(given)
            elif parameter.star == "**":
                named = {each.name for each in facts.parameters}
                unnamed = {option: chosen for option, chosen in options.items() if option not in named}
                gathered = unnamed | rest | ({"**": UNKNOWN} if hidden else {})
                value = single(Keywords(tuple(sorted(gathered.items()))))
            elif used < len(given) and not parameter.keyword_only:
                value = given[used]
                used += 1
                rest.pop(name, None)
            elif name in rest:
                value = rest.pop(name)
            else:
                value = options[name] if name in options else self.default(function, parameter, hidden)
            if parameter.annotation is not None and value == UNKNOWN:
                value = self.annotated(function.path, parameter.annotation)
            variables[name] = value
        return variables

    def default(self, function: Function, parameter: f.Parameter, hidden: bool) -> Value:
        """Return the value of a parameter that is not given; an option if `hidden`, as unpacking may give it."""
        if not parameter.has_default:
            return UNKNOWN
        value = self.elsewhere(function.path, parameter.default)
        if not hidden:
            return value
        name = parameter_option(parameter.name)
        return UNKNOWN | frozenset(Option(name, a.value, None) if isinstance(a, Constant) else a for a in value)

    def elsewhere(self, path: str, node: f.Expression) -> Value:
        """Return the value of an expression at the top level of a file."""
        if isinstance(node, f.Literal):  # as most defaults are: they need no frame
            return constant(node.value)
        if _has_variables(node):
            self.unrepeatable()
        outer, self.frame = self.frame, Frame(path, f.TOP, self.program.environments[path].variables, [], top=True)
        value = self.value(node)
        self.frame = outer
        return value

    def annotated(self, path: str, annotation: f.Expression) -> Value:
        """Return an object of the class that an annotation names; unknown if it names none."""
        if not isinstance(annotation, (f.Global, f.Member, f.Library)):
            return UNKNOWN
        kinds = self.elsewhere(path, annotation)
        found = frozenset(Object(a, a.path, -1) for a in kinds if isinstance(a, Class))
        return found or UNKNOWN


def _maker(variables: dict[str, Value]) -> int:
    """Return what distinguishes the containers of a run from those of others: a hash of its text arguments, or 0."""
    texts = [(name, text) for name, value in variables.items() if type(text := exact(value)) is str]
    return crc32(repr(texts).encode(errors="replace")) * FAR if texts else 0


@cache
def _has_variables(node: object) -> bool:
    """Return whether an expression binds a name, or reads a variable of a function or a comprehension."""
    if isinstance(node, tuple):
        return any(map(_has_variables, node))
    if isinstance(node, (f.Each, f.Named, f.Local, f.Closure)):
        return True
    return any(_has_variables(getattr(node, name)) for name in getattr(node, "__dataclass_fields__", ()))


def _tells(held: object) -> bool:
    """Return whether a constant may choose what a function does: a text, or a member of an enumeration."""
    return isinstance(held, (str, Member))
