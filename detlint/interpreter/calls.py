"""Calls: who is called, with which arguments, and what comes of it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from detlint.domain.atoms import (
    CALLABLE,
    UNKNOWN_ATOM,
    Atom,
    Bound,
    Choice,
    ClassRef,
    Constant,
    Cut,
    FunctionRef,
    GeneratorCall,
    Instance,
    LibraryRef,
    ModuleRef,
    Node,
    PartialCall,
    StateSnapshot,
    SuperOf,
    Unknown,
)  # fmt: skip
from detlint.domain.bare import is_plain
from detlint.domain.effects import At, Invoke
from detlint.domain.given import Given
from detlint.domain.outcomes import Outcome
from detlint.domain.slots import LOADED, Argument
from detlint.domain.summaries import Passed
from detlint.domain.values import NOTHING, NULL, UNKNOWN, Value, made_of, value_of
from detlint.interpreter import (
    alternatives,
    annotated,
    assignments,
    attribute_dicts,
    classes,
    closures,
    contexts,
    partials,
)  # fmt: skip
from detlint.interpreter.arguments import Arguments, arguments_of, bind, fit
from detlint.interpreter.frames import Frame
from detlint.interpreter.frames import Key as PathKey
from detlint.interpreter.steps import CallStep
from detlint.interpreter.substitution import replaced
from detlint.ir import nodes as ir

_SUPER = ir.Global("super")
_CLASS_AND_OBJECT = 2  # arguments of `super`
_SAFE = frozenset(LibraryRef(f"builtins.{name}") for name in ("int", "float", "str", "bool", "abs"))
_NUMBERS = ("int", "float", "True", "False")
_IN_PLACE = "builtins.list"  # whose methods stand for those of a list that is not known to be one


def call(frame: Frame, expression: ir.Call) -> Value:
    """The value of a call, and what it does."""
    function = expression.function
    path: PathKey | None = None
    owner = NOTHING
    if isinstance(function, ir.Attribute):
        path = assignments.path_of(frame, function.value)
        whole = assignments.path_of(frame, function) if frame.cells else None
        stored = frame.get(whole) if isinstance(whole, tuple) else None
        owner = frame.evaluate(function.value)
        callee = stored if stored is not None else frame.tables.attribute(frame, owner, function.name)
    else:
        callee = frame.evaluate(function)
    arguments = arguments_of(frame, expression)
    if function == _SUPER and (not expression.arguments or len(arguments.positional) == _CLASS_AND_OBJECT):
        return _super(frame, *arguments.positional)
    if frame.env is None:
        return NOTHING
    if frame.solver.asked:
        frame.emit(At(frame.code(expression.node)))
    frame.risky = frame.risky or not _is_safe(frame, callee, arguments)

    def run(atom: Atom) -> Value:
        found = dispatch(frame, atom, arguments, expression.node, path, owner)
        if isinstance(atom, (Unknown, Cut)) and isinstance(function, ir.Attribute):
            found = frame.join(found, _by_name(frame, function.name, arguments, expression.node, path, owner))
        return found

    if frame.solver.index.goes_through(frame.file.path, frame.function, function):  # one in each pass, all in turn
        found = alternatives.call_each(frame, callee, run)
    else:
        found = alternatives.call_one(frame, callee, arguments.keywords, run, expression.node)
    _call_unknown(frame, function, callee, arguments, expression.node)
    if isinstance(function, ir.Attribute) and function.name == "update" and not arguments.pending:
        attribute_dicts.update(frame, function.value, arguments, expression.node)
    return made_of(found, (callee,))


def _call_unknown(frame: Frame, function: ir.Expression, callee: Value, arguments: Arguments, node: int) -> None:
    """Call what is not known: it may call the functions that it is given, and its name may say what it does."""
    atoms = frame.each(callee)
    if arguments.pending or not any(isinstance(atom, (Unknown, Cut)) for atom in atoms):
        return
    libraries, step = frame.solver.libraries, CallStep(frame, node)
    if isinstance(function, ir.Attribute):  # what is no method may be a decorator
        libraries.call_given(step, function.name, arguments.given)
    if not any(isinstance(atom, (*CALLABLE, Choice)) for atom in atoms):
        name = function.name if isinstance(function, (ir.Attribute, ir.Global, ir.Local, ir.Captured)) else ""
        libraries.call_unknown(step, name, arguments.given, method=isinstance(function, ir.Attribute))


def _is_safe(frame: Frame, callee: Value, arguments: Arguments) -> bool:
    """Whether a call raises no error: one that makes a number or a text of numbers."""
    values = (*arguments.positional, *arguments.keywords.values())
    numbers = all(isinstance(a, Constant) and a.kind in _NUMBERS for value in values for a in frame.each(value))
    return numbers and not arguments.open and all(atom in _SAFE for atom in frame.each(callee))


def _super(frame: Frame, klass: Value | None = None, owner: Value = NOTHING) -> Value:
    """What `super()` gives: the method's class, and the receiver; `super(klass, owner)` says which these are."""
    if klass is None:
        receiver = frame.node.context.receiver
        if not frame.function.klass or receiver is None:
            return UNKNOWN
        return value_of(SuperOf(ClassRef(frame.file.path, frame.function.klass), receiver))
    found: set[Atom] = set()
    for atom, receiver in product(frame.each(klass), frame.each(owner)):
        if isinstance(atom, ClassRef) and isinstance(receiver, (Instance, ClassRef)):
            found.add(SuperOf(atom, receiver))
        else:
            found.add(UNKNOWN_ATOM)
    return value_of(*found)


def dispatch(
    frame: Frame, atom: Atom, arguments: Arguments, node: int, path: PathKey | None = None, owner: Value = NOTHING
) -> Value:
    """Call one atom."""
    if arguments.pending:
        return NOTHING
    if isinstance(atom, FunctionRef):
        return call_function(frame, atom, None, arguments, node)
    if isinstance(atom, Bound):
        if isinstance(atom.function, FunctionRef):
            return call_function(frame, atom.function, atom.receiver, arguments, node)
        receiver = owner if owner.atoms else value_of(atom.receiver)
        return call_library_method(frame, atom.function.name, atom.receiver, receiver, arguments, node, path)
    if isinstance(atom, ClassRef):
        return frame.tables.make(frame, atom, arguments, node)
    if isinstance(atom, Instance):
        return call_object(frame, atom, arguments, node)
    if isinstance(atom, LibraryRef):
        return call_library(frame, atom.name, arguments, node)
    if isinstance(atom, PartialCall):
        return _call_partial(frame, atom, arguments, node)
    if isinstance(atom, Choice):
        other, found = frame.within(lambda: call_value(frame, atom.other, arguments.given, node))
        default, given = frame.within(lambda: call_value(frame, atom.default, arguments.given, node))
        outcome = Outcome(True, True, atom.option)
        frame.branch(outcome, other, default)
        if not given.atoms or not all(map(is_plain, given.atoms)):  # nobody knows what the user names
            found = found.of(each for each in found.atoms if not isinstance(each, Unknown))
        return frame.chosen(outcome, found, given)
    if isinstance(atom, StateSnapshot):
        return value_of(atom)  # a copy of it
    return UNKNOWN if isinstance(atom, (Unknown, Cut)) else NOTHING


def call_value(frame: Frame, value: Value, given: Given, node: int = -1) -> Value:
    """Call a value."""
    arguments = Arguments(given.positional, given.keywords, open=given.open, options=given.options)
    return alternatives.call_one(
        frame, value, arguments.keywords, lambda atom: dispatch(frame, atom, arguments, node), node
    )


def call_method(frame: Frame, function: FunctionRef, receiver: Atom, node: int) -> Value:
    """Call a method of an object without further arguments, as a property is."""
    return call_function(frame, function, receiver, Arguments(), node)


# Functions of the project


def call_function(
    frame: Frame, function: FunctionRef, receiver: Atom | None, arguments: Arguments, node: int, *, guess: bool = False
) -> Value:
    """Call a function of the project in each context that the arguments choose."""
    code = frame.solver.files[function.file].functions[function.name]
    if receiver is None and code.klass and not guess:
        receivers = _receivers(frame, code, arguments)
        if receivers:
            return _unbound(frame, function, receivers, arguments, node)
    first = _first(code) if receiver is not None else ""
    if receiver is not None:
        arguments = arguments.after(value_of(receiver))
    bound, paths = bind(frame, function, code, arguments)
    frame.flush()
    given = {name: frame.concrete(value) for name, value in bound.items() if name != first}
    annotated.told(frame, function, code, given)
    around = closures.given(frame, function, code)
    if not all(value.atoms for value in around.values()):
        return NOTHING
    place = frame.code(node)
    found = NOTHING
    nodes = []
    writes = 0
    changed: dict[str, Value] = {}
    for context, values in contexts.choose(frame, function, code, receiver, given):
        target = Node(function, context)
        if first:
            values[first] = value_of(receiver) if receiver is not None else NOTHING
        summary = frame.solver.enter(frame.entry, target, {**values, **around})
        nodes.append(target)
        found = frame.join(found, replaced(frame.solver, summary.returns, bound))
        writes |= summary.writes
        for name, value in summary.changed.items():
            changed[name] = frame.join(changed.get(name, NOTHING), replaced(frame.solver, value, bound))
        passed = {name: value.certain for name, value in bound.items() if value.certain}
        if passed and not guess:
            frame.passed.append(Passed(target, place, passed))
    frame.after_call(writes)
    for name, value in changed.items():
        if name in paths and name in bound:
            assignments.become(frame, paths[name], bound[name], value)
    known = "" if guess else frame.solver.registered.get((function.file, function.name), "")
    if not code.yields:
        frame.emit(Invoke(tuple(nodes), place, guess, bool(known)))
    if known:
        named = {p.name: given[p.name] for p in code.parameters if not p.star and p.name != first}
        frame.solver.libraries.call(CallStep(frame, node), known, Given((), named))
    if not code.yields:
        return found
    begun = found.of(GeneratorCall(target, place) for target in nodes)
    return frame.join(found, begun) if found.atoms and not guess else found


def _receivers(frame: Frame, code: ir.Function, arguments: Arguments) -> list[Atom]:
    """The objects and classes of the project that a method is given which is called as a function."""
    given = frame.each(arguments.positional[0]) if arguments.positional and _first(code) else []
    return [a for a in given if isinstance(a.site.kind if isinstance(a, Instance) else a, ClassRef)]


def _unbound(frame: Frame, function: FunctionRef, receivers: list[Atom], arguments: Arguments, node: int) -> Value:
    """Call a method as a function: on each object that it is given, and on all else."""
    first = arguments.positional[0]
    rest = [atom for atom in frame.each(first) if atom not in receivers]
    found = NOTHING
    for receiver in receivers:
        found = frame.join(found, call_function(frame, function, receiver, arguments.without_first(), node))
    if rest:
        others = arguments.without_first().after(first.of(rest))
        found = frame.join(found, call_function(frame, function, None, others, node))
    return found


def _first(code: ir.Function) -> str:
    """The parameter that gets what a method is called on."""
    return code.parameters[0].name if code.parameters and not code.parameters[0].star else ""


def _by_name(frame: Frame, name: str, arguments: Arguments, node: int, path: PathKey | None, owner: Value) -> Value:
    """A method of what is not known: one that works in place as a list's does, or the only one of its name."""
    for klass in classes.models(frame, _IN_PLACE):
        if name in klass.methods:
            klass.methods[name](CallStep(frame, node, path, owner), owner, arguments.given)
            return NOTHING
    methods = frame.solver.index.methods.get(name, ())
    if len(methods) != 1 or name.startswith("__"):
        return NOTHING
    function = FunctionRef(*methods[0])
    code = frame.solver.files[function.file].functions[function.name]
    if not code.parameters or not frame.read((ModuleRef(function.file), LOADED)).atoms:
        return NOTHING
    bound = arguments.after(UNKNOWN)
    if fit(code, bound):
        call_function(frame, function, None, bound, node, guess=True)
    return NOTHING


# Objects


def call_object(frame: Frame, atom: Instance, arguments: Arguments, node: int) -> Value:
    """Call an object, and what is hooked onto it."""
    given = frame.once("call", atom.site, lambda: _call_object(frame, atom, arguments, node), UNKNOWN)
    frame.solver.libraries.called(CallStep(frame, node), atom, given)
    return given


def _call_object(frame: Frame, atom: Instance, arguments: Arguments, node: int) -> Value:
    """Call an object: its `__call__`, else what its library's model does."""
    kind = atom.site.kind
    if isinstance(kind, ClassRef):
        value, owner = classes.lookup(frame, classes.order(frame, kind), "__call__")
        if owner == classes.PENDING:
            return NOTHING
        if isinstance(owner, ClassRef):
            found = NOTHING
            for each in frame.each(classes.bound(value, atom)[0]):
                found = frame.join(found, dispatch(frame, each, arguments, node))
            return found
        names = [k.name for k in classes.order(frame, kind) if isinstance(k, LibraryRef)]
    else:
        names = [kind.name]
    for name in names:
        step = CallStep(frame, node, owner=value_of(atom), receiver=atom)
        for klass in classes.models(frame, name):
            if klass.called is not None:
                return klass.called(step, atom, arguments.given)
        known = frame.solver.libraries.call_object(step, atom, name, arguments.given)
        if known is not None:
            return known
    return UNKNOWN


# Libraries


def has_model(frame: Frame, atom: Instance) -> bool:
    """Whether a model says what calling an object of a library does."""
    kind = atom.site.kind
    return isinstance(kind, LibraryRef) and any(k.called is not None for k in classes.models(frame, kind.name))


def construct(frame: Frame, made: Instance, name: str, arguments: Arguments, node: int) -> None:
    """Run the constructor of a library's class on an object of a class that derives from it."""
    step = CallStep(frame, node, owner=value_of(made), receiver=made)
    for klass in classes.models(frame, name):
        if klass.made is not None:
            klass.made(step, made, arguments.given)
            return
    frame.solver.libraries.construct(step, made, frame.solver.libraries.canonical(name), arguments.given)


def call_library(frame: Frame, name: str, arguments: Arguments, node: int) -> Value:
    """Call something of a library: by its model, else by the tables of facts."""
    if name == "functools.partial":
        return partial(frame, arguments, node)
    if name == "functools.partialmethod":
        return classes.methods(partial(frame, arguments, node))
    libraries = frame.solver.libraries
    name = libraries.canonical(name)
    function = libraries.functions.get(name)
    step = CallStep(frame, node, paths=arguments.paths)
    if function is not None:
        return function(step, arguments.given)
    for klass in classes.models(frame, name):
        made = Instance(contexts.site(frame, LibraryRef(name), node))
        return klass.made(step, made, arguments.given) if klass.made is not None else value_of(made)
    owner, _, last = name.rpartition(".")
    for klass in classes.models(frame, owner):  # a method that is called on its class
        if last in klass.methods and arguments.positional:
            given = replace(arguments, positional=arguments.positional[1:]).given
            first = arguments.positional[0]
            return klass.methods[last](step.on(first, arguments.paths.get(0)), first, given)
    return libraries.call(step, name, arguments.given)


def call_library_method(
    frame: Frame, name: str, receiver: Atom, owner: Value, arguments: Arguments, node: int, path: PathKey | None
) -> Value:
    """Call a method of a library on a receiver."""
    kind, _, last = name.rpartition(".")
    if last == "__init__" and isinstance(receiver, Instance):
        construct(frame, receiver, kind, arguments, node)
        return NULL
    step = CallStep(frame, node, path, owner, receiver, arguments.paths)
    for klass in classes.models(frame, kind):
        if last in klass.methods:
            return klass.methods[last](step, owner, arguments.given)
        if last == "__call__" and klass.called is not None and isinstance(receiver, Instance):
            return klass.called(step, receiver, arguments.given)
    return frame.solver.libraries.call(step, frame.solver.libraries.canonical(name), arguments.given)


def put(frame: Frame, name: str, value: Value, node: int) -> None:
    """Put a value in the place of something of a library."""
    frame.solver.libraries.set(CallStep(frame, node), name, value)


def partial(frame: Frame, arguments: Arguments, node: int) -> Value:
    """`functools.partial`."""
    if not arguments.positional:
        return UNKNOWN
    given = Given(arguments.positional[1:], dict(arguments.keywords))
    return partials.made(frame, arguments.positional[0], given, node)


def _call_partial(frame: Frame, atom: PartialCall, arguments: Arguments, node: int) -> Value:
    """Call a function with the arguments that it has, and more."""
    first = tuple(frame.read((atom.site, Argument(str(index)))) for index in range(atom.count))
    own = {name: frame.read((atom.site, Argument(name))) for name in atom.keywords}
    given = replace(
        arguments, positional=(*first, *arguments.positional), keywords={**own, **arguments.keywords}, paths={},
        firm=arguments.firm + atom.count,
    )  # fmt: skip
    return dispatch(frame, atom.function, given, node)
