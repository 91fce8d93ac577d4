"""Entry points: where programs start, and what the trace of each one says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar, cast

from detlint.finding import Place
from detlint.generators import GENERATORS
from detlint.programs.events import (
    CHANCE,
    FORKED,
    RESEEDED,
    SEEDED,
    START,
    UNSEEDED,
    UNSURE,
    Drawn,
    Event,
    Example,
    Loaded,
    Marked,
    Seeded,
    State,
    Switched,
    Trace,
    is_aside,
    is_parameter,
)
from detlint.programs.met import Met, every

E = TypeVar("E", bound=Event, covariant=True)


@dataclass(frozen=True)
class Stream:
    """What a program does with one generator.

    `state` is "seeded", "late" (seeded after the first draw), "unseeded" (or seeded from entropy), "optional" (seeded
    on some paths only, or only if an option is given) or "none" (neither drawn from nor seeded). `draws` are the draws
    that find it never seeded, in program order. `drawn` is the first draw that finds it seeded from entropy, else the
    first of all, if possible one that needs no option to be changed. Of draws of one kind that find it seeded, it is
    the first that surely happens, if any does; if nothing else is drawn or surely seeded, it is one `aside`. `before`
    is a draw that only makes a seed, and finds the generator unseeded before `drawn`.
    """

    generator: str
    state: str
    seeds: tuple[Met[Seeded], ...]
    draws: tuple[Met[Drawn], ...]
    drawn: Met[Drawn] | None
    late: Met[Seeded] | None = None
    optional: Met[Seeded] | None = None
    aside: Met[Example] | None = None
    before: Met[Drawn] | None = None

    @property
    def seedable(self) -> tuple[Met[Drawn], ...]:
        """The draws that a seed of the program reaches: no fork has begun the generator anew."""
        return tuple(m for m in self.draws if m.event.word != FORKED)

    @property
    def first(self) -> Met[Drawn] | None:
        """The first draw that finds the generator unseeded, else the first of all."""
        return self.before or (self.draws[0] if self.draws else self.drawn)


@dataclass
class Entry:
    """An entry point: a file that is run, or a function of it that a new process or a console script starts with.

    `kind` is "main" (a `__main__` block), "script", "notebook", "command" (a console script) or "process". A
    `self_check` is the `__main__` block of a file that others import and that neither trains nor saves, or a file that
    others read. `target` is the name of the function that the program starts with, if any. `starter` is the place of
    the entry point that starts a process, which is `pickled` if it is given the function itself, and not the script.
    """

    path: str
    kind: str
    function: str = ""
    place: Place | None = None
    self_check: bool = False
    target: str = ""
    starter: Place | None = None
    pickled: bool = False
    trace: Trace = ()
    end: State = field(default=START)
    initialisers: frozenset[str] = frozenset()  # names of functions in which torch draws weights

    @property
    def start(self) -> Place:
        """The place where the program starts: its function, or the first line of the file."""
        return self.place or Place(self.path, 1, 1, 1, 1)

    def rank(self) -> tuple[str, int, int, str, str]:
        """Return a sort key for a list of entry points: by path and line."""
        cell, line = (-1, 1) if self.place is None else (self.place.cell or 0, self.place.line)
        return self.path, cell, line, self.kind, self.function

    @property
    def acts(self) -> bool:
        """Whether any event says what the program does."""
        return any(not is_aside(m.event) for m in every(self.trace))

    @cached_property
    def met(self) -> tuple[Met[Event], ...]:
        """All events, in program order, each once for what guards it."""
        found = tuple(every(self.trace))
        modes = _modes(found)
        return tuple(every(self.trace, modes)) if modes else found

    def of(self, kind: type[E]) -> list[Met[E]]:
        """Return the events of a kind."""
        return [cast("Met[E]", m) for m in self.met if isinstance(m.event, kind)]

    def marked(self, kind: str) -> bool:
        """Return whether the program has a step with this mark, such as "trains", even if only with an option."""
        return any(m.event.kind == kind for m in self._marks)

    @cached_property
    def _marks(self) -> list[Met[Marked]]:
        return self.of(Marked)

    @cached_property
    def _trains(self) -> list[Met[Marked]]:
        return [m for m in self._marks if m.event.kind == "trains"]

    @cached_property
    def restores(self) -> bool:
        """Whether the program loads weights from a file: by default, or with an option if it fails by default."""
        return any(m.event.kind == "restores" and (not m.option or self.marked("fails")) for m in self._marks)

    def telling(self, draws: tuple[Met[Drawn], ...]) -> list[Met[Drawn]]:
        """Return the draws that matter: not those of a mere profile, nor weights that are loaded and never trained."""
        aside = self.marked("profiles") and not self._trains
        return [m for m in draws if not (aside or ((m.event.weights or self._initialises(m)) and self._replaces(m)))]

    def _replaces(self, draw: Met[Drawn]) -> bool:
        """Return whether loaded weights replace a draw, and training is only in another arm of the same test."""
        if not self._trains:
            return self.restores
        if not all(_excludes(m, draw) for m in self._trains):
            return False
        arms = {arm for arm in draw.arms if any((arm[0], not arm[1]) in m.arms for m in self._trains)}
        return any(m.event.kind == "restores" and not arms.isdisjoint(m.arms) for m in self._marks)

    def draws_weights(self, stream: Stream) -> bool:
        """Return whether a program finds a generator unseeded where it draws weights."""
        return any(draw.event.weights or self._initialises(draw) for draw in stream.draws)

    def _initialises(self, draw: Met[Drawn]) -> bool:
        """Return whether a draw sets weights, as one from torch's generator does while a model is made."""
        return draw.event.generator == "torch" and any(call.name in self.initialisers for call in draw.path)

    @cached_property
    def streams(self) -> tuple[Stream, ...]:
        """What the program does with each generator."""
        return tuple(self._stream(generator, self.of(Drawn)) for generator in GENERATORS)

    @cached_property
    def own_streams(self) -> tuple[Stream, ...]:
        """The same for what the program draws itself: a rule of its own covers what other libraries draw."""
        own = [met for met in self.of(Drawn) if not met.event.of_library]
        return tuple(self._stream(generator, own) for generator in GENERATORS)

    @cached_property
    def loaders(self) -> tuple[Loaded, ...]:
        """The loaders made with options at their defaults, one for each place, with what all made there have."""
        found: dict[Place, list[Loaded]] = {}
        for met in self.of(Loaded):
            if not met.option:
                found.setdefault(met.event.place, []).append(met.event)
        return tuple(
            Loaded(place, all(each.generator for each in made), all(each.worker_init for each in made))
            for place, made in found.items()
        )

    def switch(self, name: str) -> tuple[str, Met[Switched] | None]:
        """Return the final state of a switch, "optional" if not certain, and what set it last, or None.

        For an optional switch, that is what sets it under an option, if anything does.
        """
        found = [m for m in self.of(Switched) if m.event.name == name and not m.apart]
        word = self.end[name]
        chosen = [m for m in found if m.option and m.event.word not in (word, "off", "default")]
        if word == UNSURE:
            usual = {m.event.word for m in found if not m.option}  # which no option has to be changed for
            chosen = [m for m in chosen if m.event.word not in usual]
        if word == UNSURE or chosen:
            return "optional", next(reversed(chosen or [m for m in found if not m.option] or found), None)
        return word, found[-1] if found else None

    def _stream(self, generator: str, drawn: list[Met[Drawn]]) -> Stream:
        seeds = tuple(m for m in self.of(Seeded) if generator in m.event.generators and not m.apart)
        of_it = (m for m in drawn if m.event.generator == generator and (self._trains or not m.event.missing))
        every = [m for m in of_it if not (_probes(m) or is_parameter(m.option))]
        default = [m for m in every if not m.option]
        lasting = self.end[generator] not in CHANCE  # not one that only some scope was seeded with
        surely = lasting and any(m.event.starts and not m.guarded for m in seeds)
        # a draw that needs an option says little of what is seeded
        counted = default or [m for m in every if not (lasting and any(_covers(seed, m) for seed in seeds))]
        unseeded = [m for m in counted if m.event.word in CHANCE]
        others = (m for m in every if m.option and m.event.word in CHANCE and m not in unseeded)
        draws = (*unseeded, *others) if unseeded else ()
        position = {id(m): index for index, m in enumerate(self.met)}
        first = position[id(unseeded[0])] if unseeded else len(position)
        scoped = seeds
        if unseeded and unseeded[0].apart:
            scoped = tuple(m for m in self.of(Seeded) if generator in m.event.generators and _holds(m, unseeded[0]))
        doubtful = (m for m in scoped if m.option and m.event.certain and not m.event.restores)
        before_it = (m for m in doubtful if position[id(m)] < first or _excludes(m, unseeded[0]))
        optional = next(before_it, None)
        chosen = {m.dispatch for m in unseeded[:1]} - {None}  # what else is called there is called instead
        certain = (m for m in seeds if lasting and not m.option and m.event.starts and m.dispatch not in chosen)
        late = next((m for m in certain if position[id(m)] > first and not _excludes(m, unseeded[0])), None)
        found = [m for m in default if m.event.word == SEEDED] if unseeded else []
        other = any(_excludes(m, unseeded[0]) for m in found)
        instead = any(m.event.starts and _elsewhere(m, unseeded[0]) for m in scoped) if unseeded else False
        earlier = any(m.guarded for m in found if position[id(m)] < first and _holds(m, unseeded[0]))
        if draws and self.end[generator] == SEEDED and all(m.event.word == FORKED for m in unseeded):
            state = SEEDED  # except in forked processes
        elif draws:
            sometimes = optional is not None or instead or other or (earlier and unseeded[0].guarded)
            state = "optional" if sometimes else "late" if late is not None else UNSEEDED
        elif default or every:
            unsure = any(m.event.word == UNSURE for m in default or every)
            state = "optional" if unsure else "seeded"
        else:
            kept = (m for m in seeds if not (m.event.restores or m.event.guessed))  # not what a checkpoint restores
            known = any(m.event.certain or not m.option for m in kept)
            reached = (surely and not self.marked("unsure")) or self.end[generator] == SEEDED
            state = "none" if not known else "seeded" if reached else "optional"
            state = UNSEEDED if (state, optional, self.end[generator]) == ("optional", None, RESEEDED) else state
        late = late if state == "late" else None
        first_drawn = _surely_first(default or every) if state == SEEDED else next(iter(default or every), None)
        first_drawn = next((m for m in draws if m.event.word == RESEEDED), first_drawn)
        aside = self._aside(generator) if state == "none" or (state == UNSEEDED and not every) else None
        before = None
        if aside is not None:
            first_drawn = _shown(aside)
            state = UNSEEDED if UNSEEDED in (state, aside.event.word) else "seeded"
        elif state in ("optional", UNSEEDED):
            aside, before = self._for_seed(generator, first_drawn, position)
            first_drawn = first_drawn or (_shown(aside) if aside is not None else None)
        draws = tuple(m for m in draws if m.event.word in (UNSEEDED, FORKED))
        return Stream(generator, state, seeds, draws, first_drawn, late, optional, aside, before)

    def _for_seed(
        self, generator: str, drawn: Met[Drawn] | None, position: dict[int, int]
    ) -> tuple[Met[Example] | None, Met[Drawn] | None]:
        """Return the first draw that makes a seed and finds the generator unseeded on some path: as the first item if
        nothing else is drawn, as the second if it comes before `drawn` and needs no option to be changed.
        """
        found = (m for m in self.of(Example) if m.event.generator == generator and m.event.seed and not m.apart)
        first = next((m for m in found if m.event.word == UNSEEDED and not is_parameter(m.option)), None)
        if first is None or drawn is None:
            return first, None
        known = drawn.event.word == UNSEEDED and position[id(drawn)] < position[id(first)]
        return None, None if known or first.option else _shown(first)

    def _aside(self, generator: str) -> Met[Example] | None:
        """Return the first draw that only gives an example of a shape, or surely a seed, or None: the rules on draws do
        not report it, but it is a draw.
        """
        found = (m for m in self.of(Example) if m.event.generator == generator)
        return next((m for m in found if not (m.event.seed and (m.guarded or m.apart))), None)


def _modes(met: Sequence[Met[Event]]) -> frozenset[str]:
    """Return the options that choose what a program does: those with which it trains, where it never does without."""
    options = {m.option for m in met if isinstance(m.event, Marked) and m.event.kind == "trains"}
    return frozenset() if "" in options else frozenset(each for each in options if not is_parameter(each))


def _surely_first(draws: Sequence[Met[Drawn]]) -> Met[Drawn] | None:
    """Return the first draw; if it may not happen and sets no weights, a later one of its kind that surely does."""
    first = next(iter(draws), None)
    if first is None or not first.guarded or first.event.weights:
        return first
    return next((m for m in draws if not m.guarded and m.event.what == first.event.what), first)


def _shown(aside: Met[Example]) -> Met[Drawn]:
    """Return a draw that no rule on draws reports, as a draw like others."""
    event = Drawn(aside.event.generator, aside.event.what, aside.event.place, aside.event.word, False)
    return Met(event, aside.path, aside.guarded, aside.option, aside.apart)


def _elsewhere(seed: Met[Seeded], draw: Met[Drawn]) -> bool:
    """Return whether a call that runs one thing or another either seeds or draws."""
    if seed.dispatch is None or seed.dispatch != draw.dispatch:
        return False
    one, other = (next((c for c in m.path if c.place == m.dispatch), None) for m in (seed, draw))
    return one is not other


def _covers(seed: Met[Seeded], draw: Met[Drawn]) -> bool:
    """Return whether a seed certainly comes, with options at their defaults, wherever an optional draw may come."""
    return seed.event.starts and not seed.option and set(seed.arms) <= set(draw.arms)


def _excludes(one: Met[Event], other: Met[Event]) -> bool:
    """Return whether two events happen in different arms of a test, or one after the arm of the other has left."""
    known = (*other.arms, *other.sides)
    return any((test, not second) in known for test, second in (*one.arms, *one.sides))


def _holds(one: Met[Event], other: Met[Event]) -> bool:
    """Return whether what one event does lasts, or is undone no sooner than what the other does."""
    return one.apart == other.apart[: len(one.apart)]


def _probes(draw: Met[Drawn]) -> bool:
    """Return whether a draw may happen while a module is imported: a test of what the machine can do."""
    return draw.guarded and any(call.imports for call in draw.path)
