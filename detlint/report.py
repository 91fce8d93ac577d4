"""The results of a run: findings with their severity, and the entry points of programs. Pure data."""

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

    @property
    def why(self) -> str:
        """What makes runs differ at this place."""
        return self.rule.why.format(**self.finding.details)

    @property
    def help(self) -> str:
        """What to do at this place."""
        return self.rule.help.format(**self.finding.details)


@record(frozen=True)
class Verdict:
    """What a project says about a finding: whether it stands, whether it is lowered, and whether its fix is doubted.

    `remedies` are the programs that may be seeded instead of applying its fix, `related` the places in them that
    explain it. `use` is the kind of use that the finding's value reaches in other files. It is `noted` if no program
    gets there.
    """

    stands: bool = True
    lowered: bool = False
    doubted: bool = False
    remedies: tuple[Remedy, ...] = ()
    related: tuple[Related, ...] = ()
    use: str = ""
    noted: bool = False


@record(frozen=True)
class Basis:
    """What the answers of a project rest on: they are renewed from it if nothing changes that programs reach.

    `verdicts` are, by path, those on the findings that have open questions, in their order. `programs` are the
    findings, without fixes, of rules on the whole project. `reached` is, by path, what programs reach, `spaces` the
    dotted names of modules in folders without an `__init__.py`, `tried` the parts of files that only try out what these
    offer. `orders` says that an arbitrary order or memory was
    followed through files.
    """

    verdicts: Mapping[str, tuple[Verdict, ...]]
    programs: tuple[Finding, ...]
    reached: Mapping[str, Reached]
    spaces: Mapping[str, str] = field(default_factory=dict)
    orders: bool = False
    tried: frozenset[tuple[str, str]] = frozenset()


@record(frozen=True)
class Answered:
    """What is known about a project before settings choose what is shown.

    `findings` are those that it confirms, `unsure` those that it does not, but that a run over more files may confirm.
    `suppressions` are those of its files, by path. `sure` are the codes of rules that have found all there is: over a
    part of a project, only the rules on single files. `basis` is what all of this rests on, `documents` identifies the
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

    `kind` says what suppressed it: "noqa", "block", "file", "config" or "baseline". `place` is that of the suppressing
    comment, None if it is outside the file, and `reason` the words next to it, "" if there are none.
    """

    judged: Judged
    kind: str
    place: Place | None = None
    reason: str = ""


@record(frozen=True)
class Report:
    """The outcome of a run. `findings` and `suppressed` are sorted by place, code and message.

    `notes` are sentences for the user about what is not shown. The report is `lasting` if the same files always give
    the same. `documents` are those of the answers.
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

    `imports` maps each path to the files that the file imports.
    """

    entries: tuple[Entry, ...]
    files: int
    seconds: float
    errors: tuple[str, ...] = ()
    imports: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def loaded(self, path: str) -> set[str]:
        """Return the files that may be loaded if a program starts with the one at `path`, including that one."""
        found, waiting = {path}, [path]
        while waiting:
            new = self.imports.get(waiting.pop(), frozenset()) - found
            found |= new
            waiting += new
        return found
