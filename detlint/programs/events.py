"""The state of a program's generators and switches, and the trace of what changed or used them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from detlint.finding import Place
from detlint.generators import SEEDABLE
from detlint.support.interned import Interned
from detlint.support.records import record

UNSEEDED, SEEDED, UNSURE = "unseeded", "seeded", "unsure"
RESEEDED = "reseeded"  # seeded from entropy: it repeats no more than an unseeded one
FORKED = "forked"  # begun from entropy by a fork, like Python's own, however it was seeded before
CAUGHT, FUNCTION, PROGRAM = range(3)  # what a statement that leaves surely ends
CHANCE = frozenset((UNSEEDED, RESEEDED, FORKED))  # the words for a generator that begins anew in each run
SWITCHES = {  # by name, with the word in a program that sets nothing
    "algorithms": "off",  # on, warn
    "benchmark": "default",  # on, off
    "cudnn": "default",  # on, off: torch.backends.cudnn.deterministic
    "workspace": "unset",  # set
    "reduction": "unset",  # set: how NCCL adds up values of several processes
    "layers": "train",  # eval: the mode of the models
    "device": "default",  # meta: tensors without values, for which nothing is drawn
    "start": "fork",  # spawn: how processes start
    "replaced": "",  # the initialisers of torch that the program has replaced, by name
    "recorded": "",  # the functions that autograd calls on a backward pass, by where they are from
}
_FIELDS = (*SEEDABLE, *SWITCHES)
_PLACE = {name: index for index, name in enumerate(_FIELDS)}


@record(frozen=True, slots=True, eq=False)
class State(metaclass=Interned):
    """One word for each generator and switch; UNSURE if it may be one or another."""

    words: tuple[str, ...]

    def __getitem__(self, name: str) -> str:
        return self.words[_PLACE[name]]

    def but(self, names: Iterable[str], word: str) -> State:
        """Return the state with another word for some generators or switches."""
        words = list(self.words)
        for name in names:
            words[_PLACE[name]] = word
        return State(tuple(words))

    def with_generators_of(self, other: State) -> State:
        """Return the state with the generators as they are in another one."""
        count = len(SEEDABLE)
        return State((*other.words[:count], *self.words[count:]))


START = State((*(UNSEEDED for _ in SEEDABLE), *SWITCHES.values()))


def merged(states: Iterable[State]) -> State | None:
    """Return the state after one of several paths; None if there is no path."""
    found = set(states)
    if len(found) < 2:
        return next(iter(found), None)
    return State(tuple(_either(set(words)) for words in zip(*(x.words for x in found), strict=True)))


def _either(words: set[str]) -> str:
    return next(iter(words)) if len(words) == 1 else RESEEDED if words <= CHANCE else UNSURE


# Traces


@record(frozen=True, slots=True, eq=False)
class Drawn(metaclass=Interned):
    """A draw from a global generator in the state `word`. `weights` says that it initialises parameters.

    `of_library` marks a draw that another library makes because it is given no seed. `missing` marks weights that a
    checkpoint may lack, which count in a program that trains.
    """

    generator: str
    what: str
    place: Place
    word: str
    weights: bool
    of_library: bool = False
    missing: bool = False


@record(frozen=True, slots=True, eq=False)
class Example(metaclass=Interned):
    """A draw from a global generator in the state `word` that only gives an example of a shape, as for tracing, or a
    seed.
    """

    generator: str
    what: str
    place: Place
    word: str
    seed: bool = False


@record(frozen=True, slots=True, eq=False)
class Perhaps(metaclass=Interned):
    """A draw from a global generator in the state `word` on a condition, `where`, that is not known to hold."""

    generator: str
    what: str
    place: Place
    word: str
    where: str


@record(frozen=True, slots=True, eq=False)
class Seeded(metaclass=Interned):
    """A call that seeds generators. `certain` is False for one that may not, `restores` True for a saved state.

    `entropy` says that the seed differs in each run, so that seeding is not certain; `guessed` that only the name of
    what is called suggests that it may seed.
    """

    generators: tuple[str, ...]
    what: str
    place: Place
    certain: bool
    restores: bool = False
    entropy: bool = False
    guessed: bool = False

    @property
    def starts(self) -> bool:
        """Whether the call certainly starts a new stream, which could as well have been started earlier."""
        return self.certain and not self.restores


@record(frozen=True, slots=True, eq=False)
class Switched(metaclass=Interned):
    """A switch that is set to `word`."""

    name: str
    word: str
    place: Place


@record(frozen=True, slots=True, eq=False)
class Loaded(metaclass=Interned):
    """A loader that is made, and whether it has a generator and a function that seeds its workers."""

    place: Place
    generator: bool
    worker_init: bool


EVALUATES = "evaluates"
SEEDLESS = "seedless: "  # before the name of a parameter
MEETS = "meets: "  # before the id of a row
ENTROPIC, OPTIONAL = "entropic", "entropic by default"
PASSES = "passes"  # a mark of a branch that findings ask about
DOUBTS = ("unsure", "fails", EVALUATES)  # the marks of a program that is not well known
_ASIDE = (*DOUBTS, PASSES)


@record(frozen=True, slots=True, eq=False)
class Marked(metaclass=Interned):
    """A step that says what a program is for: "trains" or "restores" weights, "profiles" a model. Or a step because of
    which the program is not well known: a call of something unknown while a generator is "unsure", a function that
    "fails" on all paths seen, or a call that "evaluates", which puts something unknown into evaluation mode. Or a call
    that is "seedless: " and gets None for the parameter named after that, or is "entropic": its seed differs in each
    run, if only "by default", as an option may give another. Or a call that "meets: " the conditions of a row, by its
    id, or a branch that the program "passes", of those that findings ask about.
    """

    kind: str
    place: Place


@record(frozen=True, slots=True, eq=False)
class Sampler(metaclass=Interned):
    """A sampler, identified by the file and the order of the call that makes it. `owner` is the class at `home` that
    gives the sampler its own order, if that is a class of the project.
    """

    path: str
    order: int
    home: str = ""
    owner: str = ""


MADE, BEGUN, TOLD = "made", "begun", "told"
ANY = Sampler("", 0)  # stands for any sampler


@record(frozen=True, slots=True, eq=False)
class Sampling(metaclass=Interned):
    """A sampler that shuffles by epoch number is MADE, its iterator BEGUN, or its epoch perhaps TOLD.

    `flags` are the attributes of a sampler of the project that are set as it begins.
    """

    kind: str
    sampler: Sampler
    place: Place
    flags: tuple[str, ...] = ()


BEGINS, DRAWS, SEEDED_ONCE = "begins", "draws", "seeded"
COPIED, REPLACED = "copied", "replaced"


@record(frozen=True, slots=True, eq=False)
class Drawing(metaclass=Interned):
    """A library object with a generator of its own BEGINS, DRAWS from it, or is perhaps SEEDED_ONCE. Or workers draw
    from what is COPIED to them, or a generator is perhaps REPLACED by another one.

    The generator is identified by what makes the object, with the row of the tables as its `home`; "" stands for all.
    """

    kind: str
    stream: Sampler
    place: Place


@record(frozen=True, slots=True, eq=False)
class Raced(metaclass=Interned):
    """Threads that are started at `place` draw from a seeded generator, first at `drawn`: `several` of them, or one,
    with which only the rest of the program can compete for the numbers.
    """

    generator: str
    place: Place
    drawn: Place
    several: bool


STEPS, RESTORED, HANDED = "steps", "restored", "handed"


@record(frozen=True, slots=True, eq=False)
class Stepping(metaclass=Interned):
    """An object that steps in training, such as an optimizer, is MADE, STEPS, is RESTORED from a checkpoint, or HANDED
    to something unknown, which may do so.

    The object is identified by what makes it, with the row of the tables as its `home`; "" stands for an unknown one.
    `name` is that of the variable or attribute that it is called by. A schedule is made `on` an optimizer.
    """

    kind: str
    what: Sampler
    place: Place
    name: str = ""
    on: Sampler | None = None


GATHERS, ROUND, LEFT, TAKES = "gathers", "round", "left", "takes"


@record(frozen=True, slots=True, eq=False)
class Looped(metaclass=Interned):
    """A part of a loop in which a sampler begins: it GATHERS what it iterates over, runs its ROUND, or is LEFT. Or an
    iterator that some code TAKES items from, and that is LEFT then.

    `again`: the loop counts or repeats, and its items are not written down. `trains` and `yields` say what a round
    does.
    """

    part: str
    place: Place | None = None
    again: bool = False
    trains: bool = False
    yields: bool = False


@record(frozen=True, slots=True, eq=False)
class Opened(metaclass=Interned):
    """The whole program once more, without the defaults of those options that decide whether samplers are made."""

    trace: Trace


@record(frozen=True, slots=True, eq=False)
class Called(metaclass=Interned):
    """A call of a function of the project, or an import, and what happened in it."""

    name: str
    place: Place
    trace: Trace
    imports: bool = False


def parameter_option(name: str) -> str:
    """Return the option that stands for a parameter that only unknown code may give, for instance by `**kwargs`."""
    return f"{name}="


def is_parameter(option: str) -> bool:
    """Return whether an option stands for a parameter that only unknown code may give."""
    return option.endswith("=")


@record(frozen=True, slots=True, eq=False)
class Guarded(metaclass=Interned):
    """What only happens if the user sets an option to a non-default value, or what may happen (no option).

    `dispatch` is the call that may run this or something else. Of two arms of a test the second one is `instead` of the
    event before it. An arm that leaves ends what `reach` says, like a `Leave`: what follows there is on other paths.
    One that is `sure` happens with options at their defaults.
    """

    option: str
    trace: Trace
    dispatch: Place | None = None
    instead: bool = False
    reach: int = CAUGHT
    sure: bool = False


@record(frozen=True, slots=True, eq=False)
class Apart(metaclass=Interned):
    """What happens in another process, such as the worker of a loader."""

    trace: Trace


@record(frozen=True, slots=True, eq=False)
class Scope(metaclass=Interned):
    """What a context manager of the project does, with the body of its `with`: what leaves it goes on after it."""

    trace: Trace


Event = (
    Drawn | Example | Perhaps | Seeded | Switched | Loaded | Marked
    | Sampling | Drawing | Raced | Stepping | Looped | Opened | Called | Guarded | Apart | Scope
)  # fmt: skip
Trace = tuple[Event, ...]


def is_aside(event: Event) -> bool:
    """Return whether an event says nothing about the purpose of a program."""
    aside = isinstance(event, Marked) and (event.kind in _ASIDE or event.kind.startswith(MEETS))
    seeds = isinstance(event, Drawing) and event.kind != DRAWS
    return aside or seeds or isinstance(event, (Sampling, Raced, Stepping, Looped, Opened))


def beside_generators(trace: Iterable[Event]) -> Trace:
    """Return what happens, without what is done to the generators of this process."""
    return tuple(_beside(event) for event in trace if not _is_about_generators(event))


def _is_about_generators(event: Event) -> bool:
    return isinstance(event, (Drawn, Example, Seeded)) or (isinstance(event, Marked) and event.kind in DOUBTS)


def _beside(event: Event) -> Event:
    if isinstance(event, (Called, Guarded, Scope)):
        return replace(event, trace=beside_generators(event.trace))
    return event
