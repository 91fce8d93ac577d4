"""What an analysis says: findings, their places, fixes and open questions. Pure data, picklable."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from detlint.places import Place as Place
from detlint.questions import Question
from detlint.support.records import record


class Severity(enum.Enum):
    """How sure a difference between two runs is."""

    ERROR = "error"  # as it stands two runs differ
    WARNING = "warning"  # two runs can differ: a race, an order, a benchmarked choice
    NOTE = "note"  # reproducible today but fragile, or asked for by PyTorch's reproducibility page

    @property
    def rank(self) -> int:
        """0 for the gravest."""
        return list(Severity).index(self)


class Safety(enum.Enum):
    """What applying a fix may do."""

    SAFE = "safe"  # the program's meaning is kept, only its random stream becomes fixed
    UNSAFE = "unsafe"  # it may raise, slow down noticeably or change results
    DISPLAY = "display"  # shown, never applied


@record(frozen=True, slots=True)
class Edit:
    """Replace `place` of the analysed text by `text`."""

    place: Place
    text: str


@record(frozen=True, slots=True)
class Import:
    """What a fix needs imported in the file at `path`: `from module import name`, or `import module` with no name.

    A relative `module` keeps its leading dots. One that is `inline` is written by the edits, where it is needed.
    `alias` is the name that an imported module gets, where that is another.
    """

    path: str
    module: str
    name: str | None = None
    inline: bool = False
    alias: str = ""

    @property
    def bound(self) -> str:
        """The name that it gives a meaning in the file."""
        return self.name or self.alias or self.module.partition(".")[0]


@record(frozen=True, slots=True)
class Fix:
    """A repair: all its edits and imports together, or none.

    `lowered` is its safety where its finding is lowered, if that is another. As others may bring that about, those of
    seeds above all, such a fix is made after them, where it is still wanted then. `doubted` is its safety where the
    finding is not so in every program that shares the place, if that is another.
    """

    title: str
    safety: Safety
    edits: tuple[Edit, ...]
    imports: tuple[Import, ...] = ()
    lowered: Safety | None = None
    doubted: Safety | None = None


@record(frozen=True, slots=True)
class Step:
    """A call of a function on the way to a draw, or an import."""

    place: Place
    name: str
    imports: bool = False


@record(frozen=True, slots=True)
class Remedy:
    """What a fix that seeds a program has to know of it, beside the texts of its files.

    The program starts in the file at `path`, and comes by `steps` to `draw`, which finds a generator unseeded: one of
    `generators`, those that it draws from unseeded, or may where it was not followed. `seeds` are the calls that surely
    seed one before, the last first: their places, and what they call. `late` are the calls that lead to the first seed
    that comes too late, and that seed; `option` is what it seeds by where that is given, and `parsers` are files that
    may add it. `begins` says that the first step is the start of the program itself, `inner` that it leads to a
    function that other programs start with, `imported` that other files import the file, `tasks` that each of many
    processes may run this. `own` is the remedy for what the program draws itself, where that comes later: only a fix
    that is the same for both is made.
    """

    path: str
    steps: tuple[Step, ...]
    draw: Place
    generators: tuple[str, ...]
    seeds: tuple[tuple[Place, str], ...] = ()
    late: tuple[Place, ...] = ()
    option: str = ""
    parsers: tuple[str, ...] = ()
    begins: bool = False
    inner: bool = False
    imported: bool = False
    tasks: bool = False
    own: Remedy | None = None


@record(frozen=True, slots=True)
class Related:
    """Another place that explains a finding."""

    place: Place
    message: str


@record(frozen=True, slots=True)
class Operation:
    """What a device can be asked about a finding: a row of the tables of facts, in the form that the code gives it.

    `called` is the qualified name that the code calls, "" where several are possible. `arguments` are the literals that
    the call passes, by parameter, as Python writes them, and `defaults` the parameters that it leaves out. With
    `raising` the finding says that the deterministic mode refuses the operation, else that results vary without it.
    """

    row: str
    called: str = ""
    arguments: tuple[tuple[str, str], ...] = ()
    raising: bool = False
    defaults: tuple[tuple[str, str], ...] = ()


@record(frozen=True, slots=True)
class Verification:
    """What running a finding's operation on a device showed.

    `verdict` is one of those of `detlint verify`, `text` what it rests on, in words. `evidence` holds the numbers, the
    device and its versions for JSON. `elsewhere` tells that it was not this run that measured it, and `general` that
    the operation was measured as such, not with the call's own arguments.
    """

    verdict: str
    text: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    elsewhere: bool = False
    general: bool = False


@record(frozen=True, slots=True)
class Finding:
    """One cause of a difference, at one place.

    `lowered` asks for the lower severity that the rule's page names, `noted` for a note. Open questions leave it to the
    project: the finding stands only where `only_if` is answered yes and each of `unless` no, and keeps its full
    severity only where `full_if` is answered yes. `operation` is what a device could be asked about it, and
    `verification` what one has shown. `remedies` are the programs that its fix is to seed, until that is made. The
    places that are `related` to a `flow` are those on the way of what is found, in order, the use last.
    """

    code: str
    place: Place
    message: str
    details: Mapping[str, str] = field(default_factory=dict)
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    lowered: bool = False
    full_if: Question | None = None
    only_if: Question | None = None
    unless: tuple[Question, ...] = ()
    operation: Operation | None = None
    verification: Verification | None = None
    remedies: tuple[Remedy, ...] = ()
    noted: bool = False
    flow: bool = False
