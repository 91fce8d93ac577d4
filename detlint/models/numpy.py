"""numpy.random: draws and seeds of the global generator."""

from __future__ import annotations

from detlint.domain.atoms import NONE
from detlint.domain.effects import Draw, Seed
from detlint.domain.given import Given
from detlint.domain.library import Called, Library
from detlint.domain.step import Step
from detlint.domain.values import SOMETHING, Value, value_of
from detlint.models.random import fixed


def number(step: Step, given: Given) -> Value:
    """An array at random."""
    step.emit(Draw("numpy", step.code))
    return SOMETHING


def choice(step: Step, given: Given) -> Value:
    """Items at random: which ones depends on their order."""
    step.emit(Draw("numpy", step.code))
    step.sink(given.first, "draws")
    return step.iterate(given.first)


def shuffle(step: Step, given: Given) -> Value:
    """Put an array into an order at random."""
    step.emit(Draw("numpy", step.code))
    step.sink(given.first, "draws")
    return value_of(NONE)


def seed(step: Step, given: Given) -> Value:
    """With None, the default, a seed of the operating system's."""
    step.emit(Seed(("numpy",), step.code, fixed(step, given.value("seed", 0))))
    return value_of(NONE)


_NUMBERS: dict[str, Called] = dict.fromkeys(
    ("rand", "randn", "randint", "random", "random_sample", "uniform", "normal", "beta", "binomial"), number
)
LIBRARY = Library(
    "numpy.random", {**_NUMBERS, "choice": choice, "permutation": choice, "shuffle": shuffle, "seed": seed}
)
