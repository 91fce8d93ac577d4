"""Limits of what is kept: of a value or of the text, never counts of visits."""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True):
    """The most that is kept, and what becomes of more."""

    atoms: int = 16
    """Of a value that call nothing; then `Cut`."""
    callables: int = 64
    """Of a value that are functions, classes or objects; then `Cut`."""
    nesting: int = 3
    """Tuples, dicts and iterators in each other; then `Unknown`."""
    options: int = 3
    """That decide a value, those that come first; of others it may be either."""
    taints: int = 8
    """Of a kind and form in a value; then none is certain."""
    terms: int = 4
    """Options in a condition; then the condition is unsure."""
    states: int = 64
    """In which a program leaves a node; then their join."""
    sites: int = 4
    """Places that make a class of the project; then one site a file."""
    files: int = 8
    """Files that make a class of many places; then one site."""
    contexts: int = 64
    """Of a function; then one."""
    tests: int = 16
    """Ways of calling a function that tests of None, True and False tell apart; then these count for nothing."""
    ways: int = 2
    """In which one call may call a function, by what its arguments may be; then tests tell what each surely is."""
    picked: int = 8
    """Functions and classes of which a key that is not known picks one; then `Unknown`."""
    rows: int = 8
    """Items of what is gone through one by one; then one joined item."""
    parts: int = 12
    """Of the name of something in a library; then `Unknown`."""

    def raised(self, factor: int = 4) -> Limits:
        """These limits, each so many times as high; those of nesting, terms, rows and parts stay."""
        return Limits(
            self.atoms * factor, self.callables * factor, self.nesting, self.options * factor, self.taints * factor,
            self.terms, self.states * factor, self.sites * factor, self.files * factor, self.contexts * factor,
            self.tests * factor, self.ways * factor, self.picked * factor, self.rows, self.parts,
        )  # fmt: skip


LIMITS = Limits()
"""Those that hold where nobody asks for others."""
