"""Conditions on the options of a program: those on which it comes somewhere."""

from __future__ import annotations

from msgspec import Struct

from detlint.domain.atoms import Option


class PathCondition(Struct, frozen=True, cache_hash=True):
    """Options that the user sets (True) or not, all of them; `perhaps` where there is more to it."""

    terms: frozenset[tuple[Option, bool]] = frozenset()
    perhaps: bool = False

    def and_then(self, option: Option, set_: bool, most: int) -> PathCondition | None:
        """This, and an option that is set or not; None where that contradicts."""
        if (option, not set_) in self.terms:
            return None
        if (option, set_) in self.terms:
            return self
        if len(self.terms) >= most:
            return PathCondition(self.terms, True)
        return PathCondition(self.terms | {(option, set_)}, self.perhaps)

    def both(self, other: PathCondition, most: int) -> PathCondition | None:
        """This and another; None where they contradict."""
        found: PathCondition | None = PathCondition(self.terms, self.perhaps or other.perhaps)
        for option, set_ in other.terms:
            found = found.and_then(option, set_, most) if found is not None else None
        return found

    @property
    def by_default(self) -> bool:
        """Whether it holds where the user sets nothing."""
        return not any(set_ for _, set_ in self.terms)

    @property
    def option(self) -> str:
        """An option that the user sets for it to hold, "" where it holds by default."""
        return min((option.name for option, set_ in self.terms if set_), default="")


ALWAYS = PathCondition()
