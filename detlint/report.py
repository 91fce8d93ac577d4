"""What a run says: findings with their severity, and the entry points of programs. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from detlint.catalogue import Rule
from detlint.facts.reach import Reached
from detlint.finding import Finding, Place, Related, Remedy, Severity
from detlint.sources.suppressions import Suppressions
from detlint.support.records import record

if TYPE_CHECKING:
    from detlint.programs.entries import Entry


@record(frozen=True)
class Judged:
    """A finding with its rule's severity settled."""

    finding: Finding
    rule: Rule
    severity: Severity


@record(frozen=True)
class Verdict:
    """What a project says of a finding: whether it stands, is to be lowered, and its fix to be doubted.

    `remedies` are the programs that may be seeded in place of it, `related` what of them explains it. `use` is the kind
    of use that what is found comes to in other files.
    """

    stands: bool = True
    lowered: bool = False
    doubted: bool = False
    remedies: tuple[Remedy, ...] = ()
    related: tuple[Related, ...] = ()
    use: str = ""


@record(frozen=True)
class Basis:
    """What the answers of a project rest on, by which they are renewed where nothing changes that programs come to.

    `verdicts` are, by path, those on the findings of the files that ask something, in their order. `programs` are what
    rules that look at the whole project find, without their fixes. `reached` is by path what programs come to, `spaces`
    what the modules of folders without an `__init__.py` are called. `orders` says that some order was followed through
    files.
    """

    verdicts: Mapping[str, tuple[Verdict, ...]]
    programs: tuple[Finding, ...]
    reached: Mapping[str, Reached]
    spaces: Mapping[str, str] = field(default_factory=dict)
    orders: bool = False


@record(frozen=True)
class Answered:
    """What a project has, before settings choose what is shown.

    `findings` are those that it confirms, `unsure` those that it does not but a run over more files may.
    `suppressions` are those of its files by path. `sure` are the codes of rules that have found all there is: over a
    part of a project only those that look at a file. `basis` is what all of it rests on, `documents` what tells the
    contents of the configuration files that its programs look for, by path.
    """

    findings: tuple[Judged, ...]
    suppressions: Mapping[str, Suppressions]
    entry_points: int
    errors: tuple[str, ...] = ()
    unsure: tuple[Finding, ...] = ()
    sure: frozenset[str] = frozenset()
    basis: Basis | None = None
    documents: Mapping[str, str] = field(default_factory=dict)


@record(frozen=True)
class Suppressed:
    """A finding that is not shown.

    `kind` tells what withheld it: "noqa", "block", "file", "config" or "baseline". `place` is the comment that does,
    None where that is outside of the file, and `reason` the words that stand beside it, "" for none.
    """

    judged: Judged
    kind: str
    place: Place | None = None
    reason: str = ""


@record(frozen=True)
class Report:
    """The outcome of a run. `findings` and `suppressed` are sorted by place, code and message.

    `notes` are sentences for the person who started it, on what is not shown. It is `lasting` if the same files always
    give the same. `documents` are those of what was answered.
    """

    findings: tuple[Judged, ...]
    files: int
    entry_points: int
    seconds: float
    errors: tuple[str, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    notes: tuple[str, ...] = ()
    lasting: bool = True
    documents: Mapping[str, str] = field(default_factory=dict)


@record(frozen=True)
class Programs:
    """The entry points of a run, sorted by place; `errors` says what could not be read.

    `imports` has the files that a file imports, by path.
    """

    entries: tuple[Entry, ...]
    files: int
    seconds: float
    errors: tuple[str, ...] = ()
    imports: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def loaded(self, path: str) -> set[str]:
        """The files that may be loaded where a program starts with the one at `path`, that among them."""
        found, waiting = {path}, [path]
        while waiting:
            new = self.imports.get(waiting.pop(), frozenset()) - found
            found |= new
            waiting += new
        return found
