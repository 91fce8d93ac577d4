"""What seeds global generators, and with what: a number that is the same in each run, entropy, or None."""

from __future__ import annotations

from detlint.catalogue import Row
from detlint.domain.atoms import Atom, Choice, Constant
from detlint.domain.codes import Code
from detlint.domain.effects import SEEDABLE, Seed
from detlint.domain.outcomes import HOLDS, Outcome
from detlint.domain.step import Step
from detlint.domain.taints import Taint
from detlint.domain.values import SOMETHING, Value
from detlint.models.arguments import Arguments


def entropy(step: Step) -> Value:
    """A number that differs from run to run."""
    taints = frozenset((Taint("entropy", step.code, "number"),))
    return SOMETHING.with_taints(taints, taints)


def perhaps(step: Step, name: str, *, guessed: bool = True) -> None:
    """A call that may seed any generator, by its name alone if that is `guessed`."""
    step.emit(Seed(SEEDABLE, step.code, "unsure", name, guessed=guessed))


def reseed(step: Step, row: Row, name: str, args: Arguments) -> bool:
    """A call that may seed from the operating system: whether it surely does."""
    if args.applies(row.list("when"), ()) != HOLDS:
        return False
    streams = tuple(each for each in row.list("seeds") if each in SEEDABLE)
    step.emit(Seed(streams, step.code, "entropy", name))
    return True


def seed(step: Step, row: Row, name: str, args: Arguments) -> None:
    """A seeder of the tables, with the seed that it is given."""
    streams = tuple(each for each in row.list("seeds") if each in SEEDABLE)
    if not streams:
        return
    restores, takes_none = bool(row.text("restores")), row.text("none") != "raises"
    if not row.text("parameter"):
        step.emit(Seed(streams, step.code, "fixed", name, restores))
        return
    value = step.concrete(args.get(row.text("parameter")))

    def put(value: Value) -> Value:
        """Seed with one of what a value may be: an option that decides which has arms of its own."""
        choice = next((atom for atom in value.atoms if isinstance(atom, Choice)), None)
        if choice is not None and len(value.atoms) == 1:
            if choice.option.is_parameter:
                return put(step.join(choice.default, choice.other))
            outcome = Outcome(True, True, choice.option, True)
            return step.arm(outcome, lambda: put(choice.other), lambda: put(choice.default))
        how = _how(value, takes_none)
        sources = {t.source: t for t in value.taints if t.kind == "drawn"} if how == "fixed" else {}
        draws = tuple(sorted(source for source in sources if isinstance(source, Code)))
        surely = bool(draws) and value.certain.issuperset(sources.values())
        seed = Seed(streams, step.code, how, name, restores, draws=draws, surely=surely)  # type: ignore[arg-type]
        return _emit(step, seed)

    put(value)


def _how(value: Value, takes_none: bool) -> str:
    """What a generator begins with: one seed or another is fixed all the same."""
    none = [_is_none(atom) for atom in value.atoms]
    if takes_none and none and all(none):
        return "none"
    if any(_differs(taint) for taint in value.certain):
        return "entropy"
    unsure = takes_none and any(none)
    return "unsure" if unsure or any(_differs(taint) for taint in value.taints) else "fixed"


def _is_none(atom: Atom) -> bool:
    return isinstance(atom, Constant) and atom.kind == "None"


def _differs(taint: Taint) -> bool:
    return taint.kind == "entropy"


def _emit(step: Step, effect: Seed) -> Value:
    step.emit(effect)
    return SOMETHING
