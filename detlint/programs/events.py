"""The state of a program's generators and switches, and the trace of what changed or used them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from detlint.finding import Place
from detlint.generators import SEEDABLE
from detlint.support.interned import Interned
from detlint.support.records import record

UNSEEDED, SEEDED, UNSURE = "unseeded", "seeded", "unsure"
RESEEDED = "reseeded"  # seeded from entropy: it repeats no more than one that is not seeded
FORKED = "forked"  # begun from entropy by a fork, as Python's own, whatever it was seeded with before
CAUGHT, FUNCTION, PROGRAM = range(3)  # what a statement that leaves surely ends
CHANCE = frozenset((UNSEEDED, RESEEDED, FORKED))  # the words for a generator that begins anew in each run
SWITCHES = {  # by name, with what holds in a program that sets nothing
    "algorithms": "off",  # on, warn
    "benchmark": "default",  # on, off
    "cudnn": "default",  # on, off: torch.backends.cudnn.deterministic
    "workspace": "unset",  # set
    "reduction": "unset",  # set: how NCCL adds what several processes have
    "layers": "train",  # eval: the mode of the models
    "device": "default",  # meta: tensors without values, which nothing is drawn for
    "start": "fork",  # spawn: how processes start
    "replaced": "",  # the initialisers of torch that the program has put its own functions in place of, by name
    "recorded": "",  # the functions that autograd calls on a way back, by where they are from
}
_FIELDS = (*SEEDABLE, *SWITCHES)
_PLACE = {name: index for index, name in enumerate(_FIELDS)}


@record(frozen=True, slots=True, eq=False)
class State(metaclass=Interned):
    """One word for each generator and switch; UNSURE where it is one or another."""

    words: tuple[str, ...]

    def __getitem__(self, name: str) -> str:
        return self.words[_PLACE[name]]

    def but(self, names: Iterable[str], word: str) -> State:
        """The state with another word for some generators or switches."""
        words = list(self.words)
        for name in names:
            words[_PLACE[name]] = word
        return State(tuple(words))

    def with_generators_of(self, other: State) -> State:
        """The state with the generators as they are in another one."""
        count = len(SEEDABLE)
        return State((*other.words[:count], *self.words[count:]))


START = State((*(UNSEEDED for _ in SEEDABLE), *SWITCHES.values()))


def merged(states: Iterable[State]) -> State | None:
    """The state after one of several paths; None where there is no path."""
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

    `of_library` is one that another library makes since it is given no seed. What is `missing` is weights that a
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
    """A draw from a global generator in the state `word` that only gives an example of a shape, as for tracing, or
    a seed.
    """

    generator: str
    what: str
    place: Place
    word: str
    seed: bool = False


@record(frozen=True, slots=True, eq=False)
class Perhaps(metaclass=Interned):
    """A draw from a global generator in the state `word`, only `where` something is so that nobody sees."""

    generator: str
    what: str
    place: Place
    word: str
    where: str


@record(frozen=True, slots=True, eq=False)
class Seeded(metaclass=Interned):
    """A call that seeds generators; `certain` is False for one that may not, `restores` True for a saved state.

    `entropy` says that the seed is another one in each run, which is not certain to seed then; `guessed` that nothing
    but the name of what is called says that it may seed.
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
    """A loader that is made, and whether it is given a generator and a function that seeds its workers."""

    place: Place
    generator: bool
    worker_init: bool


EVALUATES = "evaluates"
SEEDLESS = "seedless: "  # before the name of a parameter
ENTROPIC = "entropic"
PASSES = "passes"  # a mark of a branch that findings ask about
DOUBTS = ("unsure", "fails", EVALUATES)  # the marks by which a program is not well known
_ASIDE = (*DOUBTS, PASSES)


@record(frozen=True, slots=True, eq=False)
class Marked(metaclass=Interned):
    """A step that says what a program is for: "trains" or "restores" weights, "profiles" a model. Or one by which it is
    not well known: a call of what is not known, where a generator is "unsure", a function that in all that is seen of
    it "fails", or what "evaluates", as it puts something into evaluation of which it is not known what it is. Or a call
    that is "seedless: " and given None for the parameter that is named behind that, or "entropic": its seed differs in
    each run. Or a branch that it "passes", of those that findings ask about.
    """

    kind: str
    place: Place


@record(frozen=True, slots=True, eq=False)
class Sampler(metaclass=Interned):
    """A sampler, by the file and the order of the call that makes it; `owner` is the class at `home` by which it has an
    order of its own, where that is the project's.
    """

    path: str
    order: int
    home: str = ""
    owner: str = ""


MADE, BEGUN, TOLD = "made", "begun", "told"
ANY = Sampler("", 0)  # in place of a sampler: any


@record(frozen=True, slots=True, eq=False)
class Sampling(metaclass=Interned):
    """A sampler that shuffles by the number of an epoch is MADE, its iterator BEGUN, or its epoch perhaps TOLD.

    `flags` are the attributes of one of the project that are set as it begins.
    """

    kind: str
    sampler: Sampler
    place: Place
    flags: tuple[str, ...] = ()


BEGINS, DRAWS, SEEDED_ONCE = "begins", "draws", "seeded"


@record(frozen=True, slots=True, eq=False)
class Drawing(metaclass=Interned):
    """An object of a library with a generator of its own BEGINS, DRAWS from it, or is perhaps SEEDED_ONCE.

    The generator is known by what makes the object, and by the row of the tables as its `home`; "" is all of them.
    """

    kind: str
    stream: Sampler
    place: Place


GATHERS, ROUND, LEFT, TAKES = "gathers", "round", "left", "takes"


@record(frozen=True, slots=True, eq=False)
class Looped(metaclass=Interned):
    """A part of a loop in which a sampler begins: it GATHERS what it goes through, runs its ROUND, or is LEFT; or an
    iterator that somebody TAKES, and has then LEFT.

    One that runs `again` counts, and is no loop over what is written down; `trains` and `yields` say what a round does.
    """

    part: str
    place: Place | None = None
    again: bool = False
    trains: bool = False
    yields: bool = False


@record(frozen=True, slots=True, eq=False)
class Opened(metaclass=Interned):
    """The whole program once more, where options need not be at their defaults that have it make samplers."""

    trace: Trace


@record(frozen=True, slots=True, eq=False)
class Called(metaclass=Interned):
    """A call of a function of the project, or an import, and what happened in it."""

    name: str
    place: Place
    trace: Trace
    imports: bool = False


def parameter_option(name: str) -> str:
    """The option that a parameter stands for which only what is not known may give, as by `**kwargs`."""
    return f"{name}="


def is_parameter(option: str) -> bool:
    """Whether an option is a parameter that only what is not known may give."""
    return option.endswith("=")


@record(frozen=True, slots=True, eq=False)
class Guarded(metaclass=Interned):
    """What only happens where the user sets an option to something else than its default, or may happen (no option).

    `dispatch` is the call that may run this or something else. Of two arms of a test the second one is `instead` of the
    event before it. An arm that leaves ends what `reach` says, as a `Leave` does: what follows there is on other
    paths. One that is `sure` happens, options at their defaults.
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
    """What a context manager of the project does, with the body of its `with`: what leaves it goes on after that."""

    trace: Trace


Event = (
    Drawn | Example | Perhaps | Seeded | Switched | Loaded | Marked
    | Sampling | Drawing | Looped | Opened | Called | Guarded | Apart | Scope
)  # fmt: skip
Trace = tuple[Event, ...]


def is_aside(event: Event) -> bool:
    """Whether an event says nothing of what a program is there for."""
    aside = isinstance(event, Marked) and event.kind in _ASIDE
    seeds = isinstance(event, Drawing) and event.kind != DRAWS
    return aside or seeds or isinstance(event, (Sampling, Looped, Opened))


def beside_generators(trace: Iterable[Event]) -> Trace:
    """What happens without what is done to the generators of this process."""
    return tuple(_beside(event) for event in trace if not _is_about_generators(event))


def _is_about_generators(event: Event) -> bool:
    return isinstance(event, (Drawn, Example, Seeded)) or (isinstance(event, Marked) and event.kind in DOUBTS)


def _beside(event: Event) -> Event:
    if isinstance(event, (Called, Guarded, Scope)):
        return replace(event, trace=beside_generators(event.trace))
    return event
