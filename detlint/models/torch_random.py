"""torch: draws and seeds of the global generator of the CPU."""

from __future__ import annotations

from detlint.domain.effects import Draw, Seed
from detlint.domain.given import Given
from detlint.domain.library import Called, Library
from detlint.domain.outcomes import is_none
from detlint.domain.step import Step
from detlint.domain.values import SOMETHING, Value


def tensor(step: Step, given: Given) -> Value:
    """A tensor at random, from the generator that is given or from the global one."""
    generator = given.value("generator")
    if generator is None or is_none(step.resolve(generator)).may_hold:
        step.emit(Draw("torch", step.code))
    return SOMETHING


def seed(step: Step, given: Given) -> Value:
    """Seed with a number: None is an error."""
    step.emit(Seed(("torch",), step.code))
    return SOMETHING


def entropy(step: Step, given: Given) -> Value:
    """Seed with a number of the operating system's."""
    step.emit(Seed(("torch",), step.code, False))
    return SOMETHING


_TENSORS: dict[str, Called] = dict.fromkeys(
    ("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "normal", "bernoulli", "multinomial"), tensor
)
LIBRARY = Library("torch", {**_TENSORS, "manual_seed": seed, "random.manual_seed": seed, "seed": entropy})
