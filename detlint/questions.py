"""Open questions: what a finding leaves to the programs of its project. Pure data, picklable."""

from __future__ import annotations

from detlint.places import Place
from detlint.support.records import record


@record(frozen=True, slots=True)
class Carrier:
    """What carries a value from one function to another.

    `kind` is "parameter": of the function `name`, called `part` or, where a caller does not know that, the one at a
    place such as "#0"; "result": what the function gives; "attribute": `part` of objects of the class `name`;
    "variable": of a module; "class": the class itself. The value stands at `path` in what these hold, step by step:
    "entry:train", "item:0", "item:" (any), "attribute:files". With `EACH` it is what a parameter is given in turn, one
    item at each call.
    """

    kind: str
    name: str
    part: str = ""
    path: tuple[str, ...] = ()


EACH = "each:"
SORTED = "sorted"
DERIVES = "derives"
ITERATED, CALLED = "__iter__", "__call__"
"""Methods whose results come from an object that is iterated over, or called."""


@record(frozen=True, slots=True)
class Flow:
    """What becomes of the order of what `source` holds, at `place`.

    `kind` is a kind of `Leak`, or "sorted": from there on the order is fixed. `target` is what carries it on. A class
    that "derives" from another has that one as its `target`. It is so only if the functions that take the parameters
    `through` which it comes give them back.
    """

    source: Carrier
    place: Place
    kind: str
    target: Carrier | None = None
    through: tuple[Carrier, ...] = ()


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
class NeverSeeded:
    """An open question: does a program draw from what the call at `order` makes, and seed it nowhere?

    It is an object of a library with a generator of its own, of which the row `row` speaks. `alone` is the answer where
    no program gets to the call.
    """

    path: str
    order: int
    row: str
    alone: bool = False


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
    """An open question: does the call at `place`, or what it calls, seed a global generator with entropy by default?

    With `given`: is that call given entropy for a seed, of a generator of its own, too?
    """

    place: Place
    given: bool = False


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
class Reaches:
    """An open question: does the arbitrary order of what `carriers` hold get to a use of one of the `kinds`?

    `path` is the file that names the carriers so. With `apart`, what that file itself does with them does not count;
    with `anyhow` the answer is also yes where no other file imports it. `flows` are what that file does with what
    functions of others make of it, each so only if they give it back.
    """

    carriers: tuple[Carrier, ...]
    kinds: tuple[str, ...]
    path: str
    apart: bool = False
    anyhow: bool = False
    flows: tuple[Flow, ...] = ()


@record(frozen=True, slots=True)
class Unfilled:
    """An open question: is memory read that `carrier` holds, as nothing may write to it in the whole project?

    `path` is the file that names the carrier so. Of an attribute, `kept` says how a module keeps it: as a "parameter",
    as a "buffer", both of which checkpoints have, or "" as any other value; `at` is where it comes to be kept.
    """

    carrier: Carrier
    path: str
    kept: str = ""
    at: Place | None = None


@record(frozen=True, slots=True)
class Taken:
    """An open question: does a program take the branch at `place` in `function`, options at their defaults?

    Yes where none comes to the function.
    """

    place: Place
    path: str
    function: str


@record(frozen=True, slots=True)
class InProgram:
    """An open question: does a program come to the file at `path`, other than tests and what tries out a file?

    With `learning`: does one that takes gradients, or none at all? Of a file that is run itself this file alone counts,
    unless it may do so `anywhere` in what it loads. With a `function`: and does a program call that? With `taken`: and
    is that answered yes?
    """

    path: str
    learning: bool = False
    function: str = ""
    anywhere: bool = False
    taken: Taken | None = None


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

    It trains, takes an optimizer's state out of a checkpoint by one of `keys`, and no file of it deals with states of
    generators, or seeds anew in each epoch. Where the file itself is `known` to resume, all that counts is that no
    program with it has a file that saves and puts back states.
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
    | Taken
    | InProgram
    | SameOrder
    | Reaches
    | Unfilled
    | Resumes
    | DrawsInTraining
    | Loses
    | Seedless
    | NeverSeeded
    | Convolves
)
