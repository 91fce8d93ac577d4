"""random: draws and seeds of Python's global generator."""

from __future__ import annotations

from detlint.domain.atoms import NONE
from detlint.domain.effects import Draw, Seed
from detlint.domain.given import Given
from detlint.domain.library import Called, Library
from detlint.domain.outcomes import is_none
from detlint.domain.slots import ANY_KEY
from detlint.domain.step import Step
from detlint.domain.values import SOMETHING, Value, value_of


def number(step: Step, given: Given) -> Value:
    """A number at random."""
    step.emit(Draw("python", step.code))
    return SOMETHING


def choice(step: Step, given: Given) -> Value:
    """An item at random: which one it is depends on their order."""
    step.emit(Draw("python", step.code))
    step.sink(given.first, "draws")
    return step.iterate(given.first)


def sample(step: Step, given: Given) -> Value:
    """A list of items at random."""
    step.emit(Draw("python", step.code))
    step.sink(given.first, "draws")
    made = step.make("builtins.list")
    step.fill(made, ANY_KEY, step.iterate(given.first))
    return value_of(made)


def shuffle(step: Step, given: Given) -> Value:
    """Put a list into an order at random, which depends on the order that it had."""
    step.emit(Draw("python", step.code))
    step.sink(given.first, "draws")
    return value_of(NONE)


def seed(step: Step, given: Given) -> Value:
    """With None, the default, a seed of the operating system's."""
    step.emit(Seed(("python",), step.code, fixed(step, given.value("a", 0))))
    return value_of(NONE)


def fixed(step: Step, value: Value | None) -> bool | None:
    """Whether a seed is the same in each run; None where it may be None, which is another one in each."""
    if value is None:
        return False
    outcome = is_none(step.resolve(value))
    if outcome.may_hold:
        return None if outcome.may_fail else False
    return True


_NUMBERS: dict[str, Called] = dict.fromkeys(
    ("random", "randint", "randrange", "uniform", "gauss", "normalvariate", "betavariate", "getrandbits"), number
)
LIBRARY = Library(
    "random", {**_NUMBERS, "choice": choice, "choices": sample, "sample": sample, "shuffle": shuffle, "seed": seed}
)
