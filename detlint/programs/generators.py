"""What draws, seeds and switches do to the states of a program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from detlint.domain import effects as e
from detlint.domain.generators import COMPILED, ELSEWHERE, GENERATORS, SEEDABLE
from detlint.programs import events as v
from detlint.programs.events import CHANCE, RESEEDED, SEEDED, UNSEEDED, UNSURE
from detlint.programs.states import shown, word_of
from detlint.programs.walk import Observation, Walk, Ways

_WORDS = {"fixed": SEEDED, "entropy": RESEEDED, "none": UNSEEDED, "unsure": UNSURE}


def draw(walk: Walk, ways: Ways, draw: e.Draw) -> None:
    """Something is drawn from a stream."""
    for condition, state in ways.states.items():
        word = word_of(state, draw.stream)
        if not draw.where:
            walk.drawn[draw.code].add(word)
        if draw.aside or draw.where:
            continue
        key = draw.stream, draw.code, word, condition
        if key not in walk.observations:
            walk.observations[key] = Observation(draw.stream, draw.code, word, condition, walk.path)
    if draw.stream not in GENERATORS:
        return
    state = shown(ways.states)
    if state[str(draw.stream)] == ELSEWHERE:
        return
    if draw.stream == "torch" and state["device"] == "meta":
        return
    generator, word, place = str(draw.stream), state[str(draw.stream)], walk.place(draw.code)
    if draw.aside:
        walk.add(v.Example(generator, draw.what, place, word, draw.aside == "seed"))
    elif draw.where:
        walk.add(v.Perhaps(generator, draw.what, place, word, draw.where))
    else:
        walk.add(v.Drawn(generator, draw.what, place, word, draw.weights, draw.of_library, draw.missing))


def seed(walk: Walk, ways: Ways, seed: e.Seed) -> None:
    """Streams are seeded, or put back to what was saved."""
    names = tuple(str(stream) for stream in seed.streams if stream in SEEDABLE)
    if not names:
        return
    state = shown(ways.states)
    names = tuple(COMPILED[name] if state[name] == ELSEWHERE else name for name in names)
    if seed.saved:
        _put_back(walk, ways, names, set[str]().union(*(walk.saved[code] for code in seed.saved)))
        return
    how = _how(walk, seed)
    if how != "none":
        event = v.Seeded(
            names, seed.what, walk.place(seed.code), how == "fixed", seed.restores, how == "entropy", seed.guessed
        )
        walk.add(event)
    if how == "unsure":  # what is seeded stays so
        for condition, state in ways.states.items():
            ways.states[condition] = state.but([name for name in names if state[name] != SEEDED], UNSURE)
    else:
        put(walk, ways, names, _WORDS[how])


def _how(walk: Walk, seed: e.Seed) -> str:
    """With what streams are seeded; a number that was drawn itself is as good as what it was drawn from."""
    words = set[str]().union(*(walk.drawn[code] for code in seed.drawn))
    if words and words <= CHANCE:
        return "entropy"
    words.update(*(walk.drawn[code] for code in seed.perhaps))
    return seed.how if words <= {SEEDED} else "unsure"


def _put_back(walk: Walk, ways: Ways, names: Sequence[str], words: set[str]) -> None:
    """Streams are what they were when their states were saved: nothing changes if they are one of these."""
    word = next(iter(words)) if len(words) == 1 else UNSURE
    for condition, state in ways.states.items():
        ways.states[condition] = state.but([name for name in names if state[name] not in words], word)


def put(walk: Walk, ways: Ways, names: Iterable[str], word: str) -> None:
    """Give streams and switches a word, in all states."""
    ways.states = {condition: state.but(names, word) for condition, state in ways.states.items()}


def save(walk: Walk, ways: Ways, effect: e.Save) -> None:
    """A state is saved: with the words that it has here."""
    walk.saved[effect.code].update(word_of(state, effect.stream) for state in ways.states.values())


def set_switch(walk: Walk, ways: Ways, effect: e.SetSwitch) -> None:
    """A switch gets a word."""
    walk.add(v.Switched(effect.name, effect.word, walk.place(effect.code)))
    put(walk, ways, (effect.name,), effect.word)


def listed(walk: Walk, ways: Ways, effect: e.Listed) -> None:
    """A switch lists a name, or lists it no more."""
    for condition, state in ways.states.items():
        names = set(state[effect.switch].split()) - {effect.name} | ({effect.name} if effect.there else set())
        ways.states[condition] = state.but((effect.switch,), " ".join(sorted(names)))


def made(walk: Walk, ways: Ways, effect: e.Made) -> None:
    """A loader is made."""
    walk.add(v.Loaded(walk.place(effect.code), effect.generator, effect.worker_init))


def mark(walk: Walk, ways: Ways, effect: e.Mark) -> None:
    """A place is marked; what makes generators unsure only where one is."""
    state = shown(ways.states)
    if effect.kind != "unsure" or any(state[generator] == UNSURE for generator in GENERATORS):
        walk.add(v.Marked(effect.kind, walk.place(effect.code)))
