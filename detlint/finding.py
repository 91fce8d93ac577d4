"""What an analysis says: findings, their places, fixes and open questions. Pure data, picklable."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from detlint.records import record


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
class Place:
    """A span of a file. Lines and columns count from 1, columns in characters; `end_column` is exclusive.

    `cell` is a notebook's cell, from 0; lines then count within it. Places sort by path, cell and line; what concerns
    a notebook as a whole comes before its cells.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    cell: int | None = None

    def __lt__(self, other: Place) -> bool:
        return self._rank() < other._rank()

    def _rank(self) -> tuple[str, int, int, int, int, int]:
        cell = -1 if self.cell is None else self.cell
        return self.path, cell, self.line, self.column, self.end_line, self.end_column


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
    `generators`, those of which it draws unseeded. `others` are generators that nothing was seen to draw from or to
    seed, each with a file of the program that imports its library. `seeds` are the calls that surely seed one before,
    the last first: their places, and what they call. `late` are the calls that lead to the first seed that comes too
    late, and that seed; `option` is what it seeds by where that is given, and `parsers` are files that may add it.
    `begins` says that the first step is the start of the program itself, `inner` that it leads to a function that other
    programs start with, `imported` that other files import the file, `tasks` that each of many processes may run this.
    `own` is the remedy for what the program draws itself, where that comes later: only a fix that is the same for both
    is made.
    """

    path: str
    steps: tuple[Step, ...]
    draw: Place
    generators: tuple[str, ...]
    others: tuple[tuple[str, str], ...] = ()
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
class Unseeded:
    """An open question: is `generator` unseeded when a program gets to `order` in `function`?

    With `always`: in each program that gets there; with `lasting`: and at its end, too, since what is made there draws
    later. `generator` is "torch", "numpy" or "python"; `function` is a qualified name in the file at `path`, "" for its
    top level; `order` is the node's place in evaluation order. What comes right before it does not count for one that
    is `exact`, as a call may be that stands under a test.
    """

    generator: str
    path: str
    function: str
    order: int
    always: bool = False
    lasting: bool = False
    exact: bool = False


@record(frozen=True, slots=True)
class Seedless:
    """An open question: does a program give None for `parameter` of the call at `place`, options at their defaults?"""

    place: Place
    parameter: str


@record(frozen=True, slots=True)
class UnseededLibrary:
    """An open question: does what is drawn at `order` in `function` by a `library` come from entropy?

    Yes where a program gets there with all of these global generators unseeded; with `lasting` a program has to end so,
    too. Without generators: yes unless the project has a module of the library's name. `drawn` is what draws, by its
    name, where a seed of these generators is enough to make it repeat. Of what the settings register, `parameter` takes
    the seed, and `placed` arguments are given by position: no where the seed may be one of these, or has a default.
    With `given`: no unless that is answered yes, too.
    """

    library: str
    generators: tuple[str, ...]
    path: str
    function: str
    order: int
    lasting: bool = False
    drawn: str = ""
    parameter: str = ""
    placed: int = 0
    given: Seedless | None = None


@record(frozen=True, slots=True)
class InForce:
    """An open question: is `switch` in one of the states `words` in every program that gets to `order` in `function`?

    Where no program gets there, the answer is yes if the code right before sets it (`local`); else the ends of those
    that import the file count, training ones before others, and with none of these `alone`: what the file by itself
    tells. `ever` lets the end of all of them count in any case.
    """

    switch: str
    words: tuple[str, ...]
    path: str
    function: str
    order: int
    alone: bool = False
    ever: bool = False
    local: bool = False


@record(frozen=True, slots=True)
class Ends:
    """An open question: does every program that sets a switch at `place` end with `switch` in one of `words`?

    With `some`: does any of them that sets it so there, with its options at their defaults? Where no program gets there
    the answer is `alone`.
    """

    switch: str
    words: tuple[str, ...]
    place: Place
    alone: bool = False
    some: bool = False


@record(frozen=True, slots=True)
class InLibrary:
    """An open question: is `function` code that other programs import, and its users' randomness its concern?

    With a `generator`: yes unless the project's own programs only get to `order` before they have seeded it; without:
    yes unless one of them gets to the function at all.
    """

    path: str
    function: str
    order: int
    generator: str = ""


@record(frozen=True, slots=True)
class FromEntropy:
    """An open question: does the call at `place`, or what it calls, seed a global generator with entropy by default?"""

    place: Place


@record(frozen=True, slots=True)
class InTraining:
    """An open question: does a program, by the call at `place`, run a model that draws as it does in training alone?

    Nothing may have put a model into evaluation before. What is called is the model itself, or a `method`, the name of
    one; `idle` asks for a program that trains nothing and takes its weights from a file.
    """

    place: Place
    method: str = ""
    idle: bool = False


@record(frozen=True, slots=True)
class Carrier:
    """What carries a value from one function to another.

    `kind` is "parameter": of the function `name`, called `part` or, where a caller does not know that, the one at a
    place such as "#0"; "result": what the function gives, or its item or entry `part`; "attribute": `part` of objects
    of the class `name`; "variable": of a module; "class": the class itself.
    """

    kind: str
    name: str
    part: str = ""


@record(frozen=True, slots=True)
class Reaches:
    """An open question: does the arbitrary order of what `carriers` hold get to a use of one of the `kinds`?

    `path` is the file that names the carriers so. With `apart`, what that file itself does with them does not count;
    with `anyhow` the answer is also yes where no other file imports it.
    """

    carriers: tuple[Carrier, ...]
    kinds: tuple[str, ...]
    path: str
    apart: bool = False
    anyhow: bool = False


@record(frozen=True, slots=True)
class InProgram:
    """An open question: does a program come to the file at `path`, other than tests and what tries out a file?

    With `learning`: does one that takes gradients, or none at all? With a `function`: and does a program call that?
    """

    path: str
    learning: bool = False
    function: str = ""


@record(frozen=True, slots=True)
class SameOrder:
    """An open question: does a program train, epoch after epoch, by a sampler that nothing in it may tell the epoch?

    The call at `order` makes the sampler, or it is of the class `qualified`, which has an order of its own where these
    `flags` among its attributes are set.
    """

    path: str
    order: int = 0
    qualified: str = ""
    flags: tuple[str, ...] = ()


@record(frozen=True, slots=True)
class Resumes:
    """An open question: does a program with the file at `path` resume from what it saves there, its generators lost?

    It takes an optimizer's state out of a checkpoint by one of `keys`, and no file of it deals with states of
    generators, or seeds anew in each epoch. Where the file itself is `known` to resume, no other may save and put back
    states; without a program it is that alone that counts.
    """

    path: str
    keys: tuple[str, ...]
    known: bool = False


@record(frozen=True, slots=True)
class DrawsInTraining:
    """An open question: does a program with the file at `path` draw random numbers, other than weights, and train?

    With a `generator` it is one whose states programs keep. `alone` is the answer where no program has the file.
    """

    path: str
    generator: str = ""
    alone: bool = False


@record(frozen=True, slots=True)
class Loses:
    """An open question: does a program that trains and resumes, with the file at `path`, lose a generator's state?

    What is "saved" is put back nowhere in the project, and what is "restored" saved nowhere. What is "left" is kept by
    no file of the program, and drawn from.
    """

    path: str
    generator: str
    how: str


@record(frozen=True, slots=True)
class Convolves:
    """An open question: does a program that seeds torch's generator train convolutions of which the gradients need not
    repeat, where it comes to `place` in `function`?

    No where cuDNN's own switch, or that for deterministic algorithms, is on in the end; with `untouched`, where the
    program sets either. Where no program gets there, the answer is `alone`, if the file is a library's.
    """

    path: str
    function: str
    place: Place
    untouched: bool = False
    alone: bool = False


Question = (
    Unseeded
    | UnseededLibrary
    | InForce
    | Ends
    | InLibrary
    | FromEntropy
    | InTraining
    | InProgram
    | SameOrder
    | Reaches
    | Resumes
    | DrawsInTraining
    | Loses
    | Seedless
    | Convolves
)


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
