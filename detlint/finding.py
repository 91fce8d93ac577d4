"""The results of an analysis: findings, their places, fixes and open questions. Pure data, picklable."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from detlint.places import Place as Place
from detlint.questions import Question, Taken
from detlint.support.records import record

MAIN = "__main__"  # stands for the `__main__` block of a file


class Severity(enum.Enum):
    """The certainty of a difference between two runs."""

    ERROR = "error"  # as the code stands, two runs differ
    WARNING = "warning"  # two runs can differ: a race, an order, a benchmarked choice
    NOTE = "note"  # reproducible today but fragile, or asked for by PyTorch's reproducibility page

    @property
    def rank(self) -> int:
        """The position of the severity: 0 for the gravest."""
        return list(Severity).index(self)


class Safety(enum.Enum):
    """The consequences that applying a fix may have."""

    SAFE = "safe"  # the program keeps its meaning; only its random stream becomes fixed
    UNSAFE = "unsafe"  # it may raise, slow down noticeably or change results
    DISPLAY = "display"  # shown, never applied


@record(frozen=True, slots=True)
class Edit:
    """A replacement of `place` in the analysed text by `text`."""

    place: Place
    text: str


@record(frozen=True, slots=True)
class Import:
    """An import that a fix needs in the file at `path`: `from module import name`, or `import module` without a name.

    A relative `module` keeps its leading dots. An `inline` import is written by the edits, where it is needed. `alias`
    is the name that an imported module gets, if that differs from its own.
    """

    path: str
    module: str
    name: str | None = None
    inline: bool = False
    alias: str = ""

    @property
    def bound(self) -> str:
        """The name that the import binds in the file."""
        return self.name or self.alias or self.module.partition(".")[0]


@record(frozen=True, slots=True)
class Fix:
    """A repair: its edits and imports are applied together, or not at all.

    `lowered` is its safety if its finding is lowered, where that differs. Other fixes may lower a finding, above all
    those of seeds; such a fix is therefore made after them, if it is still wanted then. `doubted` is its safety if the
    finding does not hold in every program that shares the place, where that differs.
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
    """The information that a fix that seeds a program needs besides the texts of its files.

    The program starts in the file at `path`. By `steps` it reaches `draw`, which finds one of `generators` unseeded:
    those that the program draws from unseeded, or may where it was not followed. `seeds` are the calls that surely seed
    a generator before, the last first: their places, and what they call. `late` are the calls that lead to the first
    seed that comes too late, and that seed; `option` is the option that gives this seed, if any, and `parsers` are
    files that may add the option. `begins` says that the first step is the start of the program itself, `inner` that it
    leads to a function that other programs start with, `imported` that other files import the file, `tasks` that each
    of many processes may run this. `own` is the remedy for what the program draws itself, if that comes later: a fix is
    made only if it is the same for both.
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
    """An operation that a device can be asked about: a row of the tables of facts, in the form that the code gives it.

    `called` is the qualified name that the code calls, "" if several are possible. `arguments` are the literals that
    the call passes, by parameter, as Python writes them; `defaults` are the parameters it omits. With `raising` the
    finding says that the deterministic mode refuses the operation, otherwise that results vary without that mode.
    """

    row: str
    called: str = ""
    arguments: tuple[tuple[str, str], ...] = ()
    raising: bool = False
    defaults: tuple[tuple[str, str], ...] = ()


@record(frozen=True, slots=True)
class Verification:
    """The result of running a finding's operation on a device.

    `verdict` is one of the verdicts of `detlint verify`; `text` gives its grounds in words. `evidence` holds the
    numbers, the device and its versions for JSON. `elsewhere` says that another run made the measurement, and `general`
    that the operation was measured in general, not with the call's own arguments.
    """

    verdict: str
    text: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    elsewhere: bool = False
    general: bool = False


@record(frozen=True, slots=True)
class Finding:
    """One cause of a difference, at one place.

    `lowered` asks for the lower severity that the rule's page names, `noted` for a note. Open questions leave the
    decision to the project: the finding stands only if `only_if` is answered yes and each of `unless` no, and keeps its
    full severity only if `full_if` is answered yes. `operation` is what a device can be asked about it, and
    `verification` is what a device has shown. `remedies` are the programs that its fix has to seed, until that fix is
    made. If the finding is a `flow`, its `related` places are the steps of that flow in order, the use last. `within`
    is the qualified name of the function that it is in, `MAIN` in a `__main__` block, "" elsewhere. It is a note if
    programs are known to have `passed` over its statement.
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
    within: str = ""
    passed: Taken | None = None
