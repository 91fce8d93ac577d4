"""The states of generators, and the conditions on which programs come into them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from detlint.domain.atoms import Option
from detlint.domain.effects import GENERATORS, Stream

Word = Literal["unseeded", "seeded", "entropy", "unsure"]
"""What is known of a generator: "unsure" where ways meet that leave it otherwise."""


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
        return not self.perhaps and not any(set_ for _, set_ in self.terms)


ALWAYS = PathCondition()
Words = tuple[tuple[Stream, Word], ...]
"""The words of streams, sorted; a stream that is missing has not begun."""
START: Words = tuple(sorted((stream, "unseeded") for stream in GENERATORS))


def word(words: Words, stream: Stream) -> Word:
    """The word of a stream; "unsure" for one that has not begun."""
    return next((each for known, each in words if known == stream), "unsure")


def changed(words: Words, stream: Stream, new: Word) -> Words:
    """Words with another one for a stream."""
    rest = [pair for pair in words if pair[0] != stream]
    return tuple(sorted([*rest, (stream, new)], key=lambda pair: repr(pair[0])))


def joined(a: Words, b: Words) -> Words:
    """Words where two ways meet."""
    if a == b:
        return a
    first, second = dict(a), dict(b)
    found = {stream: _either(first.get(stream), second.get(stream)) for stream in {**first, **second}}
    return tuple(sorted(found.items(), key=lambda pair: repr(pair[0])))


def _either(a: Word | None, b: Word | None) -> Word:
    if a is None or b is None:
        return a or b or "unsure"
    return a if a == b else "unsure"
